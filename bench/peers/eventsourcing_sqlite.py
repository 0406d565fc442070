"""The Python library eventsourcing with SQLite."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from eventsourcing.sqlite import (  # pyright: ignore[reportMissingImports] - in the environment of the peers
    SQLiteApplicationRecorder,
    SQLiteDatastore,
)

from bench.peers.eventsourcing_stores import CALLERS_MAX, VERSION, RecorderStore
from bench.peers.peer import Settings, answer, numbered
from bench.peers.stores import StorePeer


class EventsourcingSQLite(StorePeer):
    """A recorder over a new database for every measurement."""

    name = "eventsourcing, SQLite"
    note = (
        "WAL and synchronous=FULL, its defaults: fsync before the answer; in process, no network; the recorder alone, "
        "a thread a caller; the key is (aggregate, version); no rules, no hashes"
    )
    version = f"{VERSION}, SQLite {sqlite3.sqlite_version}"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._folders = numbered(f"{settings.folder}/sqlite-")

    @contextmanager
    def opened(self) -> Iterator[RecorderStore]:
        """A recorder over a new database."""
        folder = next(self._folders)
        folder.mkdir()
        datastore = SQLiteDatastore(str(folder / "events.db"), pool_size=CALLERS_MAX, pool_timeout=60.0)
        recorder = SQLiteApplicationRecorder(datastore)
        recorder.create_table()
        with datastore.transaction(commit=False) as cursor:
            cursor.execute("PRAGMA synchronous")
            (synchronous,) = cursor.fetchone()
            cursor.execute("PRAGMA journal_mode")
            (journal,) = cursor.fetchone()
        assert (synchronous, journal) == (2, "wal"), "not as durable as ours"
        try:
            yield RecorderStore(recorder, lambda: None)
        finally:
            datastore.close()


if __name__ == "__main__":
    answer(EventsourcingSQLite)
