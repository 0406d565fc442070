"""A question whose files cannot be read waits for a word on them, and so may others."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.errors import Code, HeptalogError, Unavailable, error_of
from heptalog.service.asked import Part, Question, Started
from heptalog.service.store.memory import MemoryStore
from heptalog.service.tables.keeper import End, Lease
from heptalog.service.tables.questions import Questions
from tests.service.querying import settings


class Doubtful:
    """Gives out a moment that nobody can read, and has no word on it yet; nor has it workers."""

    def __init__(self, folder: Path) -> None:
        self.snapshot = Snapshot(0, 0, (str(folder),), {})
        self.word: Future[bool] = Future()
        self.doubts = 0
        self.out = 0

    def lease(self, _: End) -> "Future[Lease]":
        self.out += 1
        given: Future[Lease] = Future()
        given.set_result(Lease(self.out, self.snapshot, None))  # type: ignore[arg-type]  # nobody asks who follows
        return given

    def release(self, _: Lease) -> None:
        self.out -= 1

    def doubt(self, _: Lease) -> "Future[bool]":
        self.doubts += 1
        return self.word

    def ask(self, *_: object) -> None:
        raise Unavailable(Code.QUERY_FAILED, problem="a file is gone")


async def ask(questions: Questions, question: Question) -> None:
    async for _ in questions.answer(question):
        pass


def questions_of(doubtful: Any) -> Questions:
    # Its clock stands still: only a word that does not come takes time.
    return Questions(MemoryStore(), doubtful, doubtful, settings(queries_max=2, query_seconds=30.0), clock=lambda: 0.0)


async def until_doubted(doubtful: Doubtful, count: int) -> None:
    while doubtful.doubts < count:
        await asyncio.sleep(0)


@pytest.mark.parametrize("is_better", [True, False])
def test_who_goes_away_takes_the_word_from_nobody(tmp_path: Path, is_better: bool) -> None:
    doubtful = Doubtful(tmp_path)

    async def both() -> None:
        questions = questions_of(doubtful)
        leaving, staying = [asyncio.create_task(ask(questions, Question("SELECT 1"))) for _ in range(2)]
        await until_doubted(doubtful, 2)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        doubtful.word.set_result(is_better)
        with pytest.raises(Unavailable) as caught:
            await staying
        assert caught.value.code is Code.QUERY_FAILED
        questions.close()

    asyncio.run(both())
    assert doubtful.out == 0


def test_no_word_in_time_is_a_no(tmp_path: Path) -> None:
    doubtful = Doubtful(tmp_path)

    async def one() -> None:
        questions = questions_of(doubtful)
        with pytest.raises(Unavailable) as caught:
            await ask(questions, Question("SELECT 1", seconds=0.5))
        assert caught.value.code is Code.QUERY_FAILED
        questions.close()

    asyncio.run(one())
    assert (doubtful.doubts, doubtful.out) == (1, 0)


def test_a_moment_that_is_there_is_not_waited_for(tmp_path: Path) -> None:
    doubtful = Doubtful(tmp_path)
    lease = asyncio.run(questions_of(doubtful).lease(End(0, 0), 0.0))
    assert (lease.number, doubtful.out) == (1, 1)


class Breaking(Doubtful):
    """Has a worker that gives one piece, and then fails."""

    rows = 0

    def __init__(self, folder: Path, error: HeptalogError) -> None:
        super().__init__(folder)
        self.error = error

    def ask(self, *_: object) -> Any:
        return self

    def __iter__(self) -> Iterator[bytes]:
        yield b"x"
        raise self.error

    def cancel(self) -> None:
        """Do nothing."""

    close = cancel


@pytest.mark.parametrize(
    ("code", "doubts"), [(Code.QUERY_FAILED, 1), (Code.RESULT_TOO_LARGE, 0), (Code.QUERY_TOO_LONG, 0)]
)
def test_a_failure_in_the_middle_is_looked_into_for_the_next_one(tmp_path: Path, code: Code, doubts: int) -> None:
    breaking = Breaking(tmp_path, error_of(code))

    async def one() -> list[Part]:
        questions = questions_of(breaking)
        parts = questions.answer(Question("SELECT 1"))
        given = [await anext(parts), await anext(parts)]
        # Nobody waits for a word, which never comes here.
        with pytest.raises(HeptalogError) as caught:
            await anext(parts)
        assert caught.value is breaking.error
        questions.close()
        return given

    assert asyncio.run(one()) == [Started(0), b"x"]
    assert (breaking.doubts, breaking.out) == (doubts, 0)


@pytest.mark.parametrize(("seconds", "told"), [(None, 30.0), (7.12345, 7.123), (99.0, 30.0), (0.0001, 0.001)])
def test_too_long_tells_the_limit_and_not_what_was_left_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float | None, told: float
) -> None:
    breaking = Breaking(tmp_path, Unavailable(Code.QUERY_TOO_LONG, seconds_max=0.123456789))

    async def one() -> None:
        # A tenth of a millisecond would pass before anybody is asked.
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: 0.0)
        questions = questions_of(breaking)
        with pytest.raises(Unavailable) as caught:
            await ask(questions, Question("SELECT 1", seconds=seconds))
        assert caught.value.facts == {"seconds_max": told}
        questions.close()

    asyncio.run(one())
