"""Work in many processes: in order, counted, stopped where it fails, and not waited for where one is killed."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from functools import partial

import pytest

from heptalog.analytics.processes import Tally, in_order, in_order_tallied
from heptalog.replay.errors import Code, Unavailable


def _square(number: int, tally: Tally) -> int:
    for _ in range(number):
        tally.add(1)
    return number * number


def _fail_at_first(number: int, tally: Tally) -> int:
    if not number:
        raise KeyError(number)
    # Work without end, but for being told that it is for nothing.
    while True:
        tally.add(1)


def _die(*_: object) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def _of_ten(number: int) -> int:
    return number // 10


def test_results_come_in_order_and_work_is_asked_for_as_it_is_needed() -> None:
    asked: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(1_000):
            asked.append(number)
            yield number

    results = in_order(_of_ten, numbers(), jobs=2)
    first = next(results)
    assert len(asked) < 100
    assert [first, *results] == [number // 10 for number in range(1_000)]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_results_come_in_order_and_are_counted(jobs: int, count: int) -> None:
    told: list[int] = []
    assert list(in_order_tallied(_square, range(count), jobs=jobs, tell=told.append)) == [
        number * number for number in range(count)
    ]
    assert told == sorted(told)
    if jobs == 1:
        assert told[-1:] == [sum(range(count))][: len(told)]


def test_where_one_fails_the_others_are_stopped() -> None:
    with pytest.raises(KeyError):
        list(in_order_tallied(_fail_at_first, range(4), jobs=2, tell=lambda done: None))


def test_who_asks_no_more_stops_them() -> None:
    results = in_order_tallied(_fail_at_first, [1, 2, 3], jobs=2, tell=_stop)
    with pytest.raises(CancelledError):
        next(results)


def _stop(done: int) -> None:
    raise CancelledError


@pytest.mark.parametrize("work", [in_order, partial(in_order_tallied, tell=lambda done: None)])
def test_a_process_that_is_killed_is_told(work: Callable[..., Iterator[int]]) -> None:
    with pytest.raises(Unavailable) as failure:
        list(work(_die, range(3), jobs=2))
    assert failure.value.code is Code.SOURCE_UNREADABLE
