"""PostgreSQL, asked: the same rows in a database, indexed and analysed."""

from collections.abc import Sequence
from typing import Any

from bench.peers.databases import connect, server_version
from bench.peers.peer import Settings, answer
from bench.peers.questions import COLUMNS, INDEXES, QuestionPeer, table_of


class PostgresTables(QuestionPeer):
    """One connection to a server on this machine."""

    name = "PostgreSQL"
    note = "its default settings, so with parallel workers; indexed by game, VACUUM ANALYZE done; over a local socket"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.version = server_version(settings.postgres)
        self._connection = connect(settings.postgres)
        for name in COLUMNS:
            self._connection.execute(table_of(name))
            with self._connection.cursor().copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
                copy.write((settings.material / f"{name}.csv").read_bytes())
        for index in INDEXES:
            self._connection.execute(index)
        self._connection.execute("VACUUM ANALYZE")

    def asked(self, sql: str) -> Sequence[Sequence[Any]]:
        """Every row."""
        rows: Sequence[Sequence[Any]] = self._connection.execute(sql).fetchall()
        return rows


if __name__ == "__main__":
    answer(PostgresTables)
