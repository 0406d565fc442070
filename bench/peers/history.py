"""The history that engines are asked about: simulated seasons, their tables, and the rows as text for the others."""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
from msgspec import json as structs

from bench.peers.questions import COLUMNS
from heptalog.analytics.snapshots import attach
from heptalog.cli.tables import tables_of


def write_history(folder: Path, games: int) -> int:
    """Simulate so many games, and give how many events they have."""
    database = folder / "history.duckdb"
    command = [sys.executable, "-m", "heptalog.cli", "simulate", str(database), "--games", str(games), "--seed", "2026"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with tables_of(database) as snapshot, duckdb.connect() as connection:
        # The tables lie beside the database and stay there.
        (folder / "snapshot.json").write_bytes(structs.encode(snapshot))
        attach(connection, snapshot, COLUMNS)
        for name, columns in COLUMNS.items():
            # Not every engine reads the words for true and false.
            listed = ", ".join(
                f"CAST({column} AS INTEGER)" if kind == "BOOLEAN" else column for column, kind in columns.items()
            )
            connection.execute(f"COPY (SELECT {listed} FROM {name}) TO '{folder / name}.csv' (HEADER false)")
        ids = connection.execute("SELECT game_id FROM games ORDER BY hash(game_number)").fetchall()
        (folder / "game_ids.json").write_text(json.dumps([game_id for (game_id,) in ids]))
        return snapshot.position
