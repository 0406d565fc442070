"""Stores of either kind for the tests of evidence."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heptalog.service.store import LogStore
from tests.support.stores import STORES


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LogStore]:
    """A store of either kind."""
    made = STORES[request.param](tmp_path)
    yield made
    made.close()
