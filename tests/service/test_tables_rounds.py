"""The tables are read again while nobody waits for anything, a little at a time; what is damaged answers nobody."""

import asyncio
import math
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.errors import Code, Unavailable
from heptalog.service.asked import Question
from heptalog.service.store.memory import MemoryStore
from heptalog.service.tables.keeper import End, Keeper, Lease
from heptalog.service.tables.messages import (
    Command,
    Follow,
    Followed,
    Reply,
    Rest,
    Rested,
    Scrub,
    Scrubbed,
    Take,
    Taken,
)
from heptalog.service.tables.process import Gone
from heptalog.service.tables.questions import Questions
from heptalog.service.tables.rounds import STEP_SIZE, Rounds
from tests.service.querying import settings

DAY = 86_400.0
GIB = 1 << 30


def times_of(rounds: Rounds, total: int, step: int = STEP_SIZE) -> Iterator[float]:
    """When each step of one round is made, where nothing else is to be done."""
    now, left = 0.0, total
    while left:
        now += max(rounds.left(now), 0.0)
        yield now
        read = min(step, left)
        left -= read
        rounds.took(read, total, now, is_over=not left)


def begun() -> Rounds:
    """Rounds of a day, at the moment of a start."""
    rounds = Rounds(DAY)
    rounds.begin(0.0)
    return rounds


@pytest.mark.parametrize("total", [1, STEP_SIZE, 9_200_000, GIB, 40 * GIB])
def test_the_first_round_is_soon_and_the_others_take_a_day(total: int) -> None:
    rounds = begun()
    first = list(times_of(rounds, total))
    count = math.ceil(total / STEP_SIZE)
    assert len(first) == count
    assert first[-1] <= 10.0 + 0.25 * count, "a gigabyte in less than five minutes"
    start = first[-1]
    now = start
    for number in range(2, 5):
        left = total
        while left:
            now += rounds.left(now)
            read = min(STEP_SIZE, left)
            left -= read
            rounds.took(read, total, now, is_over=not left)
        longest = max(DAY * STEP_SIZE / total, 0.25)
        assert start + (number - 1) * DAY - now <= min(longest, DAY) + 1e-3
        assert now <= start + (number - 1) * DAY + 1e-3


def test_more_than_a_day_allows_takes_longer_and_no_more_of_a_processor() -> None:
    rounds = begun()
    total = 1000 * GIB
    rounds.took(total, total, 0.0, is_over=True)
    now = 2 * DAY
    rounds.took(STEP_SIZE, total, now, is_over=False)
    assert rounds.left(now) == 0.25


def test_what_was_kept_from_is_made_up_for_at_the_pace_of_a_first_round() -> None:
    rounds = begun()
    rounds.took(GIB, GIB, 10.0, is_over=True)
    # Half of the next round without a moment of quiet.
    now = 10.0 + 1.5 * DAY
    steps = 0
    while rounds.left(now) <= 0.25:
        now += max(rounds.left(now), 0.0)
        rounds.took(STEP_SIZE, GIB, now, is_over=False)
        steps += 1
    assert steps == pytest.approx(0.5 * GIB / STEP_SIZE, abs=3)


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_no_rounds_are_never(seconds: float) -> None:
    rounds = Rounds(seconds)
    rounds.begin(0.0)
    assert rounds.left(1e12) == math.inf


class Files:
    """A process that follows without a process, and files that take so many steps to be read."""

    number = 7

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.done = 0
        self.told: list[str] = []
        self.damaged = ""
        self.has_more = False
        self.is_killed = False
        self.ended = ""
        self.stopping: Callable[[], object] = list

    def tell(self, command: Command) -> Reply:
        if self.is_killed:
            raise Gone("killed")
        self.told.append(type(command).__name__)
        match command:
            case Follow():
                return Followed(5, 0, self.has_more)
            case Take():
                return Taken(1, Snapshot(5, 0, ("/tables",), {}))
            case Rest():
                return Rested(has_more=False)
            case Scrub(size=size):
                assert size == STEP_SIZE
                self.done += 1
                return Scrubbed(STEP_SIZE, STEP_SIZE * self.steps, self.done % self.steps == 0, self.damaged)
            case _:
                raise AssertionError(command)

    def stop(self) -> None:
        self.stopping()
        self.ended = "stopped"

    def end(self) -> None:
        raise AssertionError("nobody ends it")

    def kill(self) -> None:
        self.ended = "killed"


class Kept:
    """A keeper that goes a step when it is told to, at a time that is told."""

    def __init__(self, steps: int = 3) -> None:
        self.now = 0.0
        self.started: list[Files] = []
        self.steps = steps
        self.keeper = Keeper(self.start, rounds=Rounds(DAY), clock=lambda: self.now)

    def start(self) -> Files:
        self.started.append(Files(self.steps))
        return self.started[-1]

    def go(self, seconds: float = 0.0) -> list[str]:
        """What it does until nothing is due, after so many seconds."""
        self.now += seconds
        before = [command for files in self.started for command in files.told]
        keeper = self.keeper
        while (keeper._has_work() and keeper._pause() <= 0) or (
            keeper._is_idle() and keeper._rounds.left(self.now) <= 0
        ):
            assert keeper._wait()
            try:
                keeper._step()
            except Gone as error:
                keeper._stumble(error)
        return [command for files in self.started for command in files.told][len(before) :]


def test_it_begins_soon_and_goes_on_at_its_pace_and_then_in_a_day() -> None:
    kept = Kept(steps=3)
    assert kept.go() == ["Follow"]
    assert kept.go(1.0) == ["Rest"]
    assert kept.go(8.9) == []
    assert [kept.go(0.25) for _ in range(4)] == [["Scrub"], ["Scrub"], ["Scrub"], []]
    assert kept.go(DAY / 4) == []
    assert [kept.go(DAY / 3) for _ in range(4)] == [["Scrub"]] * 4


def test_what_is_new_comes_first_and_does_not_keep_it_from_going_on() -> None:
    """Events come all the time, so that there is never a quiet moment: between two steps there is one."""
    kept = Kept(steps=4)
    kept.go()
    kept.now = 20.0
    told = []
    for _ in range(12):
        kept.keeper.tell()
        told += kept.go(0.125)
    assert told[0] == "Follow"
    assert told.count("Scrub") == 4
    assert "Rest" not in told


def test_it_stops_while_the_tables_are_behind_and_while_somebody_waits() -> None:
    kept = Kept()
    kept.go()
    (files,) = kept.started
    kept.now = 100.0
    files.has_more = True
    kept.keeper.tell()
    for _ in range(5):
        assert kept.keeper._wait()
        kept.keeper._step()
    assert files.told == ["Follow"] * 6, "as long as there is more"
    files.has_more = False
    waiting = kept.keeper.lease(End(6, 0))
    assert not kept.keeper._is_idle()
    assert kept.go(0.2)[:1] == ["Follow"]
    assert "Scrub" not in kept.go(5.0)
    assert waiting.cancel()


def test_a_question_that_comes_with_a_step_is_next() -> None:
    kept = Kept(steps=1000)
    kept.go()
    kept.go(10.0)
    kept.now += 0.25
    assert kept.keeper._wait()
    lease = kept.keeper.lease(End(5, 0))
    kept.keeper._step()
    assert kept.started[0].told[-1] == "Scrub", "one step at most"
    kept.go()
    assert lease.result(0).end == End(5, 0)
    assert kept.started[0].told[-2:] == ["Follow", "Take"]


def test_damage_is_told_once_and_nothing_is_given_out_of_it(caplog: pytest.LogCaptureFixture) -> None:
    kept = Kept()
    old = kept.keeper.lease(End(0, 0))
    kept.go()
    lease = old.result(0)
    (files,) = kept.started
    assert kept.keeper.lease(End(0, 0)).result(0) is lease
    files.damaged = "000007.parquet"
    asked_meanwhile = []
    files.stopping = lambda: asked_meanwhile.append(kept.keeper.lease(End(0, 0)))
    assert not kept.keeper.is_damaged(lease)
    # The process that is started at once does what there is to do.
    assert kept.go(10.0)[-3:] == ["Scrub", "Follow", "Take"]
    assert files.ended == "stopped"
    assert kept.keeper.is_damaged(lease)
    assert kept.keeper.doubt(lease).result(0), "who could not read it is asked once more"
    (meanwhile,) = asked_meanwhile
    fresh = kept.keeper.lease(End(0, 0)).result(0)
    assert meanwhile.result(0) is fresh
    assert fresh.follower is kept.started[1]
    assert not kept.keeper.is_damaged(fresh)
    assert not kept.keeper.is_failing
    assert [record.getMessage() for record in caplog.records] == [
        "the tables are damaged, and are made anew: 000007.parquet is not what was written"
    ]
    assert [kept.go(10.0), kept.go(0.25), kept.go(0.25)][-1] == ["Scrub"], "and the new ones are read soon"


def test_a_process_that_is_killed_in_the_middle_is_replaced_and_a_round_begins(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kept = Kept(steps=5)
    kept.go()
    kept.go(10.0)
    kept.started[0].is_killed = True
    kept.go(0.25)
    assert kept.started[0].ended == "killed"
    assert kept.go(1.0)[:1] == ["Follow"]
    assert "the tables are kept again" in caplog.text
    told = [command for _ in range(8) for command in kept.go(10.0)]
    assert told.count("Scrub") == 5


def test_an_answer_that_damage_was_found_under_has_no_end(tmp_path: Path) -> None:
    class Damaged:
        rows = 0
        out = 0

        def lease(self, _: End) -> "Future[Lease]":
            self.out += 1
            given: Future[Lease] = Future()
            given.set_result(Lease(1, Snapshot(0, 0, (str(tmp_path),), {}), damaged))
            return given

        def release(self, _: Lease) -> None:
            self.out -= 1

        def is_damaged(self, _: Lease) -> bool:
            return True

        def ask(self, *_: object) -> Any:
            return self

        def __iter__(self) -> Iterator[bytes]:
            yield b"x"

        def cancel(self) -> None:
            """Do nothing."""

        close = cancel

    damaged: Any = Damaged()

    async def one() -> None:
        questions = Questions(MemoryStore(), damaged, damaged, settings(queries_max=1))
        parts = questions.answer(Question("SELECT 1"))
        assert [await anext(parts), await anext(parts)][1] == b"x"
        with pytest.raises(Unavailable) as caught:
            await anext(parts)
        assert caught.value.code is Code.QUERY_FAILED
        questions.close()

    asyncio.run(one())
    assert damaged.out == 0
