"""Games into a database that nobody else holds: whole ones, many in one commit.

A game that is not there yet has been checked already by who made it ready, as the service checks what it is sent, so it
goes straight into the store. One that is there is compared, byte for byte where it is the same record; everything else
is for the service to decide, as it does for whoever else brings a game again.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

from heptalog.cli.connections import opening, shown
from heptalog.cli.importing.batches import Counts, other_game, recorded
from heptalog.cli.importing.preparing import Prepared
from heptalog.cli.recording import service_over
from heptalog.replay.codec import decode
from heptalog.replay.errors import Conflict, HeptalogError
from heptalog.service.appends import Append, Receipt
from heptalog.service.store import Batch, Entry
from heptalog.service.store.duck import DuckStore
from heptalog.service.writer import Writer

# In one commit: enough that it costs an event little, few enough to hold and to lose.
_GROUP_EVENTS: Final = 8_000
_GROUP_SIZE: Final = 32 * 1024 * 1024  # bytes of records
# Games whose group is not full yet, and bad ones that wait behind them to be told.
_WAITING_MAX: Final = 2_000


class DatabaseLog:
    """A database, written in groups of games in the order in which they come."""

    def __init__(self, path: Path) -> None:
        """Open it. Raises Unavailable, Corrupt."""
        self._path = path
        with opening(path):
            self._store = DuckStore(path)
        self._group: dict[str, tuple[Prepared, Future[Counts]]] = {}
        self._events = 0
        self._size = 0
        self._service: Writer | None = None
        self._ending = ExitStack()

    @property
    def waiting_max(self) -> int:
        """How many games may be on their way at once."""
        return _WAITING_MAX

    def record(self, game: Prepared) -> "Future[Counts]":
        """Add a game to the group, and write that once it is large enough."""
        if game.game_id in self._group:
            # Two sources of one game follow each other: the second is compared with what the first has brought.
            self.flush()
        future: Future[Counts] = Future()
        self._group[game.game_id] = game, future
        self._events += game.whole.count
        self._size += game.whole.size
        if self._events >= _GROUP_EVENTS or self._size >= _GROUP_SIZE:
            self.flush()
        return future

    def flush(self) -> None:
        """Write the group."""
        group = list(self._group.values())
        self._group, self._events, self._size = {}, 0, 0
        if not group:
            return
        try:
            heads = self._store.append_games([game.whole for game, _ in group])
        except HeptalogError as error:
            for _, future in group:
                future.set_exception(error.again())
            return
        for (game, future), head in zip(group, heads, strict=True):
            try:
                future.set_result(self._again(game) if head is None else Counts(game.whole.count, 0))
            except HeptalogError as error:
                future.set_exception(error)

    def close(self) -> None:
        """Let go of the database; what has not been flushed is not in it."""
        self._ending.close()
        self._store.close()

    def _again(self, game: Prepared) -> Counts:
        """A game that is there already: what of it is new. Raises what the service raises."""
        with closing(self._store.read_game(game.game_id)) as records:
            known = [stored.record for stored in records]
        made = game.records
        if tuple(known) != made[: len(known)]:
            return self._asked(game, known)
        if len(known) == len(made):
            return Counts(0, len(known))
        (answer,) = self._store.append([_rest(game, len(known))])
        if isinstance(answer, Conflict):
            raise answer
        return Counts(len(made) - len(known), len(known))

    def _asked(self, game: Prepared, known: Sequence[bytes]) -> Counts:
        """The same by the service, which looks at what a game means where its bytes differ."""
        if self._service is None:
            self._service = self._ending.enter_context(service_over(self._store))
        writer = self._service

        def append(asked: Append) -> Receipt:
            return writer.submit(asked).result()

        sent = game.sent()
        try:
            return recorded(sent, map(len, game.records), len(known) - 1, append)
        except Conflict as error:
            there = [decode(record)[0] for record in known]
            raise other_game(error, there, sent, shown(self._path)) from error


def _rest(game: Prepared, start: int) -> Batch:
    """The game from a sequence on."""
    entries = tuple(Entry(record, decode(record)[0]) for record in game.records[start:])
    endings = tuple(ending for ending in game.endings if ending.sequence >= start)
    return Batch(game.game_id, start - 1, entries, endings)
