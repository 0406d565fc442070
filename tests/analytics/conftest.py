"""What several tests of questions share: one snapshot, and the processes that answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heptalog.analytics.asking import Workers
from heptalog.analytics.snapshots import Snapshot
from tests.analytics.asking import snapshot_in


@pytest.fixture(scope="session")
def asked_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder around the files of `snapshot`."""
    return tmp_path_factory.mktemp("asked")


@pytest.fixture(scope="session")
def snapshot(asked_folder: Path) -> Snapshot:
    """A snapshot that nobody changes."""
    return snapshot_in(asked_folder)


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """Processes that answer; a test that ends them makes its own."""
    with Workers(niceness=0) as workers:
        yield workers
