"""Calls that are shared, where something becomes of the process: it forks, is signalled, has no more threads."""

import asyncio
import os
from collections.abc import Callable, Iterator
from threading import Event, Thread
from typing import Any

import grpc
import pytest

from heptalog.replay import events
from heptalog.replay.errors import HeptalogError
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import AsyncClient, async_joined, joined, joint
from heptalog.service.client.calls import append_request
from heptalog.service.client.joined import JoinedAppends
from heptalog.service.client.joint import AppendRequest
from heptalog.service.store import NO_GAME, Head
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import ROCKS, notes
from tests.service.calling import accompany, async_outcome, games, outcome
from tests.support.serving import WAIT_SECONDS, Service

RECEIPT = Receipt("game", Head(0, b"", 0), (0,))
(APPEND,) = notes(1)
REQUEST = append_request(APPEND)


class SilentCall:
    """A call that answers nobody until it is cancelled; a call of either kind."""

    def __init__(self) -> None:
        self.cancelled = Event()
        self.written = asyncio.Event()

    def __iter__(self) -> Iterator[Any]:
        """No answers."""
        assert self.cancelled.wait(WAIT_SECONDS)
        return iter(())

    async def read(self) -> Any:
        """No answer."""
        await asyncio.Event().wait()

    async def write(self, message: bytes) -> None:
        """Take it."""
        self.written.set()

    async def done_writing(self) -> None:
        """Take no more."""

    def cancel(self) -> None:
        """End it."""
        self.cancelled.set()


class Alone:
    """Counts the appends that go by themselves."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, append: Append, request: AppendRequest, timeout: float) -> Receipt:
        """Append."""
        self.count += 1
        return RECEIPT


def in_time(work: Callable[[], object]) -> None:
    """Do it, where it does not stand still."""
    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(WAIT_SECONDS)
    assert not thread.is_alive()


def test_a_child_process_leaves_what_is_shared_alone(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    client = service.client()
    (name,) = games(1, client)
    accompany(client)
    appends = notes(4, game_id=name)
    assert isinstance(outcome(client, appends[0]), Receipt)
    joined = client._joined
    assert joined is not None
    stream = joined._stream
    assert stream is not None
    found: list[object] = []

    def append_all() -> None:
        found.extend(outcome(client, append) for append in appends[1:3])
        joined.closing()
        joined.close()

    # A child finds the lock as it was at the fork: held by somebody who is not there.
    with joined._turn.lock:
        monkeypatch.setattr(os, "getpid", lambda: -1)
        in_time(append_all)
    assert all(isinstance(each, Receipt) for each in found)
    assert stream.joint.heard_count == 1
    assert joined._stream is stream
    monkeypatch.undo()

    async def append_one() -> object:
        async with AsyncClient(service.target) as client:
            accompany(client)
            assert client._joined is not None
            client._joined._process = -1
            found = await async_outcome(client.append(appends[3]))
            assert client._joined._stream is None
            return found

    assert isinstance(asyncio.run(append_one()), Receipt)


def test_a_signal_handler_that_appends_while_its_thread_has_the_lock_goes_alone() -> None:
    alone = Alone()
    nested: list[Receipt] = []

    def open_call(*_: object, **__: object) -> SilentCall:
        # Under the lock: a signal comes just here.
        nested.append(shared.append(APPEND, REQUEST))
        call = SilentCall()
        call.cancel()
        return call

    shared = JoinedAppends(open_call, alone, WAIT_SECONDS)
    shared._company.come("other", 0.0)
    in_time(lambda: shared.append(APPEND, REQUEST))
    assert nested == [RECEIPT]
    # The other one too: its call has ended without an answer.
    assert alone.count == 2


def test_without_a_thread_for_it_no_call_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoThread(Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(joined, "Thread", NoThread)
    alone, calls, now = Alone(), [SilentCall(), SilentCall()], [0.0]
    opened = iter(calls)
    shared = JoinedAppends(lambda *_, **__: next(opened), alone, WAIT_SECONDS, lambda: now[0])
    shared._company.come("other", 0.0)
    # Not tried again at once.
    assert [shared.append(APPEND, REQUEST) for _ in range(3)] == [RECEIPT] * 3
    assert [call.cancelled.is_set() for call in calls] == [True, False]
    now[0] = 1.0
    assert shared.append(APPEND, REQUEST) == RECEIPT
    assert calls[1].cancelled.is_set()
    assert alone.count == 4
    shared.close()


def unheard(_: object, code: grpc.StatusCode) -> HeptalogError | None:
    """Nobody is told of the end."""
    return None


def test_tasks_that_have_left_keep_nobody_looking_all_the_time() -> None:
    async def look() -> None:
        call, now = SilentCall(), 0.0
        stream = async_joined._Stream(lambda **_: call, 60.0, lambda: now, unheard)
        future = stream.take(APPEND, REQUEST, 0.0)
        await asyncio.wait_for(call.written.wait(), WAIT_SECONDS)
        future.cancel()
        for second in range(1, 30):
            now = float(second)
            stream._look_round()
            assert stream._look_at == now + joint.IDLE_SECONDS
            assert not call.cancelled.is_set()
        # Nobody uses it any more, and in the end it counts as silent.
        assert not stream.is_open
        now = 30.0
        stream._look_round()
        assert call.cancelled.is_set()
        stream.task.cancel()
        await asyncio.gather(stream.task, return_exceptions=True)

    asyncio.run(look())


def test_threads_that_have_left_keep_no_call_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "IDLE_SECONDS", 0.001)
    call, turn, ticket = SilentCall(), joined._Turn(), joined._Ticket()
    stream = joined._Stream(lambda *_, **__: call, 60.0, turn, lambda: 0.0, unheard)
    requests = stream._requests()
    with turn.lock:
        stream.take(APPEND, REQUEST, ticket, 0.0)
    assert next(requests)
    ticket.has_left = True
    in_time(lambda: list(requests))
    assert not stream.is_open
    call.cancel()
    stream.join()


def test_an_unused_call_ends_before_its_client_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[grpc.StatusCode] = []
    has_ended = async_joined.AsyncJoinedAppends._ended

    def hear(self: async_joined.AsyncJoinedAppends, stream: async_joined._Stream, code: grpc.StatusCode) -> object:
        ended.append(code)
        return has_ended(self, stream, code)

    async def use(target: str) -> None:
        async with AsyncClient(target) as client:
            accompany(client)
            await client.append(Append("game", NO_GAME, (events.Event(0, ROCKS, event_id="start"),)))

    monkeypatch.setattr(async_joined.AsyncJoinedAppends, "_ended", hear)
    with Service(MemoryStore()) as service:
        asyncio.run(use(service.target))
    # One that was cut off would leave gRPC with something to tell a loop that has ended.
    assert ended == [grpc.StatusCode.OK]
