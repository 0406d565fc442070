"""How events come to the engine: what a statement is given, once, and as often as it asks."""

from collections.abc import Iterator
from contextlib import closing

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from heptalog.service.store.duck_incoming import NAME, Incoming
from heptalog.service.store.kept import EVENT_COLUMNS

COLUMNS = (
    (0, 1),
    ("gameStarted", "noteAdded"),
    (None, 3),
    ("a", None),
    (None, 1_790_000_000_000_001),
    (1_790_000_000_000_000, None),
    (None, "table-1"),
)
ROWS = [
    (7, 2, 0, "gameStarted", None, "a", None, 1_790_000_000_000_000, None, b"\x00\xff"),
    (8, 2, 1, "noteAdded", 3, None, 1_790_000_000_000_001, None, "table-1", b""),
]


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(duckdb.connect(config={"python_enable_replacements": "false"})) as connection:
        yield connection


def rows(connection: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    return connection.execute(f"FROM {NAME}").fetchall()


def test_a_statement_is_given_what_is_held(connection: duckdb.DuckDBPyConnection) -> None:
    incoming = Incoming(connection)
    assert rows(connection) == []
    with incoming.held(7, np.array([2, 2]), COLUMNS, [b"\x00\xff", b""]):
        assert rows(connection) == ROWS
        assert rows(connection) == ROWS
    assert rows(connection) == []
    with incoming.held(9, np.array([4]), [column[:1] for column in COLUMNS], [b"x"]):
        assert rows(connection) == [(9, 4, *ROWS[0][2:-1], b"x")]


def test_nothing_is_held_after_a_failure(connection: duckdb.DuckDBPyConnection) -> None:
    incoming = Incoming(connection)
    with pytest.raises(KeyboardInterrupt), incoming.held(7, np.array([2, 2]), COLUMNS, [b"", b""]):
        raise KeyboardInterrupt
    assert rows(connection) == []
    # What does not fit its column is never given to the engine.
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)), incoming.held(7, np.array([2, 2]), COLUMNS, [b"", 5]):  # type: ignore[list-item]
        pass
    assert rows(connection) == []


def test_a_transaction_that_is_rolled_back_forgets_no_source(connection: duckdb.DuckDBPyConnection) -> None:
    incoming = Incoming(connection)
    connection.execute("BEGIN")
    with incoming.held(7, np.array([2, 2]), COLUMNS, [b"\x00\xff", b""]):
        connection.execute(f"CREATE TABLE kept AS FROM {NAME}")
    connection.execute("ROLLBACK")
    assert rows(connection) == []
    assert len(EVENT_COLUMNS) == len(COLUMNS)
