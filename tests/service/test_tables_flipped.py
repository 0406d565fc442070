"""A wrong number in a file of the tables, which reads as well as any, and the rounds that find it."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, Final

import duckdb
import pyarrow.parquet as pq
import pytest

from heptalog.analytics.keeping.place import folder_of
from heptalog.service.store.duck import DuckStore
from heptalog.service.tables import tables as keeping
from heptalog.service.tables.keeper import Keeper
from heptalog.service.tables.process import Process
from heptalog.service.tables.rounds import Rounds
from tests.service.asking import new_game
from tests.service.backing import grow
from tests.service.querying import settings, tables_of, value
from tests.support.serving import WAIT_SECONDS, Service

pytestmark = pytest.mark.usefixtures("lent_workers")
SUM: Final = "SELECT sum(events) FROM games"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log whose tables have been kept, and hold a wrong number that reads as well as any."""
    path = tmp_path / "log.duckdb"
    with Service(DuckStore(path), settings=settings(path)) as service:
        new_game(service.client())
        grow(service.store)
        assert value(service.client(), SUM) == service.store.position()
    _make_wrong(next(folder_of(path).rglob("games/**/*.parquet")))
    return path


def _make_wrong(path: Path) -> None:
    """Flip the first bit that changes how many events games have, and nothing that the engine would look at."""

    def events() -> object:
        with duckdb.connect() as connection:
            return connection.execute(f"SELECT sum(events) FROM '{path}'").fetchone()

    right, whole = events(), path.read_bytes()
    group = pq.ParquetFile(path).metadata.row_group(0)
    (column,) = (
        group.column(place) for place in range(group.num_columns) if group.column(place).path_in_schema == "events"
    )
    start = column.dictionary_page_offset or column.data_page_offset
    for place in range(start, start + column.total_compressed_size):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with suppress(duckdb.Error):
            if events() != right:
                return
    raise AssertionError("every bit is looked at: the engine has learned to")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Event:
    """A first round that begins at once, and the moment at which it has found something."""
    found = Event()
    make_anew = Keeper._make_anew

    def made_anew(keeper: Keeper, *given: Any) -> None:
        make_anew(keeper, *given)
        found.set()

    monkeypatch.setattr(Keeper, "_make_anew", made_anew)
    monkeypatch.setattr(keeping, "Rounds", partial(Rounds, first_seconds=0.0, pace_seconds=0.0))
    return found


def test_a_wrong_number_is_there_until_a_round_has_found_it(
    path: Path, at_once: Event, caplog: pytest.LogCaptureFixture
) -> None:
    with Service(DuckStore(path), settings=settings(path, tables_round_seconds=0.0)) as service:
        assert value(service.client(), SUM) != service.store.position(), "nobody has looked"
    with Service(DuckStore(path), settings=settings(path)) as service:
        assert at_once.wait(WAIT_SECONDS)
        assert value(service.client(), SUM) == service.store.position()
        assert caplog.text.count("are made anew") == 1


def test_who_is_killed_in_a_round_is_followed_by_one_that_finds_it(
    path: Path, at_once: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    scrub: Callable[[Keeper, Process], None] = Keeper._scrub

    def killing(keeper: Keeper, follower: Process) -> None:
        if not killed:
            killed.append(follower.number)
            os.kill(follower.number, signal.SIGKILL)
        scrub(keeper, follower)

    monkeypatch.setattr(Keeper, "_scrub", killing)
    with Service(DuckStore(path), settings=settings(path)) as service:
        assert at_once.wait(WAIT_SECONDS)
        assert value(service.client(), SUM) == service.store.position()
        assert tables_of(service)._keeper._follower is not None
    assert len(killed) == 1
