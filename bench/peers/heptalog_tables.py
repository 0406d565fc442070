"""Ourselves, asked: DuckDB over the Parquet tables that follow the log."""

import os
from collections.abc import Sequence
from typing import Any

import duckdb
from msgspec import json

from bench.peers.peer import Settings, answer
from bench.peers.questions import COLUMNS, QuestionPeer
from heptalog.analytics.snapshots import Snapshot, attach


class HeptalogTables(QuestionPeer):
    """The engine of a question, without the process and the walls around it."""

    name = "Heptalog's tables"
    note = (
        f"DuckDB over Parquet files, {os.cpu_count()} threads, no index; in process, without the sandbox of the service"
    )
    version = f"DuckDB {duckdb.__version__}"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        snapshot = json.decode((settings.material / "snapshot.json").read_bytes(), type=Snapshot)
        self._connection = duckdb.connect()
        attach(self._connection, snapshot, COLUMNS)

    def asked(self, sql: str) -> Sequence[Sequence[Any]]:
        """Every row."""
        return self._connection.execute(sql).fetchall()


if __name__ == "__main__":
    answer(HeptalogTables)
