"""Commits: nothing is acknowledged or seen before it is durable, and what fails fails alone."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import grpc
import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Code, Conflict, Malformed, NotFound, Refused, Unavailable
from heptalog.replay.events import Event, TurnPassed
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import Client
from heptalog.service.config import Settings
from heptalog.service.store import NO_GAME, Batch, Entry
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import (
    FOREIGN,
    ROCKS,
    append_message,
    check_positions,
    check_record,
    failure_of,
    log_stub,
    new_game,
    remark,
)
from tests.support.evidence import recorded
from tests.support.serving import WAIT_SECONDS, Service, buggy


def new_head(client: Client, append: Append) -> int:
    """Append, and give the head."""
    return client.append(append).head.sequence


def queued(service: Service, *appends: Append) -> list[Future[Receipt]]:
    """Hold the writer at a commit, queue all of these for the next one, and let go."""
    with service.store.held() as hold:
        ballast = f"ballast-{len(service.store.commits)}"
        first = service.app.writer.submit(Append(ballast, NO_GAME, (Event(0, ROCKS),)))
        hold.wait_until_reached()
        futures = [service.app.writer.submit(append) for append in appends]
    first.result(WAIT_SECONDS)
    return futures


def test_a_new_game_is_not_there_before_it_is_durable(each_service: Service) -> None:
    client = each_service.client()
    with each_service.store.held() as hold:
        append = Append("game", NO_GAME, (Event(0, ROCKS, event_id="start"), remark("a")))
        pending = log_stub(each_service).AppendEvents.future(append_message(append), timeout=WAIT_SECONDS)
        hold.wait_until_reached()
        for ask in (
            lambda: client.game("game"),
            lambda: client.state("game"),
            lambda: list(client.legal("game")),
            lambda: list(client.read("game")),
        ):
            with pytest.raises(NotFound):
                ask()
        assert list(client.games()) == []
        assert list(client.read()) == []
        assert not pending.done()
    assert pending.result().head.sequence == 1
    assert client.standing("game").sequence == 1


def test_events_are_not_there_before_they_are_durable(each_service: Service) -> None:
    client = each_service.client()
    new_game(client)
    before = client.game("game")
    with each_service.store.held() as hold:
        append = append_message(Append("game", 0, (remark("a"), remark("b"))))
        pending = log_stub(each_service).AppendEvents.future(append, timeout=WAIT_SECONDS)
        hold.wait_until_reached()
        assert client.game("game") == before
        assert client.state("game").standing.sequence == 0
        with pytest.raises(NotFound) as beyond:
            client.state("game", sequence=1)
        assert beyond.value.facts["head"] == 0
        assert len(list(client.read("game"))) == len(list(client.read())) == 1
        assert [entry.head for entry in client.games()] == [before.head]
        assert not pending.done()
    assert pending.result().head.sequence == 2
    assert client.game("game").head.sequence == 2


def test_what_is_durable_may_be_asked_for_before_it_is_answered(each_service: Service) -> None:
    client = each_service.client()
    new_game(client)
    with each_service.store.held_after() as hold:
        append = append_message(Append("game", 0, (remark("a"),)))
        pending = log_stub(each_service).AppendEvents.future(append, timeout=WAIT_SECONDS)
        hold.wait_until_reached()
        # The log has it and the writer does not know yet: every answer fits the head that it shows.
        assert client.game("game").head.sequence == client.standing("game").sequence == 1
        assert client.state("game", sequence=1).standing.sequence == 1
        assert not pending.done()
    assert pending.result().head.sequence == 1


@pytest.mark.parametrize("failure", [OSError("no space left"), Unavailable(Code.WRITE_FAILED), ZeroDivisionError()])
def test_a_failed_commit_fails_its_own_requests_and_nothing_else(service: Service, failure: Exception) -> None:
    client = service.client()
    for game_id in ("one", "two"):
        new_game(client, game_id, remark_count=1)
    with service.store.held() as hold:
        running = service.app.writer.submit(Append("one", 1, (remark("a"),)))
        hold.wait_until_reached()
        # These are one commit, and the one that fails.
        appends = [
            Append("one", 2, (remark("b"), remark("c"))),
            Append("one", 4, (remark("d"),)),
            Append("two", 1, (remark("a"),)),
            Append("new", NO_GAME, (Event(0, ROCKS, event_id="start"),)),
        ]
        futures = [service.app.writer.submit(append) for append in appends]
        service.app.writer.submit(Append("none", 3, (remark("a"),)))
        hold_next = service.store.held()
        with hold_next as second:
            hold.release()
            second.wait_until_reached()
            service.store.failures.append(failure)
    assert running.result(WAIT_SECONDS).head.sequence == 2
    for future in futures:
        error = future.exception(WAIT_SECONDS)
        assert isinstance(error, Unavailable)
        assert error.code is Code.WRITE_FAILED
    with pytest.raises(NotFound):
        client.game("new")
    assert [client.game(game_id).head.sequence for game_id in ("one", "two")] == [2, 1]
    assert client.standing("one").sequence == 2
    # The very same, again, is new.
    receipts = [client.append(append) for append in appends]
    assert not any(receipt.is_deduplicated for receipt in receipts)
    check_record(client, "one", 6)
    check_positions(client, 10)


def test_a_retry_of_what_is_durable_does_not_fail_with_a_commit_that_it_shares(service: Service) -> None:
    client = service.client()
    new_game(client)
    known = client.append(Append("game", 0, (remark("a"),)))
    with service.store.held() as hold:
        running = service.app.writer.submit(Append("game", 1, (remark("b"),)))
        hold.wait_until_reached()
        retry = service.app.writer.submit(Append("game", 0, (remark("a"),)))
        new = service.app.writer.submit(Append("game", 2, (remark("c"),)))
        # What it repeats is in the very commit that fails.
        too_early = service.app.writer.submit(Append("game", 2, (remark("c"),)))
        with service.store.held() as second:
            hold.release()
            second.wait_until_reached()
            service.store.failures.append(Unavailable(Code.DISK_RESERVE))
    assert running.result(WAIT_SECONDS).head.sequence == 2
    assert retry.result(WAIT_SECONDS) == replace(known, is_deduplicated=True)
    for future in (new, too_early):
        error = future.exception(WAIT_SECONDS)
        assert isinstance(error, Unavailable)
        assert error.code is Code.DISK_RESERVE
    assert client.game("game").head.sequence == 2


def test_many_appends_share_a_commit_and_a_conflict_fails_no_neighbour(each_service: Service) -> None:
    client = each_service.client()
    for game_id in ("one", "two"):
        new_game(client, game_id)
    futures = queued(
        each_service,
        Append("one", 0, (remark("a"),)),
        Append("one", 0, (remark("b"),)),
        Append("two", 0, (remark("a"), Event(0, FOREIGN), remark("b"))),
        Append("two", 0, (remark("c"),)),
        Append("one", 1, (remark("d"), remark("e"))),
        Append("three", 0, (remark("a"),)),
        Append("one", 0, (remark("a"),)),
        Append("one", 0, (remark("a"), remark("z"))),
        Append("two", 1, (remark("c", "no spaces in ids", game_id="x y"),)),
    )
    outcomes = [type(future.exception(WAIT_SECONDS)) for future in futures]
    none = type(None)
    assert outcomes == [none, Conflict, Refused, none, none, NotFound, none, Conflict, Malformed]
    receipts = [futures[index].result() for index in (0, 3, 4, 6)]
    # Each receipt shows the head as its own events left it, not what others added in the same commit.
    assert [(receipt.head.sequence, receipt.sequences) for receipt in receipts] == [
        (1, (1,)),
        (1, (1,)),
        (3, (2, 3)),
        (1, (1,)),
    ]
    assert receipts[3].is_deduplicated
    assert receipts[3].head == receipts[0].head
    assert [len(batches) for batches in each_service.store.commits][-1] == 3
    check_record(client, "one", 4)
    check_record(client, "two", 2)
    check_positions(client, 7)


def test_a_receipt_is_not_somebody_elses_head(service: Service) -> None:
    client = service.client()
    new_game(client)
    ours, theirs = queued(service, Append("game", 0, (remark("a"),)), Append("game", 1, (remark("b"),)))
    assert ours.result().head.sequence == 1
    assert theirs.result().head.sequence == 2
    # Who goes on from the own receipt is told that something has happened since.
    with pytest.raises(Conflict):
        client.append(Append("game", ours.result().head.sequence, (remark("c"),)))


def another_writer(service: Service, game_id: str, count: int = 1) -> Callable[[], None]:
    """Somebody with the same log, who adds so many events to this game."""

    def intrude() -> None:
        head = service.store.inner.head(game_id)
        bodies = [ROCKS, *(remark(f"x{number}").body for number in range(5))]
        records = recorded(bodies, game_id=game_id)[head.sequence + 1 if head else 0 :][:count]
        entries = tuple(Entry(record, event) for event, record in records)
        service.store.inner.append([Batch(game_id, head.sequence if head else NO_GAME, entries)])

    return intrude


@pytest.mark.parametrize(
    "count",
    [
        # The second batch of ours then names the sequence of an event that is not the one it was chained to.
        1,
        2,
    ],
)
def test_another_writer_was_faster(each_service: Service, count: int) -> None:
    client = each_service.client()
    events = [event for event, _ in recorded([ROCKS], game_id="game")]
    client.append(Append("game", NO_GAME, tuple(events), is_imported=True))
    new_game(client, "other")
    with each_service.store.held() as hold:
        each_service.app.writer.submit(Append("ballast", NO_GAME, (Event(0, ROCKS),)))
        hold.wait_until_reached()
        futures = [
            each_service.app.writer.submit(append)
            for append in (
                Append("game", 0, (remark("a"),)),
                Append("game", 1, (remark("b"),)),
                Append("game", 0, (remark("a"),)),
                Append("other", 0, (remark("a"),)),
            )
        ]
        with each_service.store.held() as second:
            hold.release()
            second.wait_until_reached()
            each_service.store.intruder = another_writer(each_service, "game", count)
    errors = [future.exception(WAIT_SECONDS) for future in futures]
    # The retry in the same commit is not told that it is recorded: it never was.
    for error in errors[:3]:
        assert isinstance(error, Conflict)
        assert error.code is Code.SEQUENCE_MISMATCH
        assert error.facts["actual"] == count
    assert errors[3] is None
    assert client.standing("game").sequence == count
    assert new_head(client, Append("game", count, (remark("a"),))) == count + 1
    check_record(client, "game", count + 2)


def test_a_game_that_another_writer_made_exists(service: Service) -> None:
    service.store.intruder = another_writer(service, "game")
    with pytest.raises(Conflict) as exists:
        new_game(service.client())
    assert exists.value.code is Code.GAME_EXISTS
    assert new_head(service.client(), Append("game", 0, (remark("a"),))) == 1


def test_a_bug_of_ours_stops_nobody(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    client = service.client()
    new_game(client)
    handler = service.app.writer._handler
    advance, refusal = handler._entries, handler.refusal

    def broken(append: Append, game: object) -> object:
        if append.events[0].event_id == "bug":
            raise ZeroDivisionError
        return advance(append, game)  # type: ignore[arg-type]  # whatever it was

    monkeypatch.setattr(handler, "_entries", broken)
    ours, bug, refused = queued(
        service,
        Append("game", 0, (remark("a"),)),
        Append("game", 1, (remark("bug"),)),
        Append("game", 0, (Event(0, TurnPassed(0)),)),
    )
    assert ours.result().head.sequence == 1
    assert isinstance(bug.exception(), ZeroDivisionError)
    assert refused.exception() is not None
    # The game that it happened in is read again from the log, with all that was recorded beside the bug.
    assert client.standing("game").sequence == 1
    assert new_head(client, Append("game", 1, (remark("b"),))) == 2
    monkeypatch.setattr(handler, "refusal", lambda append, error: refusal(append, Refused(error.code)))
    (refused,) = queued(service, Append("game", 2, (Event(0, TurnPassed(0)),)))
    assert isinstance(refused.exception(), KeyError)
    assert new_head(client, Append("game", 2, (remark("c"),))) == 3
    check_record(client, "game", 4)


def test_a_bugs_text_stays_inside() -> None:
    with Service(MemoryStore(), around=buggy()) as service, pytest.raises(grpc.RpcError) as failed:
        log_stub(service).AppendEvents(append_message(Append("game", NO_GAME, (Event(0, ROCKS),))))
    failure: Any = failed.value
    assert (failure.code().name, failure.details()) == ("INTERNAL", "internal error")


def test_a_caller_who_left_before_the_work_began_is_passed_over(service: Service) -> None:
    client = service.client()
    new_game(client)
    with service.store.held() as hold:
        running = log_stub(service).AppendEvents.future(append_message(Append("game", 0, (remark("a"),))))
        hold.wait_until_reached()
        waiting = service.app.writer.submit(Append("game", 1, (remark("b"),)))
        assert waiting.cancel()
        # Who is being served can leave too; it is recorded all the same.
        running.cancel()
    assert new_head(client, Append("game", 1, (remark("c"),))) == 2
    assert client.append(Append("game", 0, (remark("a"),))).is_deduplicated


def test_a_full_queue_says_so(tmp_path: object) -> None:
    del tmp_path
    with Service(MemoryStore(), settings=Settings("", queue_max=1)) as service:
        client = service.client()
        new_game(client)
        with service.store.held() as hold:
            first = service.app.writer.submit(Append("game", 0, (remark("a"),)))
            hold.wait_until_reached()
            second = service.app.writer.submit(Append("game", 1, (remark("b"),)))
            with pytest.raises(grpc.RpcError) as full:
                log_stub(service).AppendEvents(append_message(Append("game", 2, (remark("c"),))))
            failure = failure_of(full.value)
            assert (failure.code.name, failure.reason) == ("RESOURCE_EXHAUSTED", "OVERLOADED")
            assert len(failure.others) == 1
        assert (first.result().head.sequence, second.result().head.sequence) == (1, 2)


def test_a_commit_has_no_more_events_than_it_is_told(tmp_path: object) -> None:
    del tmp_path
    with Service(MemoryStore(), settings=Settings("", group_events_max=3)) as service:
        new_game(service.client())
        futures = queued(service, *(Append("game", number, (remark(f"n{number}"),)) for number in range(7)))
        assert [future.result().head.sequence for future in futures] == list(range(1, 8))
        assert [len(batches) for batches in service.store.commits][-3:] == [3, 3, 1]


def test_draining_finishes_what_is_queued_and_takes_no_more(each_service: Service) -> None:
    new_game(each_service.client())
    writer = each_service.app.writer
    with each_service.store.held() as hold:
        futures = [writer.submit(Append("game", 0, (remark("a"),)))]
        hold.wait_until_reached()
        futures.append(writer.submit(Append("game", 1, (remark("b"),))))
    writer.drain()
    assert all(future.done() for future in futures)
    assert [future.result().head.sequence for future in futures] == [1, 2]
    with pytest.raises(Unavailable) as draining:
        writer.submit(Append("game", 2, (remark("c"),)))
    assert draining.value.code is Code.DRAINING
    writer.drain()
