"""The two stores under one contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heptalog.service.store import LogStore
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore


@pytest.fixture(params=["memory", "duck"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LogStore]:
    """An empty store of each kind."""
    store: LogStore = MemoryStore() if request.param == "memory" else DuckStore(tmp_path / "log.duckdb")
    yield store
    store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a database may be made."""
    return tmp_path / "log.duckdb"
