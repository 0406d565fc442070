"""The Python library eventsourcing with PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager

from eventsourcing.postgres import (  # pyright: ignore[reportMissingImports] - in the environment of the peers
    PostgresApplicationRecorder,
    PostgresDatastore,
)

from bench.peers.cluster import USER
from bench.peers.databases import DURABLE, HOST, connect, new_database, server_version
from bench.peers.eventsourcing_stores import CALLERS_MAX, VERSION, RecorderStore
from bench.peers.peer import Settings, answer
from bench.peers.stores import StorePeer


class EventsourcingPostgres(StorePeer):
    """A recorder over a new database for every measurement."""

    name = "eventsourcing, PostgreSQL"
    note = (
        f"{DURABLE}; over a local socket of TCP; the recorder alone, a thread and a connection a caller; "
        "the key is (aggregate, version); no rules, no hashes"
    )

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.version = f"{VERSION}, PostgreSQL {server_version(settings.postgres)}"

    @contextmanager
    def opened(self) -> Iterator[RecorderStore]:
        """A recorder over a new database."""
        port = self.settings.postgres
        with new_database(port) as name, connect(port, name) as connection:
            datastore = PostgresDatastore(name, HOST, port, USER, "unused", pool_size=CALLERS_MAX, connect_timeout=60.0)
            recorder = PostgresApplicationRecorder(datastore)
            recorder.create_table()
            try:
                yield RecorderStore(recorder, lambda: connection.execute("VACUUM ANALYZE"))
            finally:
                datastore.close()


if __name__ == "__main__":
    answer(EventsourcingPostgres)
