"""Stores of either kind for the tests of evidence."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heptalog.service.store import LogStore
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore

STORES: dict[str, Callable[[Path], LogStore]] = {
    "memory": lambda _: MemoryStore(),
    "duck": lambda folder: DuckStore(folder / "log.duckdb"),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LogStore]:
    """A store of either kind."""
    made = STORES[request.param](tmp_path)
    yield made
    made.close()
