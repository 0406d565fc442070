"""message-db: a message store of functions inside PostgreSQL, installed from the SQL that its package holds."""

import json
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg  # pyright: ignore[reportMissingImports] - in the environment of the peers

from bench.peers.databases import DURABLE, connect, new_database, server_version
from bench.peers.peer import Absent, Settings, answer
from bench.peers.shapes import Batch
from bench.peers.stores import Append, StorePeer

PACKAGE: Final = Path(sys.prefix) / "node_modules" / "@eventide" / "message-db"
# The order of its own installer.
SCRIPTS: Final = (
    "schema/message-store",
    "extensions/pgcrypto",
    "tables/messages",
    "types/message",
    "functions/message-store-version",
    "functions/hash-64",
    "functions/acquire-lock",
    "functions/category",
    "functions/is-category",
    "functions/id",
    "functions/cardinal-id",
    "functions/stream-version",
    "functions/write-message",
    "functions/get-stream-messages",
    "functions/get-category-messages",
    "functions/get-last-stream-message",
    "indexes/messages-id",
    "indexes/messages-stream",
    "indexes/messages-category",
)
_WRITE: Final = "SELECT write_message(%s, %s, %s, %s, NULL, %s)"
_PAGE_SIZE: Final = 1000


class MessageDB(StorePeer):
    """Its functions in a new database for every measurement."""

    name = "message-db"
    note = (
        f"{DURABLE}; over a local socket of TCP, a thread and a connection a caller; every message has the stream's "
        "expected version; events as JSON; a batch is as many calls, pipelined in one transaction; no rules, no hashes"
    )

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if not PACKAGE.exists():
            raise Absent("its package was not installed: npm is needed")
        package = json.loads((PACKAGE / "package.json").read_text())["version"]
        self.version = f"{package}, PostgreSQL {server_version(settings.postgres)}"

    @contextmanager
    def opened(self) -> Iterator["_Database"]:
        """A new database with its functions."""
        port = self.settings.postgres
        with new_database(port) as name:
            with connect(port, name) as connection:
                connection.execute(f"ALTER DATABASE {name} SET search_path TO message_store, public")
            with connect(port, name) as connection:
                for script in SCRIPTS:
                    connection.execute((PACKAGE / "database" / f"{script}.sql").read_bytes())
            yield _Database(port, name)


class _Database:
    def __init__(self, port: int, name: str) -> None:
        self._port = port
        self._name = name
        self._reader = connect(port, name)

    def connected(self) -> Append:
        connection = connect(self._port, self._name)

        def append(batch: Batch) -> int:
            stream = f"game-{batch.stream}"
            rows = [
                (str(uuid.uuid4()), stream, fact.kind, fact.json, batch.first + place - 1)
                for place, fact in enumerate(batch.facts)
            ]
            if len(rows) == 1:
                connection.execute(_WRITE, rows[0])
            else:
                with connection.transaction(), connection.cursor() as cursor:
                    cursor.executemany(_WRITE, rows)
            return batch.first + len(rows) - 1

        return append

    def settle(self) -> None:
        """Have the statistics that autovacuum makes in time."""
        self._reader.execute("VACUUM ANALYZE")

    def read_all(self) -> int:
        """The category of all games, page by page."""
        total = position = 0
        while rows := self._rows("get_category_messages", "game", position + 1):
            total += len(rows)
            position = rows[-1][4]
        return total

    def read_one(self, stream: uuid.UUID) -> int:
        """One game's messages, page by page."""
        total = 0
        while rows := self._rows("get_stream_messages", f"game-{stream}", total):
            total += len(rows)
        return total

    def _rows(self, function: str, name: str, position: int) -> "list[psycopg.rows.TupleRow]":
        sql = f"SELECT * FROM {function}(%s, %s, {_PAGE_SIZE})"
        rows: list[psycopg.rows.TupleRow] = self._reader.execute(sql, (name, position)).fetchall()
        return rows


if __name__ == "__main__":
    answer(MessageDB)
