"""What goes wrong while many share a call stays with those whom it concerns, and is told as it would be alone."""

import asyncio
import signal
import threading
from collections.abc import Sequence
from threading import Thread
from typing import Any

import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.appends import Receipt
from heptalog.service.client import AsyncClient, Client, joint
from heptalog.service.config import Settings
from heptalog.service.log import LogServicer
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import check_record, hold_writer, notes
from tests.service.calling import Calling, Outcome, accompany, async_outcome, by_tasks, by_threads, games, outcome, told
from tests.support.serving import WAIT_SECONDS, Service

CALLERS = (by_threads, by_tasks)
CLOSED = (Unavailable, Code.SERVER_UNREACHABLE, "", {"status": "CANCELLED", "problem": "the client is closed"})
LATE = (Unavailable, Code.DEADLINE_PASSED, "", {"status": "DEADLINE_EXCEEDED", "problem": "Deadline Exceeded"})


class Callers:
    """Threads that append once each, all of them in the queue of a server whose commit is held."""

    def __init__(self, service: Service, client: Client, names: Sequence[str]) -> None:
        self._found: dict[str, Outcome] = {}
        self._threads = [Thread(target=self._append, args=(client, name)) for name in names]
        for thread in self._threads:
            thread.start()
        wait_until_queued(service, len(names))

    def _append(self, client: Client, name: str) -> None:
        self._found[name] = outcome(client, notes(1, game_id=name)[0])

    def ended(self) -> list[Outcome]:
        """What came of each, once all know."""
        for thread in self._threads:
            thread.join(WAIT_SECONDS)
        return list(self._found.values())


def wait_until_queued(service: Service, count: int) -> None:
    """Wait until so many appends stand in the writer's queue."""
    waiting = service.app.writer._waiting
    with waiting.changed:
        assert waiting.changed.wait_for(lambda: waiting.count >= count, WAIT_SECONDS)


def stream_of(client: Client | AsyncClient) -> object:
    """The call that is shared now."""
    assert client._joined is not None
    return client._joined._stream


@pytest.mark.parametrize("joins", [False, True], ids=["alone", "joined"])
def test_deadlines_are_told_alike(service: Service, joins: bool) -> None:
    names = games(4, service.client())
    work = [notes(1, game_id=name) for name in names]
    with service.store.held() as hold:
        hold_writer(service, hold)
        found = [outcome for call in CALLERS for (outcome,) in call(service.target, work, joins=joins, timeout=0.2)]
    assert [told(each) for each in found] == [LATE] * 8


def test_the_deadline_of_one_is_not_that_of_the_others(service: Service) -> None:
    client = service.client()
    first, second, third = games(3, client)
    joined = client._joined
    assert joined is not None
    accompany(client)
    with service.store.held() as hold:
        hold_writer(service, hold)
        callers = Callers(service, client, [first])
        stream = joined._stream
        assert stream is not None
        stream._timeout = joined._timeout = 0.05
        assert told(outcome(client, notes(1, game_id=second)[0])) == LATE
        stream._timeout = joined._timeout = WAIT_SECONDS
        hold.release()
        (receipt,) = callers.ended()
    assert isinstance(receipt, Receipt)
    assert isinstance(outcome(client, notes(1, game_id=third)[0]), Receipt)
    assert joined._stream is stream
    # What was given up had been sent, and is recorded once.
    assert isinstance(outcome(client, notes(1, game_id=second)[0]), Receipt)
    for name in (first, second, third):
        check_record(service.store, name, 2)


def test_a_call_that_answers_nobody_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    async def silent(servicer: LogServicer, requests: Any, context: Any) -> None:
        asked.append(context)
        await asyncio.Event().wait()

    monkeypatch.setattr(LogServicer, "AppendStream", silent)
    monkeypatch.setattr(joint, "_FIRST_SECONDS", WAIT_SECONDS)
    with Service(MemoryStore(), settings=Settings("", grace_seconds=0.1)) as service:
        (name,) = games(1, service.client())

        def append_all(client: Client, first: int) -> list[Outcome]:
            accompany(client)
            return [outcome(client, append) for append in notes(3, first=first, game_id=name)]

        async def append_all_async(first: int) -> list[Outcome]:
            async with AsyncClient(service.target, timeout=2.0) as client:
                accompany(client)
                return [await async_outcome(client.append(append)) for append in notes(3, first=first, game_id=name)]

        # The first shares a call, which comes to nothing, and has half of its time left.
        assert all(isinstance(each, Receipt) for each in append_all(service.client(timeout=2.0), 0))
        assert all(isinstance(each, Receipt) for each in asyncio.run(append_all_async(3)))
        check_record(service.store, name, 7)
    assert len(asked) == 2


def test_a_task_that_is_cancelled_leaves_the_others_alone(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "IDLE_SECONDS", WAIT_SECONDS)
    names = games(20, service.client())

    async def append_all() -> list[Any]:
        async with AsyncClient(service.target, timeout=WAIT_SECONDS) as client:
            accompany(client)
            with service.store.held() as hold:
                await asyncio.to_thread(hold_writer, service, hold)
                tasks = [asyncio.create_task(client.append(notes(1, game_id=name)[0])) for name in names]
                await asyncio.to_thread(wait_until_queued, service, len(names))
                stream = stream_of(client)
                for task in tasks[::2]:
                    task.cancel()
                hold.release()
                found = await asyncio.gather(*tasks, return_exceptions=True)
            assert stream_of(client) is stream is not None
            return found

    found = asyncio.run(append_all())
    assert all(isinstance(each, asyncio.CancelledError) for each in found[::2])
    assert all(isinstance(each, Receipt) for each in found[1::2])
    for name in names:
        check_record(service.store, name, 2)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals come to the main thread")
def test_a_thread_that_is_interrupted_leaves_the_others_alone(service: Service) -> None:
    client = service.client()
    names = games(3, client)
    main = threading.main_thread().ident
    assert main is not None
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with service.store.held() as hold:
            hold_writer(service, hold)
            callers = Callers(service, client, names[:2])

            def interrupt() -> None:
                wait_until_queued(service, 3)
                signal.pthread_kill(main, signal.SIGINT)

            interrupting = Thread(target=interrupt)
            interrupting.start()
            with pytest.raises(KeyboardInterrupt):
                client.append(notes(1, game_id=names[2])[0])
            interrupting.join(WAIT_SECONDS)
            hold.release()
            assert all(isinstance(each, Receipt) for each in callers.ended())
    finally:
        signal.signal(signal.SIGINT, before)
    assert isinstance(outcome(client, notes(1, game_id=names[2])[0]), Receipt)


@pytest.mark.parametrize("joins", [False, True], ids=["alone", "joined"])
def test_whoever_waits_when_the_client_is_closed_is_told_so(service: Service, joins: bool) -> None:
    names = games(8, service.client())
    with service.store.held() as hold:
        hold_writer(service, hold)
        client = Client(service.target, timeout=WAIT_SECONDS, joins_appends=joins)
        callers = Callers(service, client, names)
        client.close()
        found = callers.ended()
        found.append(outcome(client, notes(1, game_id=names[0])[0]))
        client.close()

        async def append_all() -> list[Outcome]:
            client = AsyncClient(service.target, timeout=WAIT_SECONDS, joins_appends=joins)
            calls = (async_outcome(client.append(notes(1, game_id=name)[0])) for name in names)
            tasks = [asyncio.create_task(call) for call in calls]
            await asyncio.to_thread(wait_until_queued, service, len(names))
            await client.close()
            return await asyncio.gather(*tasks)

        found += asyncio.run(append_all())
    assert [told(each) for each in found] == [CLOSED] * 17


def test_an_idle_call_is_let_go_of(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    client = service.client()
    (name,) = games(1, client)
    accompany(client)
    assert client._joined is not None
    client.append(notes(1, game_id=name)[0])
    stream = client._joined._stream
    assert stream is not None
    monkeypatch.setattr(joint, "IDLE_SECONDS", 0.001)
    client.append(notes(1, first=1, game_id=name)[0])
    stream._thread.join(WAIT_SECONDS)
    assert not stream._thread.is_alive()
    assert isinstance(outcome(client, notes(1, first=2, game_id=name)[0]), Receipt)

    async def append_all() -> None:
        async with AsyncClient(service.target, timeout=WAIT_SECONDS) as client:
            accompany(client)
            assert client._joined is not None
            await client.append(notes(1, first=3, game_id=name)[0])
            stream = client._joined._stream
            assert stream is not None
            await asyncio.wait_for(stream.task, WAIT_SECONDS)
            assert not stream.is_open
            await client.append(notes(1, first=4, game_id=name)[0])

    asyncio.run(append_all())
    check_record(service.store, name, 6)


@pytest.mark.parametrize("call", CALLERS)
def test_an_old_call_makes_way_for_a_new_one(service: Service, call: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "LIFE_SECONDS", 0.0)
    names = games(8, service.client())
    outcomes = call(service.target, [notes(20, game_id=name) for name in names])
    assert all(isinstance(outcome, Receipt) for of_caller in outcomes for outcome in of_caller)
    for name in names:
        check_record(service.store, name, 21)


def test_an_idle_call_does_not_hold_up_a_drain() -> None:
    # Longer than a test waits.
    with Service(MemoryStore(), settings=Settings("", grace_seconds=10 * WAIT_SECONDS)) as service:
        client = service.client()
        (name,) = games(1, client)
        accompany(client)
        client.append(notes(1, game_id=name)[0])
        assert stream_of(client) is not None
        service.drain()
        with pytest.raises(Unavailable) as unreachable:
            client.append(notes(1, first=1, game_id=name)[0])
        assert unreachable.value.code in (Code.SERVER_UNREACHABLE, Code.DRAINING)
