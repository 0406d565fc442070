"""Cut connections and restarted servers: clients ask again by themselves, and what they asked for is recorded once."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from heptalog.replay.errors import Code, Conflict, NotFound, Refused, Unavailable
from heptalog.replay.events import Event
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient
from heptalog.service.client.calls import Retries
from heptalog.service.store import Stored
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from heptalog.service.writer import Writer
from tests.service.asking import FOREIGN, ROCKS, check_record, new_game, remark
from tests.service.cutting import Cutter, Pauses, Proxy
from tests.support.serving import Service


def test_an_append_whose_answer_was_cut_off_is_recorded_once(service: Service, proxy: Proxy) -> None:
    new_game(service.client())
    Cutter(service, proxy)
    pauses = Pauses()
    client = pauses.client_of(service, proxy)
    receipt = client.append(Append("game", 0, (remark("a"), remark("b"))))
    assert (receipt.sequences, receipt.head.sequence, receipt.is_deduplicated) == ((1, 2), 2, True)
    assert pauses.seconds
    check_record(service.store, "game", 3)


def test_a_recorder_goes_on_after_a_cut(service: Service, proxy: Proxy) -> None:
    Cutter(service, proxy, times=2)
    pauses = Pauses()
    client = pauses.client_of(service, proxy)
    recorder = client.create_game(ROCKS)
    assert recorder.head.sequence == 0
    for number in range(1, 4):
        assert recorder.append(remark("", f"n{number}").body).head.sequence == number
    assert len(pauses.seconds) >= 2
    check_record(service.store, recorder.game_id, 4)


def test_the_client_for_asyncio_asks_again_too(service: Service, proxy: Proxy) -> None:
    Cutter(service, proxy, times=2)
    pauses = Pauses()

    async def play(client: AsyncClient) -> str:
        pauses.client = client
        recorder = await client.create_game(ROCKS)
        for number in range(1, 4):
            assert (await recorder.append(remark("", f"n{number}").body)).head.sequence == number
        return recorder.game_id

    game_id = service.asynchronous(play, target=proxy.target, attempts=20, pause=pauses.asynchronous)
    assert len(pauses.seconds) >= 2
    check_record(service.store, game_id, 4)


def test_patience_ends(service: Service, proxy: Proxy) -> None:
    new_game(service.client())
    seconds: list[float] = []
    client = service.client(target=proxy.target, attempts=3, pause=seconds.append)
    proxy.is_cut_after = lambda _: True
    with pytest.raises(Unavailable) as unreachable:
        client.append(Append("game", 0, (remark("a"),)))
    assert unreachable.value.code is Code.SERVER_UNREACHABLE
    assert len(seconds) == 2


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with Service(MemoryStore()) as service:
        client = service.client(target=f"127.0.0.1:{port}")
        with pytest.raises(Unavailable) as unreachable:
            client.game("game")
        assert unreachable.value.code is Code.SERVER_UNREACHABLE


def test_a_server_restarted_on_the_same_database_knows_a_retry(tmp_path: Path) -> None:
    path = tmp_path / "log.duckdb"
    running = [Service(DuckStore(path))]
    proxy = Proxy(running[0].server.port)
    new_game(running[0].client())
    Cutter(running[0], proxy)
    pauses = Pauses()

    def restart(seconds: float) -> None:
        if not pauses.seconds:
            running.pop().stop()
            running.append(Service(DuckStore(path)))
            proxy.port = running[0].server.port
        pauses(seconds)

    with Service(MemoryStore()) as keeper:
        client = pauses.client = keeper.client(target=proxy.target, attempts=20, pause=restart)
        receipt = client.append(Append("game", 0, (remark("a"), remark("b"))))
        assert (receipt.sequences, receipt.is_deduplicated) == ((1, 2), True)
        assert client.append(Append("game", 2, (remark("c"),))).head.position == 4
        check_record(client, "game", 4)
    proxy.close()
    running.pop().stop()


def test_draining_and_a_failed_write_are_tried_again(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    new_game(service.client())
    pauses: list[float] = []
    draining = service.app.writer
    draining.drain()

    def replace_writer(seconds: float) -> None:
        pauses.append(seconds)
        writer = Writer(service.store, service.app.positions._live, draining._handler, service.settings)
        monkeypatch.setattr(draining, "enqueue", writer.enqueue)
        monkeypatch.setattr(draining, "drain", writer.drain)
        writer.start()

    client = service.client(attempts=2, pause=replace_writer)
    assert client.append(Append("game", 0, (remark("a"),))).head.sequence == 1
    assert len(pauses) == 1
    service.store.failures.append(OSError("no space left"))
    client = service.client(attempts=2, pause=pauses.append)
    assert client.append(Append("game", 1, (remark("b"),))).head.sequence == 2
    assert len(pauses) == 2


def test_other_errors_are_told_at_once(service: Service) -> None:
    pauses: list[float] = []
    client = service.client(attempts=6, pause=pauses.append)
    new_game(client)
    with pytest.raises(Refused):
        client.append(Append("game", 0, (Event(0, FOREIGN),)))
    with pytest.raises(Conflict):
        client.append(Append("game", 3, (remark("a"),)))
    with pytest.raises(NotFound):
        client.game("none")
    with pytest.raises(NotFound):
        list(client.read("game", start=9))
    assert pauses == []


def test_pauses_double_up_to_the_longest() -> None:
    pauses = list(Retries(attempts=8, first_seconds=1.0, longest_seconds=4.0).pauses())
    assert len(pauses) == 7
    for pause, longest in zip(pauses, (1, 2, 4, 4, 4, 4, 4), strict=True):
        assert longest / 2 <= pause <= longest
    assert list(Retries(attempts=1).pauses()) == []


@pytest.mark.parametrize("is_backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("game_id", ["game", ""], ids=["one game", "all"])
@pytest.mark.parametrize("limit", [0, 1_000])
def test_reading_goes_on_after_a_cut(
    service: Service, proxy: Proxy, game_id: str, limit: int, is_backwards: bool
) -> None:
    filled(service)
    expected = list(service.client().read(game_id, limit=limit, is_backwards=is_backwards))
    pauses = Pauses()
    proxy.is_cut_after = cut_every(600_000, times=4)
    client = pauses.client_of(service, proxy)
    assert list(client.read(game_id, limit=limit, is_backwards=is_backwards)) == expected
    assert len(pauses.seconds) >= 2


def test_reading_with_asyncio_goes_on_after_a_cut(service: Service, proxy: Proxy) -> None:
    filled(service)
    expected = list(service.client().read("game"))
    proxy.is_cut_after = cut_every(600_000, times=4)
    pauses = Pauses()

    async def read(client: AsyncClient) -> list[Stored]:
        pauses.client = client
        return [stored async for stored in client.read("game")]

    assert service.asynchronous(read, target=proxy.target, attempts=20, pause=pauses.asynchronous) == expected
    assert len(pauses.seconds) >= 2


def filled(service: Service) -> None:
    """A game of more bytes than two messages hold."""
    client = service.client()
    new_game(client)
    for first in range(0, 1_200, 300):
        events = tuple(remark(f"n{number}", "x" * 2_500) for number in range(first, first + 300))
        client.append(Append("game", first, events))


def cut_every(size: int, *, times: int) -> Callable[[int], bool]:
    """Cut once so many bytes of answers have passed, so many times."""
    left = [times]

    def is_cut(answered: int) -> bool:
        if left[0] and answered > size:
            left[0] -= 1
            return True
        return False

    return is_cut
