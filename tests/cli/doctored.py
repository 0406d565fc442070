"""Databases that the doctor is shown, and what is done to them."""

import shutil
from pathlib import Path

import duckdb

from heptalog.service.store.duck import DuckStore
from tests.cli.running import Ended, run
from tests.contract.given import checkpoint_of, fill, game


def made(tmp_path: Path) -> Path:
    """A database with 24 events and a checkpoint, and beside it, in `older`, what it was after 12."""
    folder = tmp_path / "log"
    folder.mkdir()
    path = folder / "games.duckdb"
    store = DuckStore(path)
    fill(store, [game(1)])
    shutil.copytree(folder, tmp_path / "older")
    fill(store, [game(2)])
    store.keep_checkpoint(checkpoint_of(24, store.tree_head().root))
    store.close()
    return path


def beside(log: Path, name: str) -> Path:
    """A file that belongs to the database."""
    return log.with_name(f"{log.name}.{name}")


def alter(log: Path, statement: str) -> None:
    """Change a database behind our back."""
    with duckdb.connect(log) as connection:
        connection.execute(statement)


def older(log: Path) -> None:
    """Put an older copy in its place."""
    folder = log.parent.parent / "older"
    shutil.copy(folder / log.name, log)
    shutil.copy(folder / f"{log.name}.wal", beside(log, "wal"))


def files(log: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in log.parent.iterdir() if path.is_file()}


def doctor(log: Path, *arguments: object) -> Ended:
    """What it says, and that it has only looked."""
    before = files(log)
    ended = run("doctor", log, "--format", "json", *arguments)
    assert files(log) == before
    return ended
