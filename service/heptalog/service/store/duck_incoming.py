"""How rows come to the engine: as Arrow batches, from sources that it is told of once, by statements prepared once.

The engine asks a registered source for its rows whenever a statement is run. To register anew what is to be written, or
to have a statement parsed, bound and optimized each time, would cost more than a small commit itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, cast

import duckdb
import pyarrow as pa
from msgspec import Struct


class Table(Struct, frozen=True):
    """What the engine is told once of rows for one table: how it knows them, and the statement that inserts them."""

    source: str  # the name by which `prepare` knows the rows
    row: pa.StructType
    prepare: str
    execute: str


class Rows(NamedTuple):
    """Rows that are to be inserted."""

    table: Table
    batch: pa.RecordBatch


class Incoming:
    """The rows that are inserted next, on a connection that does nothing but commit."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, tables: Sequence[Table]) -> None:
        """Make the connection ready.

        Its statements are planned without the optimizer, which finds nothing to do in them and takes half of their
        time. So it must not be asked anything: even the last position would be looked for in all of the log.
        """
        connection.execute("PRAGMA disable_optimizer")
        self._sources: Final = {table.source: _Source(pa.schema(list(table.row))) for table in tables}
        for table in tables:
            connection.register(table.source, self._sources[table.source])
        # Only once all are known: a statement that is older than the newest of them would be planned anew every time.
        for table in tables:
            connection.execute(table.prepare)

    def insert(self, connection: duckdb.DuckDBPyConnection, rows: Rows) -> None:
        """Insert these; `connection` is the one that was made ready."""
        source = self._sources[rows.table.source]
        source.batches = [rows.batch]
        try:
            connection.execute(rows.table.execute)
        finally:
            source.batches = []


def run_all(connection: duckdb.DuckDBPyConnection, statements: Sequence[Callable[[], object]]) -> None:
    """Run these in one transaction; where one fails it is for the caller to roll back."""
    if len(statements) == 1:
        # A statement is a transaction by itself, and to begin and end one takes a third of a small commit.
        statements[0]()
        return
    connection.execute("BEGIN")
    for run in statements:
        run()
    connection.execute("COMMIT")


def rows_of(table: Table, rows: Iterable[tuple[object, ...]]) -> Iterator[Rows]:
    """These rows, if there are any; for a few of them that is a third of the work of making each column."""
    if values := list(rows):
        structs = cast("pa.StructArray", pa.array(values, table.row))
        yield Rows(table, pa.RecordBatch.from_struct_array(structs))


def rows_in(table: Table, columns: Iterable["pa.Array[Any]"]) -> Rows:
    """Rows of these columns."""
    return Rows(table, pa.record_batch(list(columns), schema=pa.schema(list(table.row))))


class _Source:
    """Rows for one table, given as often as they are asked for."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema: Final = schema
        self.batches: list[pa.RecordBatch] = []

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """What it holds, once more from its beginning, as the Arrow PyCapsule interface has it."""
        reader = pa.RecordBatchReader.from_batches(self._schema, self.batches)
        capsule: object = reader.__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]
        return capsule
