"""Feeds whose connection ends: cut, drained, or with their server; whoever goes on misses nothing, and hears of it."""

import asyncio
import socket
from collections.abc import Iterator

import grpc
import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient, CaughtUp, FeedEvent, FeedFilter, FeedMessage, Heartbeat
from heptalog.service.config import Settings
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import log_pb2
from tests.service.asking import failure_of, log_stub, new_game, remark
from tests.service.cutting import Pauses, Proxy
from tests.service.following import TOTAL, check_whole, events_in, until_caught_up
from tests.support.serving import Service


@pytest.mark.parametrize("asked", [FeedFilter(), FeedFilter(tournament="spring")], ids=str)
def test_after_a_cut_connection_all_is_told_once(played: Service, asked: FeedFilter) -> None:
    with Proxy(played.server.port) as proxy:
        cuts = iter(range(20_000, 400_000, 20_000))
        next_cut = next(cuts)

        def is_cut(answered: int) -> bool:
            nonlocal next_cut
            if answered < next_cut:
                return False
            next_cut = next(cuts)
            return True

        proxy.is_cut_after = is_cut
        messages = until_caught_up(Pauses().client_of(played, proxy).subscribe(asked))
        assert proxy.connection_count > 2
    check_whole(messages)
    assert messages[-1] == CaughtUp(TOTAL)
    assert events_in(messages) == events_in(until_caught_up(played.client().subscribe(asked)))


def test_what_is_recorded_while_nobody_listens_is_told_after(service: Service, proxy: Proxy) -> None:
    listener, writer = Pauses().client_of(service, proxy), service.client()
    new_game(writer, "one")
    feed = listener.subscribe()
    assert [event.sequence for event in events_in(until_caught_up(feed))] == [0]
    for number in range(5):
        proxy.cut()
        writer.append(Append("one", number, (remark(f"r{number}"),)))
        (event,) = those_told(feed, 1)
        assert event.sequence == number + 1


def those_told(feed: Iterator[FeedMessage], count: int) -> list[FeedEvent]:
    """So many events that come next, whatever else does."""
    events: list[FeedEvent] = []
    while len(events) < count:
        events += events_in([next(feed)])
    return events


def test_a_server_that_drains_ends_its_feeds(service: Service) -> None:
    client = service.client()
    new_game(client, "one")
    feeds = [client.subscribe(), client.subscribe(FeedFilter(game_id="one"))]
    for feed in feeds:
        until_caught_up(feed)
    bare = log_stub(service).Subscribe(log_pb2.SubscribeRequest(after_position=1), timeout=30)
    assert next(bare).WhichOneof("message") == "caught_up"
    service.drain()
    for feed in feeds:
        with pytest.raises(Unavailable) as caught:
            next(feed)
        assert caught.value.code is Code.DRAINING
    with pytest.raises(grpc.RpcError) as ended:
        next(bare)
    assert (failure_of(ended.value).code.name, failure_of(ended.value).reason) == ("UNAVAILABLE", "DRAINING")


def test_a_feed_goes_on_at_the_next_server(service: Service, proxy: Proxy) -> None:
    store = service.store.inner
    listener = Pauses().client_of(service, proxy)
    new_game(service.client(), "one")
    feed = listener.subscribe()
    until_caught_up(feed)
    store_close, store.close = store.close, lambda: None  # type: ignore[method-assign]  # the next one has it
    service.drain()
    with Service(store) as other:
        store.close = store_close  # type: ignore[method-assign]
        proxy.port = other.server.port
        proxy.cut()
        other.client().append(Append("one", 0, (remark("r"),)))
        (event,) = those_told(feed, 1)
        assert (event.game_id, event.sequence, event.position) == ("one", 1, 2)


@pytest.mark.parametrize("is_patient", [True, False])
def test_a_feed_waits_for_a_server_that_is_away(service: Service, proxy: Proxy, is_patient: bool) -> None:
    waited: list[float] = []

    def pause(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 10:
            proxy.port = service.server.port

    client = service.client(target=proxy.target, attempts=3, pause=pause)
    new_game(service.client(), "one")
    feed = client.subscribe(is_patient=is_patient)
    assert [event.sequence for event in events_in(until_caught_up(feed))] == [0]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy.port = listener.getsockname()[1]
    proxy.cut()
    service.client().append(Append("one", 0, (remark("r"),)))
    if is_patient:
        assert those_told(feed, 1)[0].sequence == 1
        assert len(waited) >= 10
    else:
        with pytest.raises(Unavailable):
            next(feed)
        assert len(waited) == 2


def test_who_has_told_nothing_yet_is_not_waited_for(service: Service) -> None:
    waited: list[float] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        target = f"127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(Unavailable):
        next(service.client(target=target, attempts=3, pause=waited.append).subscribe())
    assert len(waited) == 2


def test_a_client_that_is_closed_ends_its_feeds(service: Service) -> None:
    client = service.client()
    feed = client.subscribe()
    assert next(feed) == CaughtUp(0)
    client.close()
    with pytest.raises(Unavailable, match="the client is closed"):
        next(feed)


def test_an_asyncio_client_that_is_closed_ends_its_feeds(service: Service) -> None:
    async def closed(client: AsyncClient) -> None:
        feed = client.subscribe()
        assert await anext(feed) == CaughtUp(0)
        waiting = asyncio.ensure_future(anext(feed))
        await asyncio.sleep(0)
        await client.close()
        with pytest.raises(Unavailable, match="the client is closed"):
            await waiting

    service.asynchronous(closed)


def test_a_feed_that_is_cancelled_is_over(service: Service) -> None:
    async def cancelled(client: AsyncClient) -> None:
        feed = client.subscribe()
        assert await anext(feed) == CaughtUp(0)
        waiting = asyncio.ensure_future(anext(feed))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    service.asynchronous(cancelled)


def test_a_feed_outlives_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    with Service(MemoryStore(), settings=Settings("", heartbeat_seconds=0.001)) as service:
        # A call may well end before anything comes, and each time that is one attempt.
        client = service.client(attempts=1_000, pause=lambda _: None)
        monkeypatch.setattr("heptalog.service.client.calls.READ_TIMEOUT_SECONDS", 0.2)
        feed = client.subscribe()
        kinds = [type(next(feed))]
        # Each deadline begins a call anew, which says again that there is nothing.
        while kinds.count(CaughtUp) < 3:
            kinds.append(type(next(feed)))
        assert set(kinds) == {CaughtUp, Heartbeat}
        new_game(client, "one")
        assert those_told(feed, 1)[0].game_id == "one"
