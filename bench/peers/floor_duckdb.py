"""DuckDB's own commit: the same facts into one table, as Arrow, without anything that we do to them."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow

from bench.peers.peer import Settings, answer, numbered
from bench.peers.shapes import Batch
from bench.peers.stores import Append, AppendsOnly, StorePeer


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
            connection.execute("CREATE TABLE events (stream TEXT, number BIGINT, kind TEXT, data BLOB)")
            yield _Database(connection)


class _Database(AppendsOnly):
    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def connected(self) -> Append:
        def append(batch: Batch) -> int:
            stream = str(batch.stream)
            facts = pyarrow.table(
                {
                    "stream": pyarrow.array([stream] * len(batch.facts)),
                    "number": pyarrow.array(range(batch.first, batch.first + len(batch.facts))),
                    "kind": pyarrow.array([fact.kind for fact in batch.facts]),
                    "data": pyarrow.array([fact.data for fact in batch.facts]),
                }
            )
            self._connection.register("facts", facts)
            self._connection.execute("INSERT INTO events FROM facts")
            return 0

        return append


if __name__ == "__main__":
    answer(DuckDBFloor)
