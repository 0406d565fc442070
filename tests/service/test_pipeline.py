"""Preparing the next appends while a commit is on its way: nothing that shows, whatever becomes of that commit."""

from concurrent.futures import Future

import pytest

from heptalog.replay.errors import Code, Conflict, HeptalogError, Unavailable
from heptalog.replay.events import Event
from heptalog.service.appending.jobs import Job
from heptalog.service.appends import Append, Receipt
from heptalog.service.config import Settings
from heptalog.service.store import NO_GAME, Batch, Entry
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import FOREIGN, ROCKS, check_positions, check_record, new_game, remark
from tests.support.evidence import recorded
from tests.support.serving import WAIT_SECONDS, Hold, Service

# Enough for a commit to be brought to the disk by a thread of its own, and for the writer to go on meanwhile.
MANY = 150


def many(game_id: str, first: int, count: int = MANY) -> Append:
    """A batch of remarks from this sequence on."""
    return Append(game_id, first - 1, tuple(remark(f"n{number}") for number in range(first, first + count)))


class Pipeline:
    """A commit that is held, and appends that were prepared on top of it before it is let go of."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.futures: list[Future[Receipt]] = []

    def prepared(self, *appends: Append) -> None:
        """Send these, and wait until the writer has prepared them, but for what is too little to be woken for."""
        self.futures += [self.service.app.writer.submit(append) for append in appends]
        waiting = self.service.app.writer._waiting
        count = len(self.futures) - 1
        with waiting.changed:
            assert waiting.changed.wait_for(
                lambda: waiting._event_count < MANY and waiting.count == count, WAIT_SECONDS
            )

    def outcomes(self) -> list[Receipt | HeptalogError]:
        """What came of each."""
        found: list[Receipt | HeptalogError] = []
        for future in self.futures:
            error = future.exception(WAIT_SECONDS)
            assert error is None or isinstance(error, HeptalogError)
            found.append(future.result() if error is None else error)
        return found


@pytest.fixture
def pipeline(each_service: Service) -> Pipeline:
    """A service with two games that have their starts."""
    for game_id in ("one", "two"):
        each_service.client().append(
            Append(game_id, NO_GAME, tuple(event for event, _ in recorded([ROCKS], game_id=game_id)), is_imported=True)
        )
    return Pipeline(each_service)


def held(pipeline: Pipeline, hold: Hold) -> None:
    """Send a large commit of game one and wait until it is at the store."""
    pipeline.futures.append(pipeline.service.app.writer.submit(many("one", 1)))
    hold.wait_until_reached()


def test_what_is_prepared_on_a_commit_is_committed_behind_it(pipeline: Pipeline) -> None:
    with pipeline.service.store.held() as hold:
        held(pipeline, hold)
        pipeline.prepared(many("one", 1 + MANY), many("two", 1))
        # None of it shows.
        client = pipeline.service.client()
        assert [client.standing(game_id).sequence for game_id in ("one", "two")] == [0, 0]
        assert not any(future.done() for future in pipeline.futures)
    heads = [outcome.head.sequence for outcome in pipeline.outcomes() if isinstance(outcome, Receipt)]
    assert heads == [MANY, 2 * MANY, MANY]
    assert [len(batches) for batches in pipeline.service.store.commits][-2:] == [1, 2]
    check_record(client, "one", 2 * MANY + 1)
    check_positions(client, 3 * MANY + 2)


def test_a_commit_that_fails_takes_nothing_else_with_it(pipeline: Pipeline) -> None:
    with pipeline.service.store.held() as hold:
        held(pipeline, hold)
        pipeline.prepared(many("one", 1 + MANY), many("two", 1), Append("two", MANY, (Event(0, FOREIGN),)))
        pipeline.service.store.failures.append(OSError("no space left"))
    failed, behind, beside, refused = pipeline.outcomes()
    assert isinstance(failed, Unavailable)
    # It stood on what is not there, and is told so as if it had come afterwards.
    assert isinstance(behind, Conflict)
    assert (behind.code, behind.facts["actual"]) == (Code.SEQUENCE_MISMATCH, 0)
    assert isinstance(beside, Receipt)
    assert isinstance(refused, HeptalogError)
    assert [refusal.sequence for refusal in pipeline.service.store.refusals()] == [MANY + 1]
    client = pipeline.service.client()
    assert [client.standing(game_id).sequence for game_id in ("one", "two")] == [0, MANY]
    # The very same, again, is new.
    for append in (many("one", 1), many("one", 1 + MANY)):
        assert not client.append(append).is_deduplicated
    check_record(client, "one", 2 * MANY + 1)
    check_positions(client, 3 * MANY + 2)


def test_a_retry_of_what_is_on_its_way_has_its_fate(pipeline: Pipeline) -> None:
    with pipeline.service.store.held() as hold:
        held(pipeline, hold)
        pipeline.prepared(many("one", 1), many("two", 1))
    first, again, _ = pipeline.outcomes()
    assert isinstance(first, Receipt)
    assert isinstance(again, Receipt)
    assert (again.is_deduplicated, again.head) == (True, first.head)


def test_a_retry_of_what_fails_is_recorded(pipeline: Pipeline) -> None:
    with pipeline.service.store.held() as hold:
        held(pipeline, hold)
        pipeline.prepared(many("one", 1), many("two", 1))
        pipeline.service.store.failures.append(Unavailable(Code.WRITE_FAILED))
    first, again, _ = pipeline.outcomes()
    assert isinstance(first, Unavailable)
    assert isinstance(again, Receipt)
    assert not again.is_deduplicated
    check_record(pipeline.service.client(), "one", MANY + 1)


def test_another_writer_was_faster_than_the_commit_on_its_way(pipeline: Pipeline) -> None:
    service = pipeline.service

    def intrude() -> None:
        bodies = [ROCKS, remark("theirs").body]
        event, record = recorded(bodies, game_id="one")[1]
        service.store.inner.append([Batch("one", 0, (Entry(record, event),))])

    with service.store.held() as hold:
        held(pipeline, hold)
        pipeline.prepared(many("one", 1 + MANY), many("two", 1), Append("one", 1, (remark("ours"),)))
        service.store.intruder = intrude
    lost, behind, beside, after = pipeline.outcomes()
    assert isinstance(lost, Conflict)
    assert isinstance(behind, Conflict)
    assert [error.facts["actual"] for error in (lost, behind)] == [1, 1]
    assert isinstance(beside, Receipt)
    # It named the head that the other one has made, as if it had known.
    assert isinstance(after, Receipt)
    assert after.head.sequence == 2
    check_record(service.client(), "one", 3)


def test_a_stale_head_is_told_while_a_commit_is_on_its_way(pipeline: Pipeline) -> None:
    with pipeline.service.store.held() as hold:
        held(pipeline, hold)
        futures = [pipeline.service.app.writer.submit(append) for append in (many("two", 1), many("one", 1, 1))]
        futures.append(pipeline.service.app.writer.submit(Append("one", 3, (remark("late"),))))
    pipeline.futures += futures
    _, _, again, stale = pipeline.outcomes()
    assert isinstance(again, Receipt)
    assert again.is_deduplicated
    assert isinstance(stale, Conflict)
    assert stale.facts["actual"] == MANY


class Leaver(Job):
    """One that is waited for until it is left."""

    is_left = False

    def begins(self) -> bool:
        return not self.is_left


def test_who_leaves_once_it_is_prepared_costs_nobody_anything(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = pipeline.service.app.writer
    prepare = writer._handler.prepare
    prepared: list[str] = []

    def counted(append: Append) -> object:
        prepared.append(append.game_id)
        return prepare(append)

    monkeypatch.setattr(writer._handler, "prepare", counted)
    leaver = Leaver(Append("left", NO_GAME, (Event(0, ROCKS, event_id="start"),)), lambda _: None)
    with pipeline.service.store.held() as hold:
        held(pipeline, hold)
        reading_count = pipeline.service.store.reading_count
        writer.enqueue(leaver)
        # It is in the queue with the others, which are counted by their futures.
        pipeline.futures.append(Future())
        pipeline.prepared(many("one", 1 + MANY), many("two", 1))
        pipeline.futures.pop(1)
        leaver.is_left = True
        assert not any(future.cancel() for future in pipeline.futures)
    assert all(isinstance(outcome, Receipt) for outcome in pipeline.outcomes())
    assert prepared == ["one", "left", "one", "two"]
    # But for the two that were not at hand.
    assert pipeline.service.store.reading_count - reading_count <= 2
    # It is recorded all the same, and whoever comes again is recognised.
    client = pipeline.service.client()
    assert client.append(leaver.append).is_deduplicated
    assert client.append(many("two", 1)).is_deduplicated


def test_a_bug_meets_only_its_own_append(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    handler = pipeline.service.app.writer._handler
    advance = handler._entries

    def broken(append: Append, game: object) -> object:
        if append.events[0].event_id == "bug":
            raise ZeroDivisionError
        return advance(append, game)  # type: ignore[arg-type]  # whatever it was

    monkeypatch.setattr(handler, "_entries", broken)
    with pipeline.service.store.held() as hold:
        held(pipeline, hold)
        submit = pipeline.service.app.writer.submit
        ours = submit(many("one", 1 + MANY))
        bug = submit(Append("one", 2 * MANY, (remark("bug"),)))
        after = submit(many("two", 1))
    assert ours.result(WAIT_SECONDS).head.sequence == 2 * MANY
    assert isinstance(bug.exception(WAIT_SECONDS), ZeroDivisionError)
    assert after.result(WAIT_SECONDS).head.sequence == MANY
    client = pipeline.service.client()
    assert client.append(Append("one", 2 * MANY, (remark("next"),))).head.sequence == 2 * MANY + 1
    check_record(client, "one", 2 * MANY + 2)


def test_games_that_run_ahead_are_not_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heptalog.service.writer._SHRINK_EVERY", 1)
    with Service(MemoryStore(), settings=Settings("", live_events_max=1)) as service:
        games = [f"game-{number}" for number in range(4)]
        for game_id in games:
            new_game(service.client(), game_id)
        futures = [service.app.writer.submit(many(game_id, 1 + at * MANY)) for at in range(5) for game_id in games]
        for future in futures:
            future.result(WAIT_SECONDS)
        for game_id in games:
            check_record(service.store, game_id, 5 * MANY + 1)
        # Once they are all durable they are let go of.
        service.client().append(many("game-0", 1 + 5 * MANY, 1))
        assert list(service.app.writer._live._games) == ["game-0"]


def test_what_met_the_committing_thread_leaves_nobody_waiting(
    each_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_game(each_service.client(), "one")
    pipeline = Pipeline(each_service)
    with each_service.store.held() as hold:
        held(pipeline, hold)
        pipeline.prepared(many("one", 1 + MANY))

        def broken(*_: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(each_service.app.writer._groups, "settle_calm", broken)
    assert [getattr(outcome, "code", None) for outcome in pipeline.outcomes()] == [Code.WRITE_FAILED] * 2
    assert each_service.app.writer.is_broken
