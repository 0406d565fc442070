"""How a moment of the database is read: in bounded pieces, each found by ranges that the zone maps know.

A snapshot is a connection of its own inside one read-only transaction. It may be used by one thread and closed by
another, so every question holds its lock, and no result is left half read: what an iterator asks for next is a new
question in the same moment.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, wraps
from threading import Lock
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, TypeVar, cast

import duckdb

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.service.store import Checkpoint, Ending, GameFilter, Head, NumberedGame, Reading, Records, Refusal, Stored
from heptalog.service.store.duck_games import (
    NAMES,
    SMALLEST_LIMIT,
    Row,
    game,
    game_names,
    games,
    heads_of,
    numbers,
    status_of,
)
from heptalog.service.store.migrate import USE

# The first piece is small, so that it is there at once; the others are large, so that the rest is fast.
PIECE_FIRST: Final = 512
PIECE_MAX: Final = 16_384
# How many names of games an iterator over all of them remembers.
NAMES_MAX: Final = 65_536
# How many whole games are read with one question.
GAMES_AT_ONCE: Final = 64
# A checkpoint has up to a few KB of signatures.
CHECKPOINTS_AT_ONCE: Final = 256

P = ParamSpec("P")
T = TypeVar("T")
Translate: TypeAlias = Callable[[duckdb.Error], Exception]

_MOMENT: Final = "FROM log.migrations LIMIT 0"
_LAST: Final = "SELECT coalesce(max(position), 0) FROM log.events WHERE position >= ?"
_ALL: Final = """
    SELECT position, game_number, sequence, event FROM log.events WHERE position BETWEEN ? AND ? ORDER BY position
"""
_FORWARDS: Final = """
    SELECT position, sequence, event FROM log.events
    WHERE game_number = ? AND sequence >= ? ORDER BY sequence LIMIT ?
"""
_LAST_SEQUENCE: Final = "SELECT max(sequence) FROM log.events WHERE game_number = ?"
_BACKWARDS: Final = """
    SELECT position, sequence, event FROM log.events
    WHERE game_number = ? AND sequence BETWEEN ? AND ? ORDER BY sequence DESC
"""
_GAMES_WHOLE: Final = """
    SELECT position, game_number, sequence, event FROM log.events
    WHERE game_number BETWEEN ? AND ? AND game_number IN (SELECT unnest(?::BIGINT[]))
    ORDER BY game_number, sequence
"""
_ENDINGS_OF: Final = """
    SELECT game_number, sequence, status, scores, winners FROM log.endings
    WHERE game_number IN (SELECT unnest(?::BIGINT[])) ORDER BY game_number, sequence
"""
_HEADS: Final = """
    SELECT game_number, game_id FROM log.games WHERE game_number > ? ORDER BY game_number LIMIT ?
"""
_ENDINGS: Final = """
    SELECT sequence, status, scores, winners FROM log.endings
    WHERE game_number = ? ORDER BY sequence
"""
_REFUSALS: Final = """
    SELECT refusal_number, game_id, sequence, epoch_us(refused_at), refused_at_nanoseconds, recorded_by, kind, code,
        rule, content
    FROM log.refusals
    WHERE refusal_number > $after AND ($game_id = '' OR game_id = $game_id)
    ORDER BY refusal_number LIMIT $limit OFFSET $offset
"""
# An incident has a size too, so every column says whose it is.
_CHECKPOINTS: Final = """
    SELECT kept.size, arg_max(kept.note, kept.checkpoint_number) FROM log.checkpoints AS kept
    WHERE kept.size > ? AND NOT EXISTS (
        FROM log.incidents AS incident
        WHERE incident.void_after < kept.size AND kept.checkpoint_number <= incident.checkpoints_kept
    )
    GROUP BY kept.size ORDER BY kept.size LIMIT ?
"""
_VOID_NAMES: Final = "SELECT DISTINCT unnest(void_names) FROM log.incidents"


def _letting_go(
    read: "Callable[Concatenate[Snapshot, P], Reading[T]]",
) -> "Callable[Concatenate[Snapshot, P], Reading[T]]":
    """A reading that closes its snapshot once it is over or closed."""

    def held(snapshot: "Snapshot", reading: Reading[T]) -> Generator[T | None, None, None]:
        try:
            yield None
            yield from reading
        finally:
            snapshot.close()

    @wraps(read)
    def begun(snapshot: "Snapshot", /, *args: P.args, **kwargs: P.kwargs) -> Reading[T]:
        reading = held(snapshot, read(snapshot, *args, **kwargs))
        # Of a generator that was never begun nothing would be done when it is closed.
        next(reading)
        return cast(Reading[T], reading)

    return begun


class Snapshot:
    """One moment of the database."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, *, known: int, translate: Translate) -> None:
        """Begin it; `known` is a position that is certainly there, from which the last one is looked for."""
        self._cursor = cursor
        self._translate = translate
        self._lock = Lock()
        self._is_closed = False
        self._known = known
        self.rows(USE)
        self.rows("BEGIN TRANSACTION READ ONLY")
        # The moment is that of the first question, so one is asked at once, the cheapest.
        self.rows(_MOMENT)

    @cached_property
    def position(self) -> int:
        """The last position that there is."""
        ((position,),) = self.rows(_LAST, [self._known])
        return int(position)

    def rows(self, statement: str, parameters: object = None) -> list[Row]:
        """The answer to one question, whole."""
        with self._lock:
            if self._is_closed:
                raise Unavailable(Code.DRAINING)
            try:
                return self._cursor.execute(statement, parameters).fetchall()
            except duckdb.Error as error:
                raise self._translate(error) from error

    def columns(self, statement: str, parameters: object, *, is_backwards: bool) -> list[list[Any]]:
        """The answer to one question, whole, as its columns: a quarter less work than rows where there are many.

        Bytes are given as a `bytearray`, and no column may have NULL.
        """
        with self._lock:
            if self._is_closed:
                raise Unavailable(Code.DRAINING)
            try:
                found = self._cursor.execute(statement, parameters).fetchnumpy()
            except duckdb.Error as error:
                raise self._translate(error) from error
        step = -1 if is_backwards else 1
        return [column[::step].tolist() for column in found.values()]

    def close(self) -> None:
        """Let go of the moment. Calling it again does nothing."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._cursor.close()

    def abort(self) -> None:
        """Close it under the hands of whoever is still reading: the question that runs is interrupted."""
        with suppress(duckdb.Error):  # it is closed already
            self._cursor.interrupt()
        self.close()

    # Questions about a game.

    def numbers(self, game_ids: list[str]) -> dict[str, int]:
        """The numbers of those of these games that are there."""
        return numbers(self.rows, game_ids)

    def heads_of(self, game_numbers: list[int]) -> dict[int, Head]:
        """The heads of these games, which are there."""
        return heads_of(self.rows, game_numbers)

    def game(self, game_id: str) -> NumberedGame | None:
        """One game as a list shows it."""
        return game(self.rows, game_id)

    def games(self, wanted: GameFilter, *, after: int, limit: int) -> list[NumberedGame]:
        """The games that fit."""
        return games(self.rows, wanted, after=after, limit=limit)

    def game_names(self, wanted: GameFilter, *, after: int, limit: int) -> list[tuple[int, str]]:
        """The numbers and ids of the games that fit."""
        return game_names(self.rows, wanted, after=after, limit=limit)

    # Readings; each closes the snapshot when it is exhausted or closed.

    @_letting_go
    def read_all(self, *, start: int | None, limit: int, is_backwards: bool) -> Records:
        """All games' records by position."""
        names: dict[int, str] = {}
        for low, high in _pieces(start, limit, first=1, last=self.position, is_backwards=is_backwards):
            positions, numbers, sequences, found = self.columns(_ALL, [low, high], is_backwards=is_backwards)
            _check_whole(positions, low, high, is_backwards=is_backwards)
            self._name(names, set(numbers))
            yield from map(Stored, positions, map(names.__getitem__, numbers), sequences, map(bytes, found))

    @_letting_go
    def read_game(self, game_id: str, number: int, *, start: int | None, limit: int, is_backwards: bool) -> Records:
        """One game's records by sequence."""
        pieces = self._backwards(number, start, limit) if is_backwards else self._forwards(number, start, limit)
        for rows in pieces:
            for position, sequence, record in rows:
                yield Stored(position, game_id, sequence, record)

    def _forwards(self, number: int, start: int | None, limit: int) -> Iterator[list[Row]]:
        """A game's rows from a sequence on. What is there is told by what is found, so most games take one question."""
        low, size = start or 0, PIECE_FIRST
        left = limit
        while left or not limit:
            count = min(size, left) if limit else size
            rows = self.rows(_FORWARDS, [number, low, max(count, SMALLEST_LIMIT)])[:count]
            if not rows:
                return
            _check_whole([row[1] for row in rows], low, low + len(rows) - 1)
            yield rows
            if len(rows) < count:
                return
            low += count
            left -= count
            size = min(size * 4, PIECE_MAX)

    def _backwards(self, number: int, start: int | None, limit: int) -> Iterator[list[Row]]:
        ((last,),) = self.rows(_LAST_SEQUENCE, [number])
        for low, high in _pieces(start, limit, first=0, last=last, is_backwards=True):
            rows = self.rows(_BACKWARDS, [number, low, high])
            _check_whole([row[1] for row in rows], low, high, is_backwards=True)
            yield rows

    @_letting_go
    def read_games(self, game_ids: Sequence[str]) -> Records:
        """The records of several games, one after the other; a few at a time, so that little is held."""
        for at in range(0, len(game_ids), GAMES_AT_ONCE):
            some = game_ids[at : at + GAMES_AT_ONCE]
            numbers = self.numbers(list(dict.fromkeys(some)))
            games = self._whole(list(numbers.values()))
            for game_id in some:
                for position, sequence, record in games.get(numbers.get(game_id, 0), ()):
                    yield Stored(position, game_id, sequence, record)

    def _whole(self, numbers: list[int]) -> dict[int, list[Row]]:
        games: dict[int, list[Row]] = {}
        if numbers:
            for position, number, *rest in self.rows(_GAMES_WHOLE, [min(numbers), max(numbers), numbers]):
                games.setdefault(number, []).append((position, *rest))
        for rows in games.values():
            _check_whole([row[1] for row in rows], 0, rows[-1][1])
        return games

    @_letting_go
    def heads(self) -> Reading[tuple[str, Head]]:
        """Every game's id and head."""
        after = 0
        while games := self.rows(_HEADS, [after, PIECE_MAX]):
            heads = self.heads_of([number for number, _ in games])
            for number, game_id in games:
                yield game_id, heads[number]
            after = games[-1][0]

    @_letting_go
    def endings(self, game_id: str) -> Reading[Ending]:
        """Every change of a game's status."""
        number = self.numbers([game_id]).get(game_id)
        for sequence, status, scores, winners in self.rows(_ENDINGS, [number]):
            yield Ending(sequence, status_of(status), tuple(scores), tuple(winners))

    def endings_of(self, game_ids: Sequence[str]) -> dict[str, tuple[Ending, ...]]:
        """Every change of the status of several games."""
        numbers = self.numbers(list(dict.fromkeys(game_ids)))
        found: dict[int, list[Ending]] = {}
        for number, sequence, status, scores, winners in self.rows(_ENDINGS_OF, [list(numbers.values())]):
            found.setdefault(number, []).append(Ending(sequence, status_of(status), tuple(scores), tuple(winners)))
        return {game_id: tuple(found.get(numbers.get(game_id, 0), ())) for game_id in game_ids}

    @_letting_go
    def checkpoints(self, after: int) -> Reading[Checkpoint]:
        """The checkpoints of a greater size, the last note of each."""
        while rows := self.rows(_CHECKPOINTS, [after, CHECKPOINTS_AT_ONCE]):
            for size, note in rows:
                yield Checkpoint(size, note)
            after = rows[-1][0]

    def void_names(self) -> frozenset[str]:
        """The names under which checkpoints were signed that hold no longer."""
        return frozenset(name for (name,) in self.rows(_VOID_NAMES))

    @_letting_go
    def refusals(self, game_id: str, skipped: int) -> Reading[Refusal]:
        """What was refused, of one game or of all, without the first so many."""
        # Those of all games are numbered without gaps, those of one are counted.
        after, offset = (0, skipped) if game_id else (skipped, 0)
        asked = {"game_id": game_id, "limit": PIECE_MAX}
        while rows := self.rows(_REFUSALS, {**asked, "after": after, "offset": offset}):
            for _, refused_game, sequence, microseconds, nanoseconds, *rest in rows:
                yield Refusal(refused_game, sequence, microseconds * 1000 + nanoseconds, *rest)
            after, offset = rows[-1][0], 0

    def _name(self, names: dict[int, str], numbers: set[int]) -> None:
        if len(names) > NAMES_MAX:
            names.clear()
        if unknown := numbers - names.keys():
            names.update(self.rows(NAMES, [list(unknown)]))


def nothing() -> Records:
    """No records at all."""
    yield from ()


def _pieces(start: int | None, limit: int, *, first: int, last: int, is_backwards: bool) -> Iterator[tuple[int, int]]:
    """What is there of a span, as ranges of growing size, both ends included."""
    size = PIECE_FIRST
    if is_backwards:
        high = last if start is None else min(start, last)
        end = max(first, high - limit + 1) if limit else first
        while high >= end:
            low = max(end, high - size + 1)
            yield low, high
            high = low - 1
            size = min(size * 4, PIECE_MAX)
    else:
        low = first if start is None else max(start, first)
        end = min(last, low + limit - 1) if limit else last
        while low <= end:
            high = min(end, low + size - 1)
            yield low, high
            low = high + 1
            size = min(size * 4, PIECE_MAX)


def _check_whole(numbers: list[int], low: int, high: int, *, is_backwards: bool = False) -> None:
    """Raise Corrupt where a range without gaps has one."""
    first, last = (high, low) if is_backwards else (low, high)
    if len(numbers) != high - low + 1 or numbers[0] != first or numbers[-1] != last:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", problem="a gap in the log", first=low, last=high)
