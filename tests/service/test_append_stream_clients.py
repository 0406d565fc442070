"""Streams of appends in both clients: many on their way, going on after cuts, drains and failed commits."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from heptalog.replay.errors import Code, Conflict, HeptalogError, Malformed, Refused, Unavailable
from heptalog.replay.events import Event, NoteAdded
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import AsyncClient, flight
from heptalog.service.client.calls import Retries
from heptalog.service.client.line import Line
from heptalog.service.client.streams import AppendStream
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import FOREIGN, check_positions, check_record, hold_writer, new_game, notes, remark
from tests.service.cutting import Cutter, Pauses, Proxy
from tests.support.serving import WAIT_SECONDS, Service


def outcomes(futures: list[Future[Receipt]]) -> list[Receipt | HeptalogError]:
    """What came of each."""
    found: list[Receipt | HeptalogError] = []
    for future in futures:
        error = future.exception(WAIT_SECONDS)
        assert error is None or isinstance(error, HeptalogError)
        found.append(future.result() if error is None else error)
    return found


Streaming = Callable[[Service, list[Append]], list[Receipt | HeptalogError]]


def by_threads(service: Service, appends: list[Append]) -> list[Receipt | HeptalogError]:
    """All of these on one stream of the client for threads."""
    with service.client().stream() as stream:
        futures = [stream.append(append) for append in appends]
    return outcomes(futures)


def by_asyncio(service: Service, appends: list[Append]) -> list[Receipt | HeptalogError]:
    """All of these on one stream of the client for asyncio."""

    async def append_all(client: AsyncClient) -> list[Any]:
        async with client.stream() as stream:
            futures = [await stream.append(append) for append in appends]
        return await asyncio.gather(*futures, return_exceptions=True)

    return service.asynchronous(append_all)


@pytest.mark.parametrize("append_all", [by_threads, by_asyncio])
def test_many_are_on_their_way_and_each_has_its_own_outcome(each_service: Service, append_all: Streaming) -> None:
    new_game(each_service.client())
    appends = notes(300)
    appends[100:100] = [
        Append("game", 100, (Event(0, FOREIGN),)),
        Append("game", 7, (remark("late"),)),
        Append("game", 0, (remark("n0"),)),
    ]
    found = append_all(each_service, appends)
    refused, late, again = found[100:103]
    del found[100:103]
    assert isinstance(refused, Refused)
    assert refused.facts["game_id"] == "game"
    assert isinstance(late, Conflict)
    assert (late.code, late.facts["expected"], late.facts["actual"]) == (Code.SEQUENCE_MISMATCH, 7, 100)
    assert isinstance(again, Receipt)
    assert (again.is_deduplicated, again.sequences) == (True, (1,))
    assert [receipt.head.sequence for receipt in found if isinstance(receipt, Receipt)] == list(range(1, 301))
    check_record(each_service.client(), "game", 301)


def test_leaving_a_stream_waits_for_all_answers(service: Service) -> None:
    new_game(service.client())
    with service.client().stream() as stream:
        futures = [stream.append(append) for append in notes(50)]
    assert all(future.done() for future in futures)
    stream.close()
    with pytest.raises(Unavailable):
        stream.append(notes(1, first=50)[0])


def test_a_stream_may_be_left_without_a_word(service: Service) -> None:
    with service.client().stream() as stream:
        pass
    with pytest.raises(Unavailable) as left:
        stream.append(notes(1)[0])
    assert left.value.code is Code.SERVER_UNREACHABLE

    async def leave(client: AsyncClient) -> Code:
        async with client.stream() as stream:
            pass
        with pytest.raises(Unavailable) as left:
            await stream.append(notes(1)[0])
        return left.value.code

    assert service.asynchronous(leave) is Code.SERVER_UNREACHABLE
    assert service.store.commits == []


def test_whoever_has_more_than_may_be_on_its_way_waits(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight, "EVENTS_MAX", 3)
    new_game(service.client())
    futures: list[Future[Receipt]] = []
    with service.store.held() as hold, service.client().stream() as stream:

        def append_all() -> None:
            futures.extend(stream.append(append) for append in notes(10))

        appending = Thread(target=append_all)
        appending.start()
        hold.wait_until_reached()
        with stream._changed:
            assert stream._changed.wait_for(lambda: stream._flight.is_full, WAIT_SECONDS)
        assert len(stream._flight) == 3
        hold.release()
        appending.join(WAIT_SECONDS)
    assert [receipt.head.sequence for receipt in map(Future.result, futures)] == list(range(1, 11))


def test_whoever_has_more_waits_with_asyncio_too(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight, "EVENTS_MAX", 3)
    new_game(service.client())
    assert [isinstance(outcome, Receipt) for outcome in by_asyncio(service, notes(30))] == [True] * 30


def test_what_no_message_has_room_for_is_refused_at_once(service: Service) -> None:
    new_game(service.client())
    large = Append("game", 0, tuple(Event(0, NoteAdded("x" * 200_000)) for _ in range(22)))
    with service.client().stream() as stream:
        with pytest.raises(Malformed) as malformed:
            stream.append(large)
        assert malformed.value.code is Code.EVENT_TOO_LARGE
        assert stream.append(notes(1)[0]).result(WAIT_SECONDS).head.sequence == 1
        # Large ones that fit go by themselves.
        fitting = [Append("game", at, (Event(0, NoteAdded("x" * 200_000)),) * 19) for at in (1, 20, 39)]
        futures = [stream.append(append) for append in fitting]
    assert [receipt.head.sequence for receipt in map(Future.result, futures)] == [20, 39, 58]


def test_a_stream_goes_on_after_cuts_and_nothing_is_recorded_twice(service: Service, proxy: Proxy) -> None:
    new_game(service.client())
    Cutter(service, proxy, times=4)
    pauses = Pauses()
    client = pauses.client_of(service, proxy)
    with client.stream() as stream:
        futures = [stream.append(append) for append in notes(200)]
        futures.append(stream.append(Append("game", 3, (remark("late"),))))
        for append in notes(200, first=200):
            futures.append(stream.append(append))
            futures[-1].result(WAIT_SECONDS)
    found = outcomes(futures)
    assert isinstance(found.pop(200), Conflict)
    assert [receipt.head.sequence for receipt in found if isinstance(receipt, Receipt)] == list(range(1, 401))
    assert any(isinstance(receipt, Receipt) and receipt.is_deduplicated for receipt in found)
    assert pauses.seconds
    check_record(service.store, "game", 401)


def test_a_stream_goes_on_after_cuts_with_asyncio_too(service: Service, proxy: Proxy) -> None:
    new_game(service.client())
    Cutter(service, proxy, times=4)
    pauses = Pauses()

    async def append_all(client: AsyncClient) -> list[Receipt]:
        pauses.client = client
        async with client.stream() as stream:
            futures = [await stream.append(append) for append in notes(200)]
            for append in notes(200, first=200):
                await (await stream.append(append))
        return await asyncio.gather(*futures)

    receipts = service.asynchronous(append_all, target=proxy.target, attempts=20, pause=pauses.asynchronous)
    assert [receipt.head.sequence for receipt in receipts] == list(range(1, 201))
    assert pauses.seconds
    check_record(service.store, "game", 401)


def test_a_failed_commit_is_tried_again_in_order(service: Service) -> None:
    new_game(service.client())
    seconds: list[float] = []
    with service.client(attempts=5, pause=seconds.append).stream() as stream, service.store.held() as hold:
        futures = [stream.append(append) for append in notes(1)]
        hold.wait_until_reached()
        service.store.failures.append(OSError("no space left"))
        futures += [stream.append(append) for append in notes(30, first=1)]
        hold.release()
    assert [receipt.head.sequence for receipt in map(Future.result, futures)] == list(range(1, 32))
    assert seconds
    check_record(service.store, "game", 32)


def test_patience_ends_and_everybody_is_told(service: Service, proxy: Proxy) -> None:
    new_game(service.client())
    seconds: list[float] = []
    client = service.client(target=proxy.target, attempts=3, pause=seconds.append)
    proxy.is_cut_after = lambda _: True
    with client.stream() as stream:
        futures = [stream.append(append) for append in notes(3)]
        for future in futures:
            with pytest.raises(Unavailable) as unreachable:
                future.result(WAIT_SECONDS)
            assert unreachable.value.code is Code.SERVER_UNREACHABLE
        assert len(seconds) == 2
        with pytest.raises(Unavailable):
            stream.append(notes(1, first=3)[0])


def test_patience_ends_with_asyncio_too(service: Service, proxy: Proxy) -> None:
    new_game(service.client())
    seconds: list[float] = []

    async def pause(number: float) -> None:
        seconds.append(number)

    async def append_all(client: AsyncClient) -> list[Any]:
        async with client.stream() as stream:
            futures = [await stream.append(append) for append in notes(3)]
            found = await asyncio.gather(*futures, return_exceptions=True)
            with pytest.raises(Unavailable):
                await stream.append(notes(1, first=3)[0])
        return found

    proxy.is_cut_after = lambda _: True
    found = service.asynchronous(append_all, target=proxy.target, attempts=3, pause=pause)
    assert [getattr(error, "code", None) for error in found] == [Code.SERVER_UNREACHABLE] * 3
    assert len({id(error) for error in found}) == 3
    assert len(seconds) == 2


def test_a_stream_on_which_no_answer_comes_ends(service: Service) -> None:
    new_game(service.client())
    with service.store.held() as hold:
        hold_writer(service, hold)
        with service.client(timeout=0.5, attempts=5).stream() as stream:
            found = outcomes([stream.append(append) for append in notes(2)])
        assert [getattr(error, "code", None) for error in found] == [Code.DEADLINE_PASSED] * 2


def test_a_stream_on_which_no_answer_comes_ends_with_asyncio_too(service: Service) -> None:
    new_game(service.client())
    with service.store.held() as hold:
        hold_writer(service, hold)

        async def append_all() -> list[Any]:
            async with AsyncClient(service.target, timeout=0.5) as client, client.stream() as stream:
                futures = [await stream.append(append) for append in notes(2)]
                return await asyncio.gather(*futures, return_exceptions=True)

        found = asyncio.run(append_all())
    assert [getattr(error, "code", None) for error in found] == [Code.DEADLINE_PASSED] * 2


def test_a_stream_goes_on_at_the_next_server_after_a_drain(tmp_path: Path) -> None:
    path = tmp_path / "log.duckdb"
    running = [Service(DuckStore(path))]
    proxy = Proxy(running[0].server.port)
    new_game(running[0].client())
    stopping = Thread(target=running[0].drain)
    restarts: list[float] = []

    def restart(seconds: float) -> None:
        restarts.append(seconds)
        if len(running) < 2:
            stopping.join(WAIT_SECONDS)
            running[0].stop()
            running.append(Service(DuckStore(path)))
            proxy.port = running[1].server.port

    with Service(MemoryStore()) as keeper:
        client = keeper.client(target=proxy.target, attempts=20, pause=restart)
        with client.stream() as stream:
            futures = [stream.append(append) for append in notes(20)]
            futures[-1].result(WAIT_SECONDS)
            with running[0].store.held() as hold:
                futures.append(stream.append(notes(1, first=20)[0]))
                hold.wait_until_reached()
                stopping.start()
            futures += [stream.append(append) for append in notes(20, first=21)]
        assert [receipt.head.sequence for receipt in map(Future.result, futures)] == list(range(1, 42))
        assert restarts
        check_record(client, "game", 41 + 1)
        check_positions(client, 42)
    proxy.close()
    running[-1].stop()


def test_many_threads_may_share_a_stream(service: Service) -> None:
    client = service.client()
    games = [f"game-{number}" for number in range(8)]
    for game_id in games:
        new_game(client, game_id)
    futures: dict[str, list[Future[Receipt]]] = {game_id: [] for game_id in games}
    with client.stream() as stream:
        threads = [
            Thread(
                target=lambda game_id=game_id: futures[game_id].extend(map(stream.append, notes(60, game_id=game_id)))
            )
            for game_id in games
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_SECONDS)
    for game_id in games:
        assert [future.result().head.sequence for future in futures[game_id]] == list(range(1, 61))
        check_record(service.store, game_id, 61)


def test_our_own_bug_in_a_stream_leaves_nobody_waiting() -> None:
    def broken(*_: object, **__: object) -> Any:
        raise ZeroDivisionError

    stream = AppendStream(broken, Line(""), 1.0, Retries(), lambda _: None)
    serve = stream._run

    def swallow() -> None:
        with pytest.raises(ZeroDivisionError):
            serve()

    stream._thread = Thread(target=swallow)
    with stream:
        future = stream.append(notes(1)[0])
        with pytest.raises(Unavailable):
            future.result(WAIT_SECONDS)


def test_a_future_that_is_cancelled_bothers_nobody(service: Service) -> None:
    new_game(service.client())

    async def append_all(client: AsyncClient) -> list[Any]:
        async with client.stream() as stream:
            futures: list[Awaitable[Receipt]] = []
            for number, append in enumerate(notes(20)):
                future = await stream.append(append)
                if number % 2:
                    future.cancel()
                else:
                    futures.append(future)
        return await asyncio.gather(*futures)

    receipts = service.asynchronous(append_all)
    assert [receipt.head.sequence for receipt in receipts] == list(range(1, 21, 2))
    check_record(service.store, "game", 21)
