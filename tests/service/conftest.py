"""Services for tests: over memory, which is the fastest, and over every store where that could matter."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heptalog.service.backup import parts, segments
from heptalog.service.store import LogStore
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from tests.support.serving import Service

STORES: dict[str, Callable[[Path], LogStore]] = {
    "memory": lambda _: MemoryStore(),
    "duck": lambda folder: DuckStore(folder / "log.duckdb"),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> LogStore:
    """A store of either kind; whoever serves it closes it."""
    return STORES[request.param](tmp_path)


@pytest.fixture
def service() -> Iterator[Service]:
    """A running server over memory."""
    with Service(MemoryStore()) as running:
        yield running


@pytest.fixture
def each_service(store: LogStore) -> Iterator[Service]:
    """A running server over either store."""
    with Service(store) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a backup goes."""
    return tmp_path / "backup"


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts and segments of a few rows each."""
    monkeypatch.setattr(parts, "PART_BYTES", 1_500)
    monkeypatch.setattr(parts, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 4_000)
