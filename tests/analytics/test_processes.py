"""Work in many processes: in order, counted, stopped where it fails, and not waited for where one is killed."""

import os
import signal
from concurrent.futures import CancelledError

import pytest

from heptalog.analytics.keeping.processes import Counter, in_processes
from heptalog.replay.errors import Code, Unavailable


def _square(number: int, counter: Counter) -> int:
    for _ in range(number):
        counter.add(1)
    return number * number


def _fail_at_first(number: int, counter: Counter) -> int:
    if not number:
        raise KeyError(number)
    # Work without end, but for being told that it is for nothing.
    while True:
        counter.add(1)


def _die(number: int, counter: Counter) -> int:
    del number, counter
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_results_come_in_order_and_are_counted(processes: int, count: int) -> None:
    told: list[int] = []
    assert list(in_processes(_square, range(count), processes=processes, tell=told.append)) == [
        number * number for number in range(count)
    ]
    assert told == sorted(told)
    if processes == 1:
        assert told[-1:] == [sum(range(count))][: len(told)]


def test_where_one_fails_the_others_are_stopped() -> None:
    with pytest.raises(KeyError):
        list(in_processes(_fail_at_first, range(4), processes=2, tell=lambda done: None))


def test_who_asks_no_more_stops_them() -> None:
    results = in_processes(_fail_at_first, [1, 2, 3], processes=2, tell=_stop)
    with pytest.raises(CancelledError):
        next(results)


def _stop(done: int) -> None:
    raise CancelledError


def test_a_process_that_is_killed_is_told() -> None:
    with pytest.raises(Unavailable) as failure:
        list(in_processes(_die, range(3), processes=2, tell=lambda done: None))
    assert failure.value.code is Code.SOURCE_UNREADABLE
