"""Streams of appends where one might wait for ever: servers that hold back, callbacks, streams not entered."""

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import AsyncClient, Client, flight
from tests.service.asking import check_record, new_game, notes, remark
from tests.support.serving import WAIT_SECONDS, Service


@pytest.fixture
def unread() -> Iterator[str]:
    """Where a server listens that takes a stream, and neither reads it nor answers."""
    is_over = threading.Event()

    def ignore(requests: Iterator[bytes], context: object) -> Iterator[bytes]:
        is_over.wait(WAIT_SECONDS)
        return iter(())

    server = grpc.server(ThreadPoolExecutor(1))
    handlers: dict[str, Any] = {"AppendStream": grpc.stream_stream_rpc_method_handler(ignore)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("heptalog.v1.LogService", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    is_over.set()
    server.stop(None).wait(WAIT_SECONDS)


@pytest.fixture
def silent() -> Iterator[str]:
    """Where connections are taken and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("where", ["unread", "silent"])
def test_a_server_that_holds_the_stream_back_does_not_hold_back_its_end(
    where: str, request: pytest.FixtureRequest
) -> None:
    target = request.getfixturevalue(where)
    threads_before = set(threading.enumerate())
    with Client(target, timeout=0.2) as client, client.stream() as stream:
        futures: list[Future[Receipt]] = []
        appends = (Append("game", number, (remark(f"n{number}", "x" * 10_000),)) for number in range(1_000))
        # More than may be on its way: the last one waits for room that never comes.
        with pytest.raises(Unavailable) as unavailable:
            futures.extend(map(stream.append, appends))
        assert unavailable.value.code is Code.DEADLINE_PASSED
        found = [future.exception(WAIT_SECONDS) for future in futures]
        stream.close()
        assert not [thread for thread in set(threading.enumerate()) - threads_before if "stream" in thread.name]
    assert {getattr(error, "code", None) for error in found} == {Code.DEADLINE_PASSED}


def test_a_callback_may_append_but_not_wait(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight, "EVENTS_MAX", 1)
    new_game(service.client())
    problems: list[str] = []
    further: Future[Future[Receipt]] = Future()

    with service.client().stream() as stream:

        def append_where_there_is_no_room(_: Future[Receipt]) -> None:
            with stream._changed:
                assert stream._changed.wait_for(lambda: stream._flight.is_full, WAIT_SECONDS)
            waits: tuple[Callable[[], object], ...] = (lambda: stream.append(notes(1, first=2)[0]), stream.close)
            for wait in waits:
                with pytest.raises(RuntimeError) as refused:
                    wait()
                problems.append(str(refused.value))

        def append_where_there_is_room(_: Future[Receipt]) -> None:
            further.set_result(stream.append(notes(1, first=2)[0]))

        with service.store.held() as hold:
            first = stream.append(notes(1)[0])
            first.add_done_callback(append_where_there_is_no_room)
            hold.wait_until_reached()
            hold.release()
        with service.store.held() as hold:
            # Taken once the first has its answer, whose callback goes on then.
            second = stream.append(notes(1, first=1)[0])
            second.add_done_callback(append_where_there_is_room)
            hold.wait_until_reached()
            hold.release()
        assert second.result(WAIT_SECONDS).head.sequence == 2
        assert further.result(WAIT_SECONDS).result(WAIT_SECONDS).head.sequence == 3
    assert len(problems) == len(set(problems)) == 2
    check_record(service.store, "game", 4)


def test_a_stream_that_is_not_entered_takes_nothing(service: Service) -> None:
    new_game(service.client())
    with pytest.raises(RuntimeError, match="not been entered"):
        service.client().stream().append(notes(1)[0])

    async def append_one(client: AsyncClient) -> None:
        with pytest.raises(RuntimeError, match="not been entered"):
            await client.stream().append(notes(1)[0])

    service.asynchronous(append_one)
    check_record(service.store, "game", 1)
