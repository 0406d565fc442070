"""Appends under way at the same time share a call, and nobody who makes one can tell."""

import asyncio
from contextlib import ExitStack
from typing import Any

import grpc
import pytest

from heptalog.replay.errors import Conflict, Malformed, NotFound, Refused
from heptalog.replay.events import Event, NoteAdded
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import AsyncClient, Client, flight
from heptalog.service.client.calls import append_request
from heptalog.service.client.joint import Company, Joint, Prospect
from heptalog.service.config import Settings
from heptalog.service.log import LogServicer
from heptalog.service.store import NO_GAME
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import log_pb2, log_pb2_grpc
from tests.service.asking import FOREIGN, ROCKS, check_positions, check_record, new_game, notes, remark
from tests.service.calling import Calling, async_outcome, by_tasks, by_threads, outcome, told
from tests.support.serving import Service

CALLERS = (by_threads, by_tasks)


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every AppendStream that a server is asked for."""
    asked: list[object] = []
    serve = LogServicer.AppendStream

    async def noted(servicer: LogServicer, requests: Any, context: Any) -> None:
        asked.append(context)
        await serve(servicer, requests, context)

    monkeypatch.setattr(LogServicer, "AppendStream", noted)
    return asked


def everything(game_id: str) -> list[Append]:
    """What one caller may send to a game of its own: good, refused, stale, known, half known, reused, without form."""
    start = Event(0, ROCKS, event_id="start")
    batch = tuple(remark(f"b{number}") for number in range(5))
    return [
        Append(game_id, 0, (remark("early"),)),
        Append(game_id, NO_GAME, (start,)),
        Append(game_id, NO_GAME, (start,)),
        Append(game_id, NO_GAME, (Event(0, ROCKS, event_id="other"),)),
        Append(game_id, 0, batch),
        Append(game_id, 5, (Event(0, FOREIGN, event_id="foul"),)),
        Append(game_id, 5, (remark("c"), Event(0, FOREIGN, event_id="foul"))),
        Append(game_id, 4, (remark("late"),)),
        Append(game_id, 0, batch[1:3]),
        Append(game_id, 5, (batch[4], remark("d"))),
        Append(game_id, 5, (remark("b0", "something else"),)),
        Append(game_id, 5, (remark("e"), remark("e"))),
        Append(game_id, 5, (remark("e"),), expected_hash=b"short"),
        Append(game_id, 5, (remark("e"),), expected_hash=bytes(32)),
        Append(game_id, 5, ()),
        Append(game_id, 5, tuple(remark(f"f{number}") for number in range(513))),
        Append(game_id, 5, (remark("large", "x" * 300_000),)),
        Append(game_id, 5, tuple(remark(f"large {number}", "x" * 200_000) for number in range(22))),
        Append(game_id, 5, (remark("a b"),)),
        Append("no game", 5, (remark("e"),)),
        Append(game_id, 5, (remark("e", game_id="another"),)),
        Append(game_id, 5, (remark("e", recorded_at=7),)),
        Append(game_id, 5, (Event(0, NoteAdded("without an id")),)),
        Append(game_id, 6, tuple(remark(f"g{number}", "y" * 100_000) for number in range(8))),
        Append(game_id, 14, (remark("last"),)),
    ]


def test_many_callers_are_told_what_calls_of_their_own_tell(streams: list[object]) -> None:
    work = [everything(f"game-{number}") for number in range(16)]
    found: list[list[list[tuple[Any, ...]]]] = []
    for call in CALLERS:
        for joins in (False, True):
            streams.clear()
            with Service(MemoryStore()) as service:
                outcomes = call(service.target, work, joins=joins)
                for number in range(16):
                    check_record(service.store, f"game-{number}", 16)
                check_positions(service.client(), 16 * 16)
            assert bool(streams) is joins
            found.append([list(map(told, of_caller)) for of_caller in outcomes])
    alone = found[0]
    assert {kind for kind, *_ in alone[0]} == {"receipt", Refused, Malformed, Conflict, NotFound}
    assert len({code for _, code, *_ in alone[0]}) >= 10
    for others in found[1:]:
        assert others == alone


@pytest.mark.parametrize("call", CALLERS)
def test_callers_of_one_game_take_turns(each_service: Service, call: Calling) -> None:
    new_game(each_service.client())
    work = [[Append("game", 0, (remark(f"n{caller}"),))] for caller in range(24)]
    outcomes = [outcome for (outcome,) in call(each_service.target, work)]
    (receipt,) = [outcome for outcome in outcomes if isinstance(outcome, Receipt)]
    assert receipt.sequences == (1,)
    conflicts = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
    assert len(conflicts) == 23
    assert {told(conflict)[3]["actual"] for conflict in conflicts} == {1}
    assert len({id(conflict) for conflict in conflicts}) == 23
    check_record(each_service.store, "game", 2)


def test_a_lone_caller_opens_no_stream(streams: list[object], service: Service) -> None:
    client = service.client()
    new_game(client)
    assert all(isinstance(outcome(client, append), Receipt) for append in notes(3))

    async def append_all() -> None:
        async with AsyncClient(service.target) as client:
            assert all(
                [isinstance(await async_outcome(client.append(append)), Receipt) for append in notes(3, first=3)]
            )

    asyncio.run(append_all())
    assert not streams


def test_a_lone_caller_leaves_an_open_stream_alone(service: Service) -> None:
    client = service.client()
    new_game(client)
    joined = client._joined
    assert joined is not None
    joined._company.come("other", 0.0)
    assert isinstance(outcome(client, notes(1)[0]), Receipt)
    stream = joined._stream
    assert stream is not None
    joined._company.leave("other")
    joined._clock = lambda: 1e9
    assert isinstance(outcome(client, notes(1, first=1)[0]), Receipt)
    assert joined._stream is stream
    assert stream.joint.heard_count == 1


def test_company_lasts_a_moment_after_the_last_are_answered() -> None:
    company = Company()
    callers = range(64)
    assert not company.come(0, 10.0)
    assert all(company.come(caller, 10.0) for caller in callers[1:])
    # One message answers all of them, and they come again one by one.
    for caller in callers:
        company.leave(caller)
    assert company.come(0, 10.9)
    company.leave(0)
    assert not company.come(0, 11.0)
    assert company.come(1, 11.5)
    company.leave(1)
    company.leave(0)
    # Again and again alone is no company.
    for now in (11.6, 12.4):
        assert company.come(0, now)
        company.leave(0)
    assert not company.come(0, 12.5)


def test_more_clients_than_a_server_takes_calls_keep_none_open(monkeypatch: pytest.MonkeyPatch) -> None:
    with Service(MemoryStore(), settings=Settings("", calls_max=4)) as service, ExitStack() as clients:
        new_game(service.client())
        for number in range(12):
            client = clients.enter_context(Client(service.target))
            assert all(isinstance(outcome(client, append), Receipt) for append in notes(2, first=2 * number))


@pytest.mark.parametrize("call", CALLERS)
def test_what_has_no_id_or_is_large_goes_alone(streams: list[object], service: Service, call: Calling) -> None:
    new_game(service.client())
    nameless = [Append("game", number, (Event(0, NoteAdded("again")),)) for number in range(3)]
    large = [
        Append("game", 3 + number, tuple(remark(f"{number}-{at}", "x" * 200_000) for at in range(3)))
        for number in range(0, 9, 3)
    ]
    assert all(isinstance(outcome, Receipt) for outcome in call(service.target, [nameless + large])[0])
    assert not streams


def test_a_server_that_knows_no_streams_is_asked_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    async def unknown(servicer: LogServicer, requests: Any, context: Any) -> None:
        asked.append(context)
        # What generated code says by itself.
        log_pb2_grpc.LogServiceServicer.AppendStream(servicer, requests, context)

    monkeypatch.setattr(LogServicer, "AppendStream", unknown)
    for number, call in enumerate(CALLERS):
        with Service(MemoryStore()) as older:
            work = [notes(10, game_id=f"game-{caller}") for caller in range(8)]
            for caller in range(8):
                new_game(older.client(), f"game-{caller}")
            asked.clear()
            outcomes = call(older.target, work)
            assert all(isinstance(outcome, Receipt) for of_caller in outcomes for outcome in of_caller), number
            assert len(asked) == 1
            for caller in range(8):
                check_record(older.store, f"game-{caller}", 11)


def test_a_call_that_fails_before_any_answer_is_not_tried_again_at_once() -> None:
    now = [0.0]
    prospect = Prospect(lambda: now[0])

    def is_good_after(seconds: float) -> bool:
        now[0] += seconds
        return prospect.is_good

    for wait in (1, 2, 4, 8, 16, 32, 64, 64):
        assert is_good_after(0.0)
        prospect.learn(grpc.StatusCode.UNAVAILABLE, was_of_use=False)
        assert not is_good_after(wait - 0.5)
        assert is_good_after(0.5)
    prospect.learn(grpc.StatusCode.UNAVAILABLE, was_of_use=True)
    assert is_good_after(0.0)
    prospect.learn(grpc.StatusCode.UNAVAILABLE, was_of_use=False)
    assert is_good_after(1.0)
    prospect.learn(grpc.StatusCode.UNIMPLEMENTED, was_of_use=False)
    assert not is_good_after(1e9)


class Leaver:
    """Somebody who waits, or does not any more."""

    def __init__(self) -> None:
        self.has_left = False

    def done(self) -> bool:
        """Whether nobody waits any more."""
        return self.has_left


def sent(message: bytes) -> list[int]:
    """The numbers of what is in a message."""
    return [one.correlation_id for one in log_pb2.AppendStreamRequest.FromString(message).appends]


def answers(*numbers: int) -> log_pb2.AppendStreamResponse:
    """Receipts for these."""
    response = log_pb2.AppendStreamResponse()
    for number in numbers:
        response.answers.add(correlation_id=number).appended.head.sequence = number
    return response


def test_no_more_is_sent_than_may_be_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight, "EVENTS_MAX", 3)
    monkeypatch.setattr(flight, "MESSAGE_APPENDS", 2)
    shared: Joint[Leaver] = Joint()
    waiters = [Leaver() for _ in range(8)]
    for append, waiter in zip(notes(8), waiters, strict=True):
        shared.take(append, append_request(append), waiter, now=0.0, timeout=9.0)
    assert sent(shared.next_message()) == [1, 2]
    assert sent(shared.next_message()) == [3, 4]
    assert not shared.can_send
    # An answer to what has not been sent is none.
    assert [waiter for waiter, _ in shared.answered(answers(2, 5, 99))] == [waiters[1]]
    assert not shared.can_send
    assert [waiter for waiter, _ in shared.answered(answers(1))] == [waiters[0]]
    # Who has left before it was sent is not sent any more.
    waiters[4].has_left = waiters[6].has_left = True
    assert sent(shared.next_message()) == [6, 8]
    assert not shared.has_unsent
    assert shared.next_message() == b""
    assert [waiter for waiter, _ in shared.answered(answers(3, 4, 6))] == [waiters[2], waiters[3], waiters[5]]
    assert shared.give_up() == [waiters[7]]
    assert not shared


def test_a_call_is_silent_where_nobody_is_answered_for_as_long_as_somebody_waits() -> None:
    shared: Joint[Leaver] = Joint()
    waiters = [Leaver() for _ in range(3)]
    first, second, third = notes(3)
    # Of a call that has not answered anybody yet only half of the time is expected.
    assert shared.take(first, append_request(first), waiters[0], now=0.0, timeout=10.0) == 5.0
    assert shared.take(second, append_request(second), waiters[1], now=1.0, timeout=10.0) == 6.0
    assert not list(shared.overdue(4.9))
    assert not shared.is_silent(4.9)
    assert shared.overdue_at == 5.0
    assert list(shared.overdue(5.0)) == waiters[:1]
    assert shared.is_silent(5.0)
    assert sent(shared.next_message()) == [1, 2]
    assert list(shared.answered(answers(2)))
    assert not shared.is_silent(5.0)
    waiters[0].has_left = True
    assert shared.take(third, append_request(third), waiters[2], now=6.0, timeout=10.0) == 16.0
    assert list(shared.overdue(16.0)) == waiters[2:]
    # That the first is not answered says nothing, since another was answered after it; that the third is not, does.
    assert not shared.is_silent(15.9)
    assert shared.is_silent(16.0)


def test_a_call_is_silent_also_where_all_have_left() -> None:
    shared: Joint[Leaver] = Joint()
    (append,) = notes(1)
    waiter = Leaver()
    shared.take(append, append_request(append), waiter, now=0.0, timeout=10.0)
    assert shared.next_message()
    waiter.has_left = True
    assert shared.overdue_at is None
    assert not shared.is_silent(4.9)
    assert shared.is_silent(5.0)
