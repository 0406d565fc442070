"""What tests of the program start with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heptalog.service.store.memory import MemoryStore
from tests.cli.given import bare, write
from tests.cli.running import run
from tests.support.serving import Service


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """A good game of Seven Up in a file."""
    return write(tmp_path / "game.jsonl", bare())


@pytest.fixture
def database(tmp_path: Path, game: Path) -> Path:
    """A database with that game."""
    path = tmp_path / "games.duckdb"
    assert run("import", game, "--into", path).code == 0
    return path


@pytest.fixture
def server() -> Iterator[str]:
    """A running server without games, as `grpc://HOST:PORT`."""
    with Service(MemoryStore()) as service:
        yield f"grpc://{service.target}"
