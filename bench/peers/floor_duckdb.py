"""DuckDB's own commit: the same facts into one table, as Arrow, without anything that we do to them.

In the cheapest way known: a statement planned once, without the optimizer, that is a transaction by itself; one thread.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import duckdb
import pyarrow

from bench.peers.peer import Settings, answer, numbered
from bench.peers.shapes import Batch
from bench.peers.stores import Append, AppendsOnly, StorePeer

_TYPES: Final[dict[str, pyarrow.DataType]] = {
    "stream": pyarrow.string(),
    "number": pyarrow.int64(),
    "kind": pyarrow.string(),
    "data": pyarrow.binary(),
}
_COLUMNS: Final = pyarrow.schema(_TYPES)


class DuckDBFloor(StorePeer):
    """A new database for every measurement."""

    name = "DuckDB"
    note = "fdatasync before the answer, its default; in process, no network; one table, no key, no condition"
    version = duckdb.__version__
    works = tuple(work for work in StorePeer.works if work.endswith("1 caller"))

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._paths = numbered(f"{settings.folder}/duckdb-")

    @contextmanager
    def opened(self) -> Iterator["_Database"]:
        """A new database."""
        with duckdb.connect(next(self._paths)) as connection:
            yield _Database(connection)


class _Database(AppendsOnly):
    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._facts = _Facts()
        connection.execute("CREATE TABLE events (stream TEXT, number BIGINT, kind TEXT, data BLOB)")
        connection.execute("SET threads = 1")
        connection.execute("PRAGMA disable_optimizer")
        connection.register("facts", self._facts)
        connection.execute("PREPARE append AS INSERT INTO events FROM facts")

    def connected(self) -> Append:
        def append(batch: Batch) -> int:
            columns: dict[str, Any] = {
                "stream": [str(batch.stream)] * len(batch.facts),
                "number": range(batch.first, batch.first + len(batch.facts)),
                "kind": [fact.kind for fact in batch.facts],
                "data": [fact.data for fact in batch.facts],
            }
            self._facts.batches = [pyarrow.RecordBatch.from_pydict(columns, schema=_COLUMNS)]
            self._connection.execute("EXECUTE append")
            return 0

        return append


class _Facts:
    """What is appended next."""

    def __init__(self) -> None:
        self.batches: list[pyarrow.RecordBatch] = []

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        reader: Any = pyarrow.RecordBatchReader.from_batches(_COLUMNS, self.batches)
        return reader.__arrow_c_stream__(requested_schema)


if __name__ == "__main__":
    answer(DuckDBFloor)
