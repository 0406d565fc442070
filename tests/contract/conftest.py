"""The two stores under one contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heptalog.service.store import LogStore
from tests.support.stores import STORES


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LogStore]:
    """An empty store of each kind."""
    store = STORES[request.param](tmp_path)
    yield store
    store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a database may be made."""
    return tmp_path / "log.duckdb"
