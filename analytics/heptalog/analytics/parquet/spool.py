"""Records on their way from a server, kept beside the export until they are read again game by game.

A server gives its log in the order of positions, many times faster than game by game. So what it gives is put into a
database of its own, from which each process takes the games that are its work.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
from msgspec import Struct

from heptalog.analytics.parquet.reading import Kept
from heptalog.analytics.sources import Recorded, Refused

# So many rows are written, and read, at once.
_ROWS_AT_ONCE: Final = 16_384
_GAMES_AT_ONCE: Final = 64
# Of so many games it is remembered that they are here.
_GAMES_MAX: Final = 200_000

_MADE: Final = (resources.files("heptalog.analytics.parquet") / "spool.sql").read_text("utf-8")
_ALL: Final = """
    SELECT position, game_id, sequence, record FROM records JOIN games USING (game_number)
    WHERE position BETWEEN ? AND ? ORDER BY position
"""
_MARK: Final = "SELECT record FROM marks WHERE position = ?"
_GAMES: Final = """
    SELECT position, game_id, sequence, record FROM records JOIN games USING (game_number)
    WHERE game_number BETWEEN ? AND ? AND game_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY game_number, sequence
"""
_NUMBERS: Final = "SELECT game_number FROM games WHERE game_id IN (SELECT unnest(?::VARCHAR[]))"
_REFUSALS: Final = """
    SELECT number, game_id, sequence, refused_at, recorded_by, kind, code, rule, content FROM refusals
    WHERE number > ? AND (? = '' OR game_id = ?) ORDER BY number LIMIT ?
"""
_TYPES: Final[dict[str, dict[str, pa.DataType]]] = {
    "records": {"game_number": pa.int64(), "position": pa.int64(), "sequence": pa.int64(), "record": pa.binary()},
    "games": {"game_number": pa.int64(), "game_id": pa.string()},
    "refusals": {
        "number": pa.int64(),
        "game_id": pa.string(),
        "sequence": pa.int64(),
        "refused_at": pa.int64(),
        "recorded_by": pa.string(),
        "kind": pa.string(),
        "code": pa.string(),
        "rule": pa.string(),
        "content": pa.binary(),
    },
}


class SpooledRefusal(Struct, frozen=True):
    """One refusal as it was given."""

    game_id: str
    sequence: int
    refused_at: int
    recorded_by: str
    kind: str
    code: str
    rule: str
    content: bytes


class Filling:
    """A spool that is filled, by one thread."""

    def __init__(self, path: Path) -> None:
        self._connection = duckdb.connect(str(path))
        self._connection.execute(_MADE)
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _TYPES}
        self._numbers: dict[str, int] = {}

    def has(self, game_id: str) -> bool:
        """Whether a game is here from its beginning on."""
        if game_id in self._numbers:
            return True
        self._flush("games")
        found = self._connection.execute(_NUMBERS, [[game_id]]).fetchall()
        if found:
            self._numbers[game_id] = found[0][0]
        return bool(found)

    def add(self, recorded: Recorded) -> None:
        """A record; those of a game come in sequence, the first of them first."""
        if recorded.sequence == 0:
            self._numbers[recorded.game_id] = recorded.position
            self._put("games", (recorded.position, recorded.game_id))
        number = self._numbers[recorded.game_id]
        self._put("records", (number, recorded.position, recorded.sequence, recorded.record))

    def mark(self, recorded: Recorded) -> None:
        """A record by which the log is known, though its game is not here."""
        self._connection.execute("INSERT INTO marks VALUES (?, ?)", [recorded.position, recorded.record])

    def refuse(self, number: int, refused: Refused) -> None:
        """A refusal, and its place among all."""
        values = [getattr(refused, name) for name in SpooledRefusal.__struct_fields__]
        self._put("refusals", (number, *values))

    def close(self, *, position: int, refusals: int) -> None:
        """Say how far the log goes, and be done."""
        for name in _TYPES:
            self._flush(name)
        self._connection.execute("INSERT INTO moment VALUES (?, ?)", [position, refusals])
        self._connection.close()

    def _put(self, name: str, row: tuple[Any, ...]) -> None:
        self._rows[name].append(row)
        if len(self._rows[name]) >= _ROWS_AT_ONCE:
            self._flush(name)
            if len(self._numbers) > _GAMES_MAX:
                self._flush("games")
                self._numbers.clear()

    def _flush(self, name: str) -> None:
        if rows := self._rows[name]:
            fields = pa.schema(_TYPES[name])
            values = zip(*rows, strict=True)
            columns = [pa.array(column, type=field.type) for column, field in zip(values, fields, strict=True)]
            self._connection.register("batch", pa.Table.from_arrays(columns, schema=fields))
            self._connection.execute(f"INSERT INTO {name} SELECT * FROM batch")  # noqa: S608  # only our own names
            self._connection.unregister("batch")
            rows.clear()


class Spool:
    """A Source over what was filled in."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        ((self._position, self._refusals),) = connection.execute("FROM moment").fetchall()

    def position(self) -> int:
        """The position of the last event of all."""
        return int(self._position)

    def read_all(self, *, start: int | None = None, limit: int = 0) -> Iterator[Recorded]:
        """The records from a position on; of those that were there before only what is a mark."""
        start = start or 1
        if limit == 1 and (marks := self._rows(_MARK, [start])):
            yield Kept(start, "", 0, marks[0][0])
            return
        end = self.position() if not limit else min(self.position(), start + limit - 1)
        for low in range(start, end + 1, _ROWS_AT_ONCE):
            rows = self._rows(_ALL, [low, min(end, low + _ROWS_AT_ONCE - 1)])
            yield from (Kept(*row) for row in rows)

    def read_games(self, game_ids: Sequence[str]) -> Iterator[Recorded]:
        """The records of several games, in the order in which they were begun."""
        for place in range(0, len(game_ids), _GAMES_AT_ONCE):
            some = list(game_ids[place : place + _GAMES_AT_ONCE])
            if numbers := [number for (number,) in self._rows(_NUMBERS, [some])]:
                yield from (Kept(*row) for row in self._rows(_GAMES, [min(numbers), max(numbers), some]))

    def refusals(self, game_id: str = "", *, after: int = 0) -> Iterator[Refused]:
        """What was refused, oldest first."""
        while rows := self._rows(_REFUSALS, [after, game_id, game_id, _ROWS_AT_ONCE]):
            yield from (SpooledRefusal(*values) for _, *values in rows)
            after = rows[-1][0]

    def refusal_count(self) -> int:
        """How many refusals there are."""
        return int(self._refusals)

    def _rows(self, statement: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, parameters).fetchall()


class SpoolOpener(Struct, frozen=True):
    """Opens a spool for reading, in any process."""

    path: str

    @contextmanager
    def __call__(self) -> Iterator[Spool]:
        with duckdb.connect(self.path, read_only=True) as connection:
            yield Spool(connection)
