"""Services for tests: over memory, which is the fastest, and over every store where that could matter."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heptalog.analytics.asking import Workers
from heptalog.service.backup import parts, segments
from heptalog.service.store import LogStore
from heptalog.service.store.memory import MemoryStore
from tests.service.cutting import Proxy
from tests.service.following import GAMES_PLAYED, fill
from tests.support.serving import Service
from tests.support.stores import STORES


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
def played(store: LogStore) -> Iterator[Service]:
    """A server over either store with a dozen games, whose events alternate."""
    fill(store, GAMES_PLAYED)
    with Service(store) as running:
        yield running


@pytest.fixture
def proxy(service: Service) -> Iterator[Proxy]:
    """A proxy before the service."""
    with Proxy(service.server.port) as between:
        yield between


class Lent(Workers):
    """Workers that stay when the server is over that they were made for."""

    def close(self) -> None:
        pass

    def end(self) -> None:
        """End them."""
        super().close()


@pytest.fixture(scope="session")
def lent() -> Iterator[Lent]:
    """What answers, started once."""
    workers = Lent(niceness=0)
    yield workers
    workers.end()


@pytest.fixture
def lent_workers(lent: Lent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every server of this process asks them; to start and to end them is tested where that is what is tested."""
    monkeypatch.setattr("heptalog.service.tables.tables.Workers", lambda **_: lent)


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
