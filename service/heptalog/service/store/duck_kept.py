"""All that is kept in a database as it lies there, unchecked and in pieces: for who holds it against the records.

What the store itself reads it takes as promised: a gap raises, a game is found by its name. Here nothing is taken as
promised, so that whatever has been done to a database can be read, and told of. Not even that a column is never NULL.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

import duckdb

from heptalog.service.store.duck_faults import meaning
from heptalog.service.store.duck_schema import COLUMNS, Difference, differences
from heptalog.service.store.duck_tree import load
from heptalog.service.store.kept import KeptEnding, KeptEvent, KeptGame
from heptalog.service.store.migrate import USE, open_database
from heptalog.service.store.opening import Guard

if TYPE_CHECKING:
    from heptalog.service.store.columns import GameRows

Row: TypeAlias = tuple[Any, ...]

# How many rows are in memory at once.
PIECE_SIZE: Final = 16_384
# Games are counted by so many numbers: what is planned with is then small, and a piece of work is not.
BUCKET_WIDTH: Final = 16
# How many times somebody may have accepted a loss; of more the last ones are told.
INCIDENTS_MAX: Final = 1000

_EXTENT: Final = "SELECT coalesce(max(position), 0), count(*) FROM log.events"
_SPANS: Final = """
    SELECT (position - 1) // ? AS span, count(*) FROM log.events WHERE position > 0 GROUP BY span ORDER BY span
"""
_STRAYS: Final = """
    SELECT coalesce(position, 0), coalesce(game_number, 0), coalesce(sequence, 0) FROM log.events
    WHERE coalesce(position, 0) < 1 OR game_number IS NULL ORDER BY ALL LIMIT ?
"""
_LINKS: Final = """
    SELECT position, coalesce(event, ''::BLOB)[37:68] FROM log.events WHERE position BETWEEN ? AND ? ORDER BY position
"""
# One statement each: a table that cannot be read must not hide what the others say.
_BUCKETS: Final = {
    "events": """
        SELECT game_number - (game_number % $width + $width) % $width AS bucket, count(*) FROM log.events
        WHERE game_number IS NOT NULL GROUP BY bucket ORDER BY bucket
    """,
    "games": """
        SELECT game_number - (game_number % $width + $width) % $width AS bucket, 1 FROM log.games
        WHERE game_number IS NOT NULL GROUP BY bucket ORDER BY bucket
    """,
    "endings": """
        SELECT game_number - (game_number % $width + $width) % $width AS bucket, 1 FROM log.endings
        WHERE game_number IS NOT NULL GROUP BY bucket ORDER BY bucket
    """,
}
_BEGIN: Final = "BEGIN TRANSACTION READ ONLY"
_GAME_COUNT: Final = "SELECT count(*) FROM log.games"
# A time without end has no number of microseconds, and is none that was ever written.
_EVENTS: Final = """
    SELECT coalesce(position, 0), game_number, coalesce(event, ''::BLOB), sequence, kind, seat, event_id,
        CASE WHEN isinf(occurred_at) THEN -1 ELSE epoch_us(occurred_at) END,
        CASE WHEN isinf(recorded_at) THEN -1 ELSE epoch_us(recorded_at) END,
        recorded_by
    FROM log.events
    WHERE game_number BETWEEN $low AND $high
        AND ($numbers::BIGINT[] IS NULL OR list_contains($numbers::BIGINT[], game_number))
    ORDER BY game_number, position
"""
_GAMES: Final = """
    SELECT game_number, game_id, ruleset, rules_version, tournament, table_name, players, options, tags,
        CASE WHEN isinf(created_at) THEN -1 ELSE epoch_us(created_at) END, created_at_nanoseconds, started
    FROM log.games
    WHERE game_number BETWEEN $low AND $high
        AND ($numbers::BIGINT[] IS NULL OR list_contains($numbers::BIGINT[], game_number))
    ORDER BY game_number, rowid
"""
_NAMES: Final = "SELECT game_id FROM log.games WHERE game_id IS NOT NULL ORDER BY game_number, rowid"
_NUMBER: Final = "SELECT game_number FROM log.games WHERE game_id = ?"
_NUMBERS: Final = "SELECT game_number FROM log.games WHERE game_id IN (SELECT unnest(?::VARCHAR[]))"
_GAMES_WITHOUT_NUMBER: Final = "SELECT game_id FROM log.games WHERE game_number IS NULL ORDER BY game_id LIMIT ?"
_ENDINGS: Final = """
    SELECT game_number, sequence, status, scores, winners,
        CASE WHEN isinf(recorded_at) THEN -1 ELSE epoch_us(recorded_at) END
    FROM log.endings
    WHERE game_number BETWEEN $low AND $high
        AND ($numbers::BIGINT[] IS NULL OR list_contains($numbers::BIGINT[], game_number))
    ORDER BY game_number, sequence, rowid
"""
_ENDINGS_WITHOUT_NUMBER: Final = "SELECT count(*) FROM log.endings WHERE game_number IS NULL"
_REFUSALS: Final = """
    SELECT coalesce(refusal_number, 0), game_id, sequence,
        CASE WHEN isinf(refused_at) THEN -1 ELSE epoch_us(refused_at) END,
        refused_at_nanoseconds, recorded_by, kind, code, rule, content
    FROM log.refusals ORDER BY refusal_number NULLS FIRST, rowid
"""
_TREE: Final = """
    SELECT index, coalesce(hash, ''::BLOB) FROM log.tree WHERE level = ? AND index BETWEEN ? AND ? ORDER BY index, rowid
"""
_TREE_SHAPE: Final = """
    SELECT coalesce(level, 0) AS height, count(*), count(DISTINCT index), coalesce(min(index), 0),
        coalesce(max(index), -1)
    FROM log.tree GROUP BY height ORDER BY height
"""
# Those that hold: what was accepted after a loss has said of the others that they do not.
_CHECKPOINTS: Final = """
    SELECT coalesce(kept.checkpoint_number, 0) AS number, coalesce(kept.size, 0) AS events, coalesce(kept.note, '')
    FROM log.checkpoints AS kept
    WHERE events BETWEEN ? AND ? AND NOT EXISTS (
        FROM log.incidents AS incident
        WHERE incident.void_after < coalesce(kept.size, 0)
            AND coalesce(kept.checkpoint_number, 0) <= incident.checkpoints_kept
    )
    ORDER BY events, kept.checkpoint_number NULLS FIRST, kept.rowid
"""
_CHECKPOINT_SHAPE: Final = """
    SELECT count(*), count(DISTINCT checkpoint_number), coalesce(min(checkpoint_number), 1),
        coalesce(max(checkpoint_number), 0)
    FROM log.checkpoints
"""
# The last of them, in the order in which they were put on record.
_INCIDENTS: Final = """
    SELECT * EXCLUDE (place) FROM (
        SELECT CASE WHEN isinf(accepted_at) THEN -1 ELSE epoch_us(accepted_at) END, coalesce(finding, ''),
            head_size, head_root, coalesce(size, -1), coalesce(root, ''::BLOB), coalesce(checkpoints_kept, -1),
            void_after, void_names, rowid AS place
        FROM log.incidents ORDER BY place DESC LIMIT ?
    ) ORDER BY place
"""


class KeptIncident(NamedTuple):
    """A time when somebody let the log go on after a loss, as it lies there, unchecked."""

    accepted_at: int | None  # microseconds
    finding: str
    head_size: int | None
    head_root: bytes | None
    size: int
    root: bytes
    checkpoints_kept: int
    void_after: int | None
    void_names: list[str | None] | None


class KeptRefusal(NamedTuple):
    """A row of what was refused as it lies there, unchecked; times are microseconds and the nanoseconds beyond."""

    number: int
    game_id: str | None
    sequence: int | None
    refused_at: int | None
    refused_at_nanoseconds: int | None
    recorded_by: str | None
    kind: str | None
    code: str | None
    rule: str | None
    content: bytes | None


class Shape(NamedTuple):
    """Which numbers there are of something that is numbered: how many, how many of them differ, first and last."""

    entries: int
    distinct: int
    first: int
    last: int


NO_SHAPE: Final = Shape(entries=0, distinct=0, first=1, last=0)


def opened_kept(path: Path) -> "Kept":
    """What is kept in a database that no store has open, whatever was done to it; whoever asks for it closes it.

    Raises Unavailable where it is not ours or of another version, Corrupt where the engine cannot open it.
    """
    path = path.resolve()
    guard = Guard(path, time.time_ns, is_checked=False)
    connection = open_database(path, is_read_only=True, guard=guard)
    return Kept(connection, lambda error: meaning(error, path, is_open=True))


class Kept:
    """One moment of a database, read by one thread. Every iterator is read to its end before the next question."""

    has_columns: ClassVar[bool] = True

    def __init__(self, cursor: duckdb.DuckDBPyConnection, translate: Callable[[duckdb.Error], Exception]) -> None:
        self._cursor = cursor
        self._translate = translate
        self._rows(USE)
        self._rows(_BEGIN)

    def restrain(self, *, memory_mebibytes: int, threads: int) -> None:
        """Leave room for the other processes that read the same: the engine would take most of the memory for each."""
        self._rows(f"SET memory_limit = '{memory_mebibytes:d}MiB'")
        self._rows(f"SET threads = {threads:d}")

    def begin_anew(self) -> bool:
        """Whether more may be asked after a question that failed, which has ended the moment.

        What is only read is the same in the next one. Where the engine itself has failed it must be opened anew.
        """
        try:
            self._cursor.execute("ROLLBACK").execute(_BEGIN)
        except duckdb.Error:
            return False
        return True

    def close(self) -> None:
        """Let go of the moment."""
        self._cursor.close()

    # The log as a whole.

    def extent(self) -> tuple[int, int]:
        """The greatest position, and how many events there are."""
        ((last, count),) = self._rows(_EXTENT)
        return last, count

    def spans(self, width: int) -> list[tuple[int, int]]:
        """The spans of so many positions in which there are events, by their numbers from 0, and how many."""
        return self._rows(_SPANS, [width])

    def strays(self, limit: int) -> list[Row]:
        """Position, game number and sequence of events that have no place in the log."""
        return self._rows(_STRAYS, [limit])

    def links(self, low: int, high: int) -> Iterator[tuple[int, bytes]]:
        """The position of each event in a span and the hash that its record carries; shorter where that is damaged."""
        return self._pieces(_LINKS, [low, high])

    def tree_shape(self) -> dict[int, Shape]:
        """Which entries of each level of the Merkle tree are stored."""
        return {level: Shape(*row) for level, *row in self._rows(_TREE_SHAPE)}

    def tree(self, level: int, low: int, high: int) -> Iterator[tuple[int, bytes]]:
        """Some entries of a level of the stored tree, by their index."""
        return self._pieces(_TREE, [level, low, high])

    def checkpoints(self, low: int, high: int) -> Iterator[tuple[int, int, str]]:
        """Number, size and note of the checkpoints with sizes from `low` to `high`, by size, that are not void."""
        return self._pieces(_CHECKPOINTS, [low, high])

    def checkpoint_shape(self) -> Shape:
        """Which numbers of checkpoints there are."""
        (row,) = self._rows(_CHECKPOINT_SHAPE)
        return Shape(*row)

    def refusals(self) -> Iterator[KeptRefusal]:
        """What was refused, by number."""
        return map(KeptRefusal._make, self._pieces(_REFUSALS, []))

    def incidents(self) -> list[KeptIncident]:
        """Each time that somebody let the log go on after a loss, in that order."""
        return [KeptIncident._make(row) for row in self._rows(_INCIDENTS, [INCIDENTS_MAX])]

    def root(self, size: int) -> bytes:
        """The root over so many events, by the stored tree as far as it goes. Raises Corrupt where some are missing."""
        return load(self._rows, size).head.root

    def differences(self) -> list[Difference]:
        """In what the tables are not declared as those of a new database."""
        return list(differences(self._rows(COLUMNS)))

    # Games, by their numbers.

    def buckets(self, table: str) -> list[tuple[int, int]]:
        """How much a table has of the games with the numbers from each multiple of BUCKET_WIDTH on."""
        return self._rows(_BUCKETS[table], {"width": BUCKET_WIDTH})

    def game_count(self) -> int:
        """How many rows the list of games has; the engine knows it without reading them."""
        ((count,),) = self._rows(_GAME_COUNT)
        return int(count)

    def games(self, low: int, high: int, numbers: Sequence[int] | None = None) -> list[KeptGame]:
        """The rows of the games with numbers from `low` to `high` in the list of games; only of those given, if any."""
        asked = {"low": low, "high": high, "numbers": numbers}
        return [KeptGame(row[0], row[1:]) for row in self._rows(_GAMES, asked)]

    def names(self) -> list[str]:
        """The names of all games, by their numbers; nothing else is read of them."""
        return [name for (name,) in self._rows(_NAMES)]

    def endings(self, low: int, high: int, numbers: Sequence[int] | None = None) -> list[KeptEnding]:
        """The endings of these games; only of those with these numbers, if any are given."""
        asked = {"low": low, "high": high, "numbers": numbers}
        return [KeptEnding(row[0], row[1:]) for row in self._rows(_ENDINGS, asked)]

    def events(self, low: int, high: int, numbers: Sequence[int] | None = None) -> Iterator[KeptEvent]:
        """The events of these games, one game after the other, by position."""
        asked = {"low": low, "high": high, "numbers": numbers}
        return map(KeptEvent._make, self._pieces(_EVENTS, asked))

    def rows_of_games(
        self, low: int, high: int, numbers: Sequence[int] | None = None
    ) -> "Iterator[tuple[int, GameRows]]":
        """The same events all at once and by columns: the number of each game, and its rows."""
        # Who examines one game need not wait for numpy.
        from heptalog.service.store.columns import games_in

        asked = {"low": low, "high": high, "numbers": numbers}
        try:
            found: dict[str, Any] = self._cursor.execute(_EVENTS, asked).fetchnumpy()
        except duckdb.Error as error:
            raise self._translate(error) from error
        return games_in(dict(zip(KeptEvent._fields, found.values(), strict=True)))

    def numbers(self, names: Sequence[str]) -> list[int]:
        """The numbers of the games with these names, as far as they are in the list of games."""
        # The key finds one; many are found faster by looking through all.
        found = self._rows(_NUMBER, [names[0]]) if len(names) == 1 else self._rows(_NUMBERS, [list(names)])
        return [number for (number,) in found if number is not None]

    def without_number(self, limit: int) -> tuple[list[str], int]:
        """The games that have no number, and how many endings have none."""
        names = [name for (name,) in self._rows(_GAMES_WITHOUT_NUMBER, [limit])]
        ((endings,),) = self._rows(_ENDINGS_WITHOUT_NUMBER)
        return names, endings

    def _rows(self, statement: str, parameters: object = None) -> list[Any]:
        try:
            return self._cursor.execute(statement, parameters).fetchall()
        except duckdb.Error as error:
            raise self._translate(error) from error

    def _pieces(self, statement: str, parameters: object) -> Iterator[Row]:
        try:
            self._cursor.execute(statement, parameters)
            while rows := self._cursor.fetchmany(PIECE_SIZE):
                yield from rows
        except duckdb.Error as error:
            raise self._translate(error) from error
