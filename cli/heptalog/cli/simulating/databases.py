"""Simulated games into a database that nobody else holds: many games in one commit, past no check of the store."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from heptalog.cli.connections import opening
from heptalog.cli.simulating.recording import Simulated
from heptalog.cli.simulating.running import Counts
from heptalog.replay.codec import hash_in
from heptalog.replay.errors import Code, Conflict
from heptalog.service.store import NO_GAME, Batch
from heptalog.service.store.duck import DuckStore

_GROUP_EVENTS: Final = 20_000  # events in one commit


class DatabaseDestination:
    """A database, written in groups. Leaving it without an error writes the last one."""

    def __init__(self, path: Path) -> None:
        with opening(path):
            self._store = DuckStore(path)
        self._waiting: list[tuple[Simulated, bool]] = []
        self._events = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._store.close()

    def has(self, game_id: str) -> bool:
        """Whether this game is there, whole or not."""
        return self._store.head(game_id) is not None

    def record(self, games: Sequence[Simulated], *, are_new: bool) -> Counts:
        """Add these games to the group, and write it once it is large enough."""
        self._waiting.extend((game, are_new) for game in games)
        self._events += sum(game.whole.count for game in games)
        return self.finish() if self._events >= _GROUP_EVENTS else Counts()

    def finish(self) -> Counts:
        """Write what waits: first what is missing of games that are there, then those that are not."""
        new: list[Simulated] = []
        counts = Counts()
        for game, is_new in self._waiting:
            head = NO_GAME if is_new else self._known(game)
            if head == NO_GAME:
                new.append(game)
            else:
                counts += self._continue(game, head)
        self._waiting, self._events = [], 0
        refusals = [refusal for game in new for refusal in game.refusals]
        for game, added in zip(new, self._store.append_games([game.whole for game in new], refusals), strict=True):
            if added is None:
                raise Conflict(Code.GAME_EXISTS, rule="append", game_id=game.game_id)
        return counts + Counts(len(new), sum(game.whole.count for game in new), 0, len(refusals))

    def _continue(self, game: Simulated, head: int) -> Counts:
        """Add what is missing of a game whose last event is this one."""
        entries = game.entries_from(head + 1)
        if not entries:
            return Counts(events_known=game.whole.count)
        # One that was made while the game stood there was kept with the events before it.
        refusals = [refusal for refusal in game.refusals if refusal.sequence > head + 1]
        endings = tuple(ending for ending in game.endings if ending.sequence > head)
        (answer,) = self._store.append([Batch(game.game_id, head, entries, endings)], refusals)
        if isinstance(answer, Conflict):
            raise answer
        return Counts(0, len(entries), head + 1, len(refusals))

    def _known(self, game: Simulated) -> int:
        """The last event of a game that the database has. Raises Conflict where that is another event."""
        head = self._store.head(game.game_id)
        if head is None:
            return NO_GAME
        made = game.records
        last = min(head.sequence, len(made) - 1)
        with closing(self._store.read_game(game.game_id, start=last, limit=1)) as records:
            for stored in records:
                if hash_in(stored.record) == hash_in(made[last]):
                    return head.sequence
        raise Conflict(Code.GAME_EXISTS, rule="append", game_id=game.game_id)
