"""How rows come to the engine: each statement is given what is its own, once, and nothing of one before it."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from heptalog.service.store import GameFilter, duck_incoming
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_incoming import Incoming, Rows, Table, rows_in, rows_of
from heptalog.service.store.duck_tables import ENDINGS, EVENTS, GAMES, REFUSALS, TABLES
from heptalog.service.store.kept import ENDING_COLUMNS, EVENT_COLUMNS, GAME_COLUMNS, columns_of, event_columns
from heptalog.service.store.migrate import migrate, migrations
from tests.contract.given import appended, begin, checkpoint_of, game, refusals, whole_games, writer_of
from tests.support.recording import batch_of

COLUMNS = (
    (7, 8),
    (2, 2),
    (0, 1),
    ("gameStarted", "noteAdded"),
    (None, 3),
    ("a", None),
    (None, 1_790_000_000_000_001),
    (1_790_000_000_000_000, None),
    (None, "table-1"),
    (b"\x00\xff", b""),
)
ROWS = list(zip(*COLUMNS, strict=True))
_ASKED = """
    SELECT position, game_number, sequence, kind, seat, event_id, epoch_us(occurred_at), epoch_us(recorded_at),
        recorded_by, event
    FROM log.events ORDER BY rowid
"""


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(duckdb.connect(config={"python_enable_replacements": "false"})) as connection:
        migrate(connection, migrations())
        yield connection


def events(connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return connection.execute(_ASKED).fetchall()


def numbered(*positions: int) -> Rows:
    """Events that differ in their places."""
    return only(EVENTS, *[(position, *ROWS[0][1:]) for position in positions])


def only(table: Table, *rows: tuple[object, ...]) -> Rows:
    """These rows of a table."""
    (found,) = rows_of(table, rows)
    return found


def test_each_statement_inserts_its_own_rows(connection: duckdb.DuckDBPyConnection) -> None:
    incoming = Incoming(connection, TABLES)
    incoming.insert(connection, only(EVENTS, *ROWS))
    assert events(connection) == ROWS
    incoming.insert(connection, numbered(9))
    incoming.insert(connection, numbered(10, 11, 12))
    incoming.insert(connection, numbered(13))
    assert [row[0] for row in events(connection)] == list(range(7, 14))
    # What is not held any more is in no statement.
    connection.execute(EVENTS.execute)
    assert len(events(connection)) == 7


def names(table: Table) -> list[str]:
    """The columns of a table."""
    return [field.name for field in table.row]


def test_rows_are_those_of_their_columns() -> None:
    arrays = [pa.array(column, field.type) for column, field in zip(COLUMNS, EVENTS.row, strict=True)]
    assert only(EVENTS, *ROWS) == rows_in(EVENTS, arrays)
    assert list(rows_of(EVENTS, ())) == []


def test_every_table_is_given_its_columns(connection: duckdb.DuckDBPyConnection) -> None:
    assert (*names(EVENTS)[2:-1],) == EVENT_COLUMNS
    assert (*names(GAMES)[1:],) == GAME_COLUMNS
    assert (*names(ENDINGS)[1:],) == ENDING_COLUMNS
    incoming = Incoming(connection, TABLES)
    people, labels = [{"id": "ana", "name": ""}, {"id": "bo", "name": "Bo"}], [{"name": "a", "value": "b"}]
    game: tuple[object, ...] = (1, "final", "seven_up", 1, None, "3", people, "{}", labels, None, 7, b"\x01")
    bare: tuple[object, ...] = (2, "other", "seven_up", 1, "cup", None, [], "{}", [], 1_790_000_000_000_000, 0, b"")
    incoming.insert(connection, only(GAMES, game, bare))
    incoming.insert(connection, only(ENDINGS, (1, 4, "WON", [7, -3], [0, 2], None)))
    incoming.insert(connection, only(ENDINGS, (2, 5, "CLOSED", [], [], 1)))
    incoming.insert(connection, only(REFUSALS, (1, "x", 0, 5, 9, "t", "k", "c", "r", b"\x00")))
    asked = "SELECT * REPLACE (epoch_us({0}) AS {0}) FROM log.{1} ORDER BY 1"
    assert connection.execute(asked.format("created_at", "games")).fetchall() == [game, bare]
    assert connection.execute(asked.format("recorded_at", "endings")).fetchall() == [
        (1, 4, "WON", [7, -3], [0, 2], None),
        (2, 5, "CLOSED", [], [], 1),
    ]
    assert connection.execute(asked.format("refused_at", "refusals")).fetchall() == [
        (1, "x", 0, 5, 9, "t", "k", "c", "r", b"\x00")
    ]


def test_nothing_is_held_after_a_failure(connection: duckdb.DuckDBPyConnection) -> None:
    incoming = Incoming(connection, TABLES)
    incoming.insert(connection, numbered(1))
    with pytest.raises(duckdb.ConstraintException):
        incoming.insert(connection, only(EVENTS, (*ROWS[0][:3], None, *ROWS[0][4:])))
    connection.execute(EVENTS.execute)
    incoming.insert(connection, numbered(2))
    assert [row[0] for row in events(connection)] == [1, 2]
    # What does not fit its column is never given to the engine.
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
        only(EVENTS, ROWS[0], (*ROWS[1][:-1], 5))


@pytest.mark.parametrize("disturb", ["ROLLBACK", "COMMIT", "CHECKPOINT", "VACUUM", "ANALYZE"])
def test_a_prepared_statement_outlives_whatever_happens(connection: duckdb.DuckDBPyConnection, disturb: str) -> None:
    incoming = Incoming(connection, TABLES)
    expected = []
    for round_number in range(3):
        if disturb in ("ROLLBACK", "COMMIT"):
            connection.execute("BEGIN")
        incoming.insert(connection, numbered(2 * round_number + 1))
        if disturb != "ROLLBACK":
            expected.append(2 * round_number + 1)
        connection.execute(disturb)
        incoming.insert(connection, numbered(2 * round_number + 2))
        expected.append(2 * round_number + 2)
    assert [row[0] for row in events(connection)] == expected


def test_a_prepared_statement_outlives_a_change_of_its_table(connection: duckdb.DuckDBPyConnection) -> None:
    incoming = Incoming(connection, TABLES)
    incoming.insert(connection, numbered(1))
    other = connection.cursor()
    other.execute("ALTER TABLE log.events RENAME COLUMN kind TO what")
    other.execute("ALTER TABLE log.events RENAME COLUMN what TO kind")
    other.execute("CREATE TABLE log.more (number BIGINT)")
    incoming.insert(connection, numbered(2))
    assert [row[0] for row in events(connection)] == [1, 2]


def test_a_statement_is_planned_once(connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[pa.Schema] = []
    rows_from = pa.RecordBatchReader.from_batches

    def noted(schema: pa.Schema, batches: list[pa.RecordBatch]) -> pa.RecordBatchReader:
        asked.append(schema)
        return rows_from(schema, batches)

    monkeypatch.setattr(
        duck_incoming, "pa", SimpleNamespace(schema=pa.schema, RecordBatchReader=SimpleNamespace(from_batches=noted))
    )
    Incoming(connection, TABLES)
    for table in (*TABLES, *TABLES):
        asked.clear()
        connection.execute(table.execute)
        # Whoever plans a statement asks its source for the columns first, and then once more for the rows.
        assert asked == [pa.schema(list(table.row))]


def test_nothing_that_is_asked_or_kept_meanwhile_has_a_statement_planned_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = duck_incoming._Source.__arrow_c_stream__
    asked = 0

    def counted(source: Any, requested_schema: object | None = None) -> object:
        nonlocal asked
        asked += 1
        return streams(source, requested_schema)

    monkeypatch.setattr(duck_incoming._Source, "__arrow_c_stream__", counted)
    store = DuckStore(path)
    entries = game(1)
    meanwhile: list[Callable[[], object]] = [
        lambda: None,
        lambda: (list(store.read_all()), store.games(GameFilter()), store.head("nobody"), store.tile(0, 0, 1)),
        lambda: store.keep_checkpoint(checkpoint_of(store.tree_head().size, store.tree_head().root)),
        lambda: writer_of(store).connection.execute("CHECKPOINT"),
        lambda: store.append([begin(2)], refusals(1)),
    ]
    appended(store, batch_of(entries[:1]))
    for entry, work in zip(entries[1:], meanwhile, strict=False):
        work()
        asked = 0
        appended(store, batch_of([entry]))
        assert asked == 1
    store.close()


def test_columns_of_many_events_are_those_of_each() -> None:
    for entries in whole_games(ruling_rate=0.05):
        given = [entry.event for entry in entries]
        assert list(zip(*columns_of(given), strict=True)) == [event_columns(event) for event in given]
    assert all(column == [] for column in columns_of([]))
