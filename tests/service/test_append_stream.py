"""AppendStream as it is on the wire: what is answered, what ends a stream, and that reading waits for writing."""

import asyncio
from threading import Thread
from typing import Any, Final

import grpc
import pytest
from google.rpc.status_pb2 import Status

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.replay.events import Event
from heptalog.service.appending import streaming
from heptalog.service.appends import Append
from heptalog.service.config import EVENT_SIZE_MAX, Settings
from heptalog.service.log import LogServicer
from heptalog.service.status import unpacked
from heptalog.service.store import NO_GAME
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import log_pb2
from tests.service.asking import (
    FOREIGN,
    ROCKS,
    append_message,
    check_positions,
    check_record,
    failure_of,
    new_game,
    remark,
    try_append,
)
from tests.service.wires import Wire, code_of, streamed, told
from tests.support.serving import WAIT_SECONDS, Service, buggy

# Appends of every fate, after a game that has its start and two remarks, `r1` and `r2`.
FATES: Final[dict[str, Append]] = {
    "recorded": Append("game", 2, (remark("a"), remark("b"))),
    "a new game": Append("new", NO_GAME, (Event(0, ROCKS, event_id="start"),)),
    "known": Append("game", 0, (remark("r1"), remark("r2"))),
    "partly known": Append("game", 1, (remark("r2"), remark("z"))),
    "an id reused": Append("game", 1, (remark("r2", "other"),)),
    "a stale head": Append("game", 1, (remark("c"),)),
    "another hash": Append("game", 2, (remark("c"),), expected_hash=bytes(32)),
    "no such game": Append("none", 0, (remark("c"),)),
    "there already": Append("game", NO_GAME, (Event(0, ROCKS, event_id="c"),)),
    "refused": Append("game", 2, (remark("c"), Event(0, FOREIGN, event_id="d"))),
    "no events": Append("game", 2, ()),
    "too large": Append("game", 2, (remark("c", "x" * EVENT_SIZE_MAX),)),
    "an id twice": Append("game", 2, (remark("c"), remark("c"))),
    "no id": Append("no id", 2, (remark("c"),)),
}


@pytest.fixture
def table(each_service: Service) -> Service:
    """A service with a game that has its start and two remarks."""
    new_game(each_service.client(), remark_count=2)
    return each_service


def test_appends_of_many_games_are_answered_by_their_numbers(each_service: Service) -> None:
    wire = Wire(each_service)
    games = ("one", "two", "three")
    wire.send(*((index + 1, Append(game, NO_GAME, (Event(0, ROCKS),))) for index, game in enumerate(games)))
    # None of these waits for an answer to what it stands on.
    for sequence in range(20):
        wire.send(
            *(
                (3 * sequence + index + 4, Append(game, sequence, (remark(f"n{sequence}"),)))
                for index, game in enumerate(games)
            )
        )
    answers = wire.answers(63)
    for number, answer in answers.items():
        assert answer.appended.sequences == [(number - 1) // 3]
        assert answer.appended.head.sequence == (number - 1) // 3
    wire.end()
    assert wire.ends() is None
    for game in games:
        check_record(each_service.client(), game, 21)
    check_positions(each_service.client(), 63)


@pytest.mark.parametrize("fate", FATES)
def test_each_append_is_answered_as_appendevents_would_answer_it(service: Service, fate: str) -> None:
    request = append_message(FATES[fate])
    with Service(MemoryStore()) as other:
        new_game(other.client(), remark_count=2)
        expected = try_append(other, request)
    new_game(service.client(), remark_count=2)
    wire = Wire(service)
    wire.send((7, request))
    wire.end()
    (answer,) = wire.answers(1).values()
    assert wire.ends() is None
    if isinstance(expected, log_pb2.AppendEventsResponse):
        assert answer.appended.sequences == expected.sequences
        assert answer.appended.deduplicated == expected.deduplicated
        assert answer.appended.head.position == expected.head.position
        return
    status = Status.FromString(answer.failure)
    assert (status.code, status.message) == (expected.code.value[0], expected.text)
    failure = unpacked(answer.failure)
    assert failure.code == expected.reason
    facts = {name for name in expected.facts if name not in ("rule", "numbers")}
    assert {name for name in failure.facts if name != "head_hash"} == facts - {"head_hash"}


def test_a_refused_batch_does_not_end_the_stream(table: Service) -> None:
    wire = Wire(table)
    wire.send(
        (1, FATES["refused"]),
        (2, FATES["too large"]),
        (3, FATES["recorded"]),
        # It stands on what was refused.
        (4, Append("game", 5, (remark("e"),))),
        (5, Append("game", 4, (remark("f"),))),
    )
    answers = wire.answers(5)
    assert code_of(answers[2]) is Code.EVENT_TOO_LARGE
    assert code_of(answers[4]) is Code.SEQUENCE_MISMATCH
    assert [answers[number].appended.head.sequence for number in (3, 5)] == [4, 5]
    refused = told(answers[1])
    assert isinstance(refused, HeptalogError)
    assert refused.facts["index"] == 1
    # It is kept as any other refusal.
    assert [refusal.code for refusal in table.store.refusals()] == [refused.code]
    wire.end()
    assert wire.ends() is None
    check_record(table.client(), "game", 6)


def test_a_number_whose_answer_is_not_written_yet_ends_the_stream(table: Service) -> None:
    wire = Wire(table)
    # What has no form is answered as it is read, and that is written after the message was taken.
    formless = append_message(FATES["recorded"])
    formless.events[0].Clear()
    wire.send((1, formless), (1, FATES["recorded"]))
    assert code_of(wire.answers(1)[1]) is Code.BODY_MISSING
    failure = wire.ends()
    assert failure is not None
    assert (failure.reason, failure.field) == ("FIELD_INVALID", "appends[1].correlation_id")
    check_record(table.client(), "game", 3)


@pytest.mark.parametrize("number", [0, 2], ids=["none", "that of another"])
def test_a_number_that_cannot_be_told_from_another_ends_the_stream(table: Service, number: int) -> None:
    wire = Wire(table)
    with table.store.held() as hold:
        wire.send((1, Append("game", 2, (remark("a"),))))
        hold.wait_until_reached()
        wire.send((2, Append("game", 3, (remark("b"),))), (number, Append("game", 4, (remark("c"),))))
    # What came before it is answered.
    answers = wire.answers(2)
    assert [answers[one].appended.head.sequence for one in (1, 2)] == [3, 4]
    failure = wire.ends()
    assert failure is not None
    assert (failure.code.name, failure.reason) == ("INVALID_ARGUMENT", "FIELD_INVALID")
    assert failure.field == "appends[1].correlation_id"
    check_record(table.client(), "game", 5)


def test_a_number_may_come_again_once_it_is_answered(table: Service) -> None:
    wire = Wire(table)
    for sequence in range(2, 6):
        wire.send((1, Append("game", sequence, (remark(f"n{sequence}"),))))
        assert wire.answers(1)[1].appended.head.sequence == sequence + 1
    wire.end()
    assert wire.ends() is None


@pytest.mark.parametrize(
    ("data", "code", "field"),
    [
        (b"", Code.FIELD_INVALID, "appends"),
        (b"\xff", Code.NOT_PROTOBUF, ""),
        (b"\x0a\x05gam", Code.NOT_PROTOBUF, ""),
        (b"\x0a\x02\x08\x01\x78\x01", Code.FIELD_UNKNOWN, ""),
        (b"\x0a\x04\x08\x01\x78\x01", Code.FIELD_UNKNOWN, "appends[0]"),
        (b"\x0a\x80\x80\x80\x02" + bytes(4 << 20), Code.EVENT_TOO_LARGE, ""),
    ],
)
def test_a_message_that_is_none_ends_the_stream(table: Service, data: bytes, code: Code, field: str) -> None:
    method: Any = table.channel().stream_stream("/heptalog.v1.LogService/AppendStream")
    good = log_pb2.AppendStreamRequest(appends=[streamed(9, FATES["recorded"])]).SerializeToString()
    received: list[bytes] = []
    with pytest.raises(grpc.RpcError) as ended:
        received.extend(method(iter([good, data]), timeout=WAIT_SECONDS))
    failure = failure_of(ended.value)
    assert (failure.code.name, failure.reason, failure.field) == ("INVALID_ARGUMENT", code, field)
    # What was sent before it was recorded.
    check_record(table.client(), "game", 5)


@pytest.mark.parametrize("spoil", ["append", "event", "not an event"])
def test_what_is_wrong_within_one_append_is_its_own(table: Service, spoil: str) -> None:
    bad = append_message(Append("game", 2, (remark("a"),))).SerializeToString()
    unknown = b"\x98\x06\x01"
    match spoil:
        case "append":
            bad, code, field = bad + unknown, Code.FIELD_UNKNOWN, ""
        case "event":
            event = append_message(Append("game", 2, (remark("a"),))).events[0].SerializeToString() + unknown
            bad = bad[: bad.index(b"\x2a")] + b"\x2a" + bytes([len(event)]) + event
            code, field = Code.FIELD_UNKNOWN, "events[0]"
        case _:
            bad, code, field = bad[: bad.index(b"\x2a")] + b"\x2a\x02\xff\xff", Code.NOT_PROTOBUF, ""
    envelope = [
        b"\x0a" + _varint(len(item)) + item
        for number, data in ((1, bad), (2, append_message(FATES["recorded"]).SerializeToString()))
        for item in (b"\x08" + bytes([number]) + b"\x12" + _varint(len(data)) + data,)
    ]
    method: Any = table.channel().stream_stream("/heptalog.v1.LogService/AppendStream")
    answers: dict[int, Any] = {}
    for response in method(iter([b"".join(envelope)]), timeout=WAIT_SECONDS):
        for answer in log_pb2.AppendStreamResponse.FromString(response).answers:
            answers[answer.correlation_id] = told(answer)
    assert (answers[1].code, answers[1].facts["field"]) == (code, field)
    assert answers[2].head.sequence == 4


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


@pytest.mark.parametrize(("name", "most"), [("APPENDS_MAX", 3), ("EVENTS_MAX", 3), ("BYTES_MAX", 200)])
def test_no_more_is_read_than_may_be_on_its_way(
    table: Service, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(streaming, name, most)
    wire = Wire(table)
    with table.store.held() as hold:
        for number in range(1, 41):
            wire.send((number, Append("game", number + 1, (remark(f"n{number}", "x" * 50),))))
        hold.wait_until_reached()
        # Others are served meanwhile, so whatever would be read has been read.
        other = table.app.writer.submit(Append("other", NO_GAME, (Event(0, ROCKS),)))
        assert table.client().standing("game").sequence == 2
        assert table.app.writer._waiting.count <= 3 + 1
    assert other.result(WAIT_SECONDS).head.sequence == 0
    answers = wire.answers(40)
    assert [answers[number].appended.head.sequence for number in range(1, 41)] == list(range(3, 43))
    wire.end()
    assert wire.ends() is None


def test_a_stream_is_not_refused_where_the_queue_is_full() -> None:
    with Service(MemoryStore(), settings=Settings("", queue_max=1)) as service:
        new_game(service.client())
        wire = Wire(service)
        with service.store.held() as hold:
            wire.send((1, Append("game", 0, (remark("n0"),))))
            hold.wait_until_reached()
            wire.send(*((number, Append("game", number - 1, (remark(f"n{number}"),))) for number in range(2, 30)))
        answers = wire.answers(29)
        assert [answers[number].appended.head.sequence for number in range(1, 30)] == list(range(1, 30))
        wire.end()
        assert wire.ends() is None


def test_all_answers_of_a_commit_are_one_message(service: Service) -> None:
    new_game(service.client())
    wire = Wire(service)
    with service.store.held() as hold:
        wire.send((1, Append("game", 0, (remark("n0"),))))
        hold.wait_until_reached()
        wire.send(*((number, Append("game", number - 1, (remark(f"n{number}"),))) for number in range(2, 102)))
        waiting = service.app.writer._waiting
        with waiting.changed:
            assert waiting.changed.wait_for(lambda: waiting.count == 100, WAIT_SECONDS)
    wire.end()
    # A server that is slow to write finds both commits settled.
    assert [len(response.answers) for response in wire.call] in ([1, 100], [101])


@pytest.mark.parametrize("failure", [OSError("no space left"), Unavailable(Code.WRITE_FAILED), ZeroDivisionError()])
def test_a_commit_that_failed_ends_the_stream_before_anything_that_stood_on_it(
    service: Service, failure: Exception
) -> None:
    new_game(service.client())
    wire = Wire(service)
    with service.store.held() as hold:
        wire.send((1, Append("game", 0, (remark("a"),))))
        hold.wait_until_reached()
        service.store.failures.append(failure)
        wire.send((2, Append("game", 1, (remark("b"),))), (3, Append("game", 2, (remark("c"),))))
    ended = wire.ends()
    assert ended is not None
    assert (ended.code.name, ended.reason) == ("UNAVAILABLE", "WRITE_FAILED")
    assert service.client().game("game").head.sequence == 0


def test_a_full_disk_is_told_to_each_and_the_stream_goes_on(service: Service) -> None:
    new_game(service.client())
    wire = Wire(service)
    a, b, c = (Append("game", sequence, (remark(f"n{sequence}"),)) for sequence in range(3))
    other = Append("other", NO_GAME, (Event(0, ROCKS, event_id="start"),))
    with service.store.held() as hold:
        wire.send((1, a))
        hold.wait_until_reached()
        service.store.failures.append(Unavailable(Code.DISK_RESERVE, rule="api"))
        wire.send((2, b), (3, c), (4, other))
    answers = wire.answers(4)
    # What stood on it is told what it met; what did not stand on it is recorded as if there had been nothing.
    assert [code_of(answers[number]) for number in (1, 2, 3)] == [Code.DISK_RESERVE, *[Code.SEQUENCE_MISMATCH] * 2]
    behind = told(answers[2])
    assert isinstance(behind, HeptalogError)
    assert behind.facts["actual"] == 0
    assert answers[4].appended.head.sequence == 0
    wire.send((1, a), (2, b), (3, c))
    answers = wire.answers(3)
    assert [answers[number].appended.head.sequence for number in (1, 2, 3)] == [1, 2, 3]
    assert not any(answer.appended.deduplicated for answer in answers.values())
    wire.end()
    assert wire.ends() is None


def test_a_drain_answers_what_was_taken_and_ends_the_stream(table: Service) -> None:
    wire = Wire(table)
    with table.store.held() as hold:
        wire.send((1, Append("game", 2, (remark("a"),))))
        hold.wait_until_reached()
        wire.send((2, Append("game", 3, (remark("b"),))))
        waiting = table.app.writer._waiting
        with waiting.changed:
            assert waiting.changed.wait_for(lambda: waiting.count == 1, WAIT_SECONDS)
        stopping = Thread(target=table.drain)
        stopping.start()
    answers = wire.answers(2)
    assert [answers[number].appended.head.sequence for number in (1, 2)] == [3, 4]
    ended = wire.ends()
    assert ended is not None
    assert (ended.code.name, ended.reason) == ("UNAVAILABLE", "DRAINING")
    stopping.join(WAIT_SECONDS)
    assert not stopping.is_alive()


def test_an_idle_stream_does_not_keep_a_server_from_its_end(service: Service) -> None:
    wire = Wire(service)
    wire.send((1, Append("game", NO_GAME, (Event(0, ROCKS),))))
    assert wire.answers(1)
    service.drain()
    ended = wire.ends()
    assert ended is not None
    assert ended.reason == "DRAINING"


def test_who_left_before_the_work_began_is_passed_over(service: Service) -> None:
    new_game(service.client())
    wire = Wire(service)
    with service.store.held() as hold:
        wire.send((1, Append("game", 0, (remark("a"),))))
        hold.wait_until_reached()
        wire.send((2, Append("game", 1, (remark("b"),))))
        waiting = service.app.writer._waiting
        with waiting.changed:
            assert waiting.changed.wait_for(lambda: waiting.count == 1, WAIT_SECONDS)
        wire.call.cancel()
        service.run(_all_ended(service))
    # Who is being served is recorded all the same.
    assert service.client().append(Append("game", 1, (remark("c"),))).head.sequence == 2
    check_record(service.client(), "game", 3)


async def _all_ended(service: Service) -> None:
    """Wait until the server knows that nobody streams any more."""
    log = next(servicer for servicer in service.server._draining if isinstance(servicer, LogServicer))
    while log._append_streams._streams:
        await asyncio.sleep(0)


def test_our_own_bug_says_no_more_than_that_it_is_one() -> None:
    with Service(MemoryStore(), around=buggy()) as service:
        wire = Wire(service)
        wire.send((1, Append("game", NO_GAME, (Event(0, ROCKS),))))
        status = Status.FromString(wire.answers(1)[1].failure)
        assert (status.code, status.message) == (grpc.StatusCode.INTERNAL.value[0], "internal error")
        assert not status.details
        wire.end()
        assert wire.ends() is None
