"""The store of one machine: all of the log in one DuckDB file.

One writer, one commit at a time; the head of each live game is in memory, so that an append asks the database nothing.
What is in memory is only ever what is durable: it changes after COMMIT has returned, and a commit that fails makes the
store forget all of it and ask the database again. Readers have connections of their own and wait for nobody.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock
from typing import Final
from weakref import WeakSet

import duckdb
from msgspec import Struct

from heptalog.replay.errors import Code, Conflict, HeptalogError, Unavailable
from heptalog.service.store import Batch, Ending, GameEntry, GameFilter, Head, Records, Refusal
from heptalog.service.store.batches import assert_shape, conflict
from heptalog.service.store.duck_faults import is_fatal, meaning
from heptalog.service.store.duck_read import NUMBER, Snapshot, nothing
from heptalog.service.store.duck_write import Accepted, write
from heptalog.service.store.migrate import USE, open_database

# How many games are live at once: beyond that the one longest untouched is forgotten, and looked up when it goes on.
LIVE_MAX: Final = 65_536

_COUNTERS: Final = """
    SELECT (SELECT coalesce(max(position), 0) FROM log.events),
        (SELECT coalesce(max(game_number), 0) FROM log.games),
        (SELECT coalesce(max(refusal_number), 0) FROM log.refusals)
"""


class _Live(Struct, frozen=True):
    number: int
    head: Head


class _Counters(Struct, frozen=True):
    """The last number given of each kind."""

    position: int
    game_number: int
    refusal_number: int


class DuckStore:
    """A LogStore in one file. Any number of processes may read it, or one writes and reads it."""

    def __init__(self, path: str | os.PathLike[str], *, is_read_only: bool = False) -> None:
        """Open it; a missing file is made, unless it is only to be read."""
        self.path: Final = Path(path).resolve()
        self._is_read_only = is_read_only
        self._is_closed = False
        self._is_broken = False
        self._writing = Lock()
        self._opening = Lock()
        self._finding = Lock()
        self._snapshots: WeakSet[Snapshot] = WeakSet()
        self._live: dict[str, _Live] = {}
        # Only ever asked for further connections, by one thread at a time.
        self._root = open_database(self.path, is_read_only=is_read_only)
        self._writer = self._root.cursor()
        self._finder = self._root.cursor()
        try:
            self._writer.execute(USE)
            self._finder.execute(USE)
            self._counters = self._count()
        except duckdb.Error as error:
            fault = self._meaning(error)
            self.close()
            raise fault from error

    @property
    def is_broken(self) -> bool:
        return self._is_broken

    def append(self, batches: Sequence[Batch], refusals: Sequence[Refusal] = ()) -> list[Head | Conflict]:
        assert_shape(batches)
        with self._writing:
            self._check_open()
            if self._is_read_only:
                raise Unavailable(Code.WRITE_FAILED, path=str(self.path), problem="opened for reading only")
            answers, accepted, live = self._decide(batches)
            if accepted or refusals:
                self._commit(accepted, refusals)
                self._remember(accepted, live, len(refusals))
            return answers

    def head(self, game_id: str) -> Head | None:
        self._check_open()
        live = self._live.get(game_id)
        if live is not None:
            return live.head
        number = self._number(game_id)
        if number is None:
            return None
        with closing(self._snapshot()) as snapshot:
            return snapshot.heads_of([number])[number]

    def heads(self) -> Iterator[tuple[str, Head]]:
        return self._snapshot().heads()

    def position(self) -> int:
        self._check_open()
        return self._counters.position

    def read_game(
        self, game_id: str, *, start: int | None = None, limit: int = 0, is_backwards: bool = False
    ) -> Records:
        number = self._number(game_id)
        if number is None:
            return nothing()
        return self._snapshot().read_game(game_id, number, start=start, limit=limit, is_backwards=is_backwards)

    def read_games(self, game_ids: Sequence[str]) -> Records:
        return self._snapshot().read_games(game_ids)

    def read_all(self, *, start: int | None = None, limit: int = 0, is_backwards: bool = False) -> Records:
        return self._snapshot().read_all(start=start, limit=limit, is_backwards=is_backwards)

    def game(self, game_id: str) -> GameEntry | None:
        with closing(self._snapshot()) as snapshot:
            return snapshot.game(game_id)

    def games(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[GameEntry]:
        with closing(self._snapshot()) as snapshot:
            return snapshot.games(wanted, after=after, limit=limit)

    def endings(self, game_id: str) -> Iterator[Ending]:
        return self._snapshot().endings(game_id)

    def endings_of(self, game_ids: Sequence[str]) -> dict[str, tuple[Ending, ...]]:
        with closing(self._snapshot()) as snapshot:
            return snapshot.endings_of(game_ids)

    def refusals(self, game_id: str = "") -> Iterator[Refusal]:
        return self._snapshot().refusals(game_id)

    def close(self) -> None:
        with self._writing:
            with self._opening:
                self._is_closed = True
                snapshots = list(self._snapshots)
            for snapshot in snapshots:
                snapshot.abort()
            with suppress(duckdb.Error):  # a database that is broken cannot be put in order any more
                self._finder.close()
                self._writer.close()
                self._root.close()

    # The writer's side, one thread at a time.

    def _decide(self, batches: Sequence[Batch]) -> tuple[list[Head | Conflict], list[Accepted], dict[str, _Live]]:
        """The answer to each batch, those that go in, and the games as they are when they have."""
        live = self._look_up(dict.fromkeys(batch.game_id for batch in batches))
        position, game_number = self._counters.position, self._counters.game_number
        answers: list[Head | Conflict] = []
        accepted: list[Accepted] = []
        for batch in batches:
            game = live.get(batch.game_id)
            refusal = conflict(batch, game.head if game else None)
            if refusal is not None:
                answers.append(refusal)
                continue
            if game is None:
                game_number += 1
            number = game.number if game else game_number
            accepted.append(Accepted(batch, number, position + 1))
            position += len(batch.entries)
            last = batch.entries[-1].event
            head = Head(last.sequence, last.hash, position)
            live[batch.game_id] = _Live(number, head)
            answers.append(head)
        return answers, accepted, live

    def _look_up(self, game_ids: Iterable[str]) -> dict[str, _Live]:
        """Those of these games that there are."""
        found = {game_id: self._live.get(game_id) for game_id in game_ids}
        live = {game_id: game for game_id, game in found.items() if game is not None}
        unknown = [game_id for game_id, game in found.items() if game is None]
        numbers = {game_id: number for game_id in unknown if (number := self._number(game_id)) is not None}
        if numbers:
            with closing(self._snapshot()) as snapshot:
                heads = snapshot.heads_of(list(numbers.values()))
            live |= {game_id: _Live(number, heads[number]) for game_id, number in numbers.items()}
        return live

    def _commit(self, accepted: Sequence[Accepted], refusals: Sequence[Refusal]) -> None:
        try:
            self._writer.execute("BEGIN")
            write(self._writer, accepted, refusals, self._counters.refusal_number + 1)
            self._writer.execute("COMMIT")
        except duckdb.Error as error:
            self._forget(error)
            raise Unavailable(Code.WRITE_FAILED, path=str(self.path), problem=type(error).__name__) from error
        except BaseException as error:
            self._forget(error)
            raise

    def _remember(self, accepted: Sequence[Accepted], live: dict[str, _Live], refusal_count: int) -> None:
        """Take over what is durable now."""
        counters = self._counters
        self._counters = _Counters(
            counters.position + sum(len(item.batch.entries) for item in accepted),
            max([counters.game_number, *(item.game_number for item in accepted)]),
            counters.refusal_number + refusal_count,
        )
        for item in accepted:
            # Put last, so that the first is the one longest untouched.
            self._live.pop(item.batch.game_id, None)
            self._live[item.batch.game_id] = live[item.batch.game_id]
        while len(self._live) > LIVE_MAX:
            del self._live[next(iter(self._live))]

    def _forget(self, error: BaseException) -> None:
        """Roll back, and ask the database what is true: nothing, half a word or all of it may have reached the disk."""
        self._live.clear()
        try:
            with suppress(duckdb.Error):  # the engine has rolled back already
                self._writer.execute("ROLLBACK")
            self._counters = self._count()
        except duckdb.Error:
            self._is_broken = True
        if isinstance(error, duckdb.Error) and is_fatal(error):
            self._is_broken = True

    def _count(self) -> _Counters:
        (row,) = self._writer.execute(_COUNTERS).fetchall()
        return _Counters(*row)

    # The readers' side, any thread.

    def _number(self, game_id: str) -> int | None:
        """A game's number, by one question without a moment: most games that are asked for like this are new."""
        live = self._live.get(game_id)
        if live is not None:
            return live.number
        with self._finding:
            self._check_open()
            try:
                row = self._finder.execute(NUMBER, [game_id]).fetchone()
            except duckdb.Error as error:
                raise self._meaning(error) from error
        return None if row is None else row[0]

    def _snapshot(self) -> Snapshot:
        with self._opening:
            self._check_open()
            known = self._counters.position
            snapshot = Snapshot(self._root.cursor(), known=known, translate=self._meaning)
            self._snapshots.add(snapshot)
        return snapshot

    def _check_open(self) -> None:
        if self._is_closed:
            raise Unavailable(Code.DRAINING)
        if self._is_broken:
            raise Unavailable(Code.SOURCE_UNREADABLE, path=str(self.path), problem="it must be opened anew")

    def _meaning(self, error: duckdb.Error) -> HeptalogError:
        if self._is_closed:
            return Unavailable(Code.DRAINING)
        if is_fatal(error):
            self._is_broken = True
        return meaning(error, self.path, is_open=True)
