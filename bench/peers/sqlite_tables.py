"""SQLite, asked: the same rows in a file, indexed and analysed."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from bench.peers.peer import Settings, answer
from bench.peers.questions import COLUMNS, INDEXES, QuestionPeer, rows_of, table_of


class SQLiteTables(QuestionPeer):
    """One connection in this process."""

    name = "SQLite"
    note = "indexed by game, ANALYZE done; in process, one thread"
    version = sqlite3.sqlite_version

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._connection = sqlite3.connect(settings.folder / "tables.sqlite")
        with self._connection as connection:
            for name, columns in COLUMNS.items():
                connection.execute(table_of(name))
                places = ", ".join("?" * len(columns))
                connection.executemany(f"INSERT INTO {name} VALUES ({places})", rows_of(settings.material, name))
            for index in INDEXES:
                connection.execute(index)
            connection.execute("ANALYZE")

    def asked(self, sql: str) -> Sequence[Sequence[Any]]:
        """Every row."""
        return self._connection.execute(sql).fetchall()


if __name__ == "__main__":
    answer(SQLiteTables)
