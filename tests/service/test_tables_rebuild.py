"""Tables made anew by a running server: told how far, one at a time, and whole or not at all."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import grpc
import pytest

from heptalog.analytics.keeping.place import current, folder_of
from heptalog.replay.errors import Code, Unavailable
from heptalog.service.client import AsyncClient, Rebuilding
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.space import Space
from heptalog.service.tables import serving
from heptalog.service.tables.process import Process
from heptalog.service.tables.room import check_room
from heptalog.service.tables.serving import Place
from heptalog.v1 import admin_pb2, admin_pb2_grpc
from tests.service.backing import grow
from tests.service.querying import rows, settings, tables_of, value, wait_until
from tests.support.serving import WAIT_SECONDS, Service

pytestmark = pytest.mark.usefixtures("lent_workers")
ALL = "SELECT * FROM turns ORDER BY ALL"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the log is."""
    return tmp_path / "log.duckdb"


@pytest.fixture
def service(path: Path) -> Iterator[Service]:
    """A running server with a few games."""
    with Service(DuckStore(path), settings=settings(path)) as running:
        grow(running.store)
        yield running


def generations(path: Path) -> list[str]:
    """What there is of tables, finished or not."""
    return sorted(found.name for found in folder_of(path).iterdir() if found.is_dir())


def test_new_tables_take_the_place_of_the_old_and_say_the_same(service: Service, path: Path) -> None:
    client = service.client()
    before, old = rows(client, ALL), current(folder_of(path))
    steps = list(client.rebuild_tables())
    size = service.store.position()
    assert steps[-1] == Rebuilding(size, size)
    assert all(step.position <= step.head == size for step in steps)
    assert rows(client, ALL) == before
    assert current(folder_of(path)) != old


def test_a_client_for_asyncio_hears_of_it_too(service: Service) -> None:
    async def rebuild(client: AsyncClient) -> list[Rebuilding]:
        return [step async for step in client.rebuild_tables()]

    size = service.store.position()
    assert service.asynchronous(rebuild)[-1] == Rebuilding(size, size)


@contextmanager
def rebuilding(service: Service) -> Iterator[Any]:
    """A call that stands in the middle of its work until the end of the block, and the tables that were before."""
    stub = admin_pb2_grpc.AdminServiceStub(service.channel())
    assert value(service.client(), "SELECT sum(events) FROM games") == service.store.position()
    with service.store.held_reading() as hold:
        call: Any = stub.RebuildTables(admin_pb2.RebuildTablesRequest(), timeout=WAIT_SECONDS)
        hold.wait_until_reached()
        yield call


def ended(call: Any) -> grpc.StatusCode:
    """How a call ends that must fail."""
    with pytest.raises(grpc.RpcError):
        list(call)
    code: grpc.StatusCode = call.code()
    return code


def test_while_it_lasts_the_old_ones_answer_and_nobody_else_begins(service: Service) -> None:
    client = service.client()
    before = rows(client, ALL)
    with rebuilding(service) as call:
        with pytest.raises(Unavailable) as caught:
            list(client.rebuild_tables())
        assert caught.value.code is Code.OVERLOADED
        assert rows(client, ALL) == before
    assert len(list(call)) >= 1


def test_who_goes_away_ends_it_and_nothing_is_left_of_it(service: Service, path: Path) -> None:
    tables = tables_of(service)
    with rebuilding(service) as call:
        before = current(folder_of(path))
        call.cancel()
        wait_until(service, lambda: not tables._is_rebuilding)
    assert list(service.client().rebuild_tables())
    assert current(folder_of(path)) != before
    assert value(service.client(), "SELECT sum(events) FROM games") == service.store.position()
    wait_until(service, lambda: len(generations(path)) == 1)


def test_who_goes_away_while_it_is_started_leaves_no_process(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tables_of(service)
    assert value(service.client(), "SELECT sum(events) FROM games") == service.store.position()
    starting, may_start = Event(), Event()
    start = tables._process

    def slowly(program: str) -> Process:
        starting.set()
        assert may_start.wait(WAIT_SECONDS)
        return start(program)

    monkeypatch.setattr(tables, "_process", slowly)

    async def leave() -> None:
        async def begin() -> None:
            await anext(tables.rebuild())

        leaving = asyncio.create_task(begin())
        while not starting.is_set():
            await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.sleep(0)
        may_start.set()
        with pytest.raises(asyncio.CancelledError):
            await leaving

    service.run(leave())
    assert not tables._is_rebuilding
    assert tables._building is not None
    assert tables._building._process.returncode is not None


def test_a_process_that_is_killed_fails_it_and_nothing_has_changed(service: Service) -> None:
    client = service.client()
    before = rows(client, ALL)
    with rebuilding(service) as call:
        building = tables_of(service)._building
        assert building is not None
        building.end()
        assert ended(call) is grpc.StatusCode.UNAVAILABLE
        assert rows(client, ALL) == before


def test_an_end_of_the_server_ends_it(path: Path) -> None:
    with Service(DuckStore(path), settings=settings(path, grace_seconds=0.0)) as service:
        grow(service.store)
        with rebuilding(service) as call:
            stopping = Thread(target=service.drain)
            stopping.start()
            assert ended(call) is grpc.StatusCode.UNAVAILABLE
        stopping.join(WAIT_SECONDS)
        assert not stopping.is_alive()


def test_it_ends_where_it_would_take_the_room_of_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nearly_full(folder: Path, reserve_bytes: int | None) -> None:
        check_room(folder, reserve_bytes, space=lambda _: Space(total=10 << 30, free=1 << 20))

    monkeypatch.setattr(serving, "check_room", nearly_full)
    with pytest.raises(Unavailable) as caught:
        Place("", str(tmp_path / "log.duckdb")).check_room()
    assert caught.value.code is Code.TABLES_BEHIND
