"""Work in many processes: in order, counted, stopped where it fails, and not waited for where one is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from functools import partial
from pathlib import Path

import pytest

from heptalog.analytics.processes import Tally, in_order, in_order_tallied
from heptalog.analytics.signals import ending, unheard
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

    results = in_order(_of_ten, numbers(), jobs=2, work="divided")
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


@pytest.mark.parametrize(
    ("work", "did"),
    [
        (partial(in_order, work="played games"), "played games"),
        (partial(in_order_tallied, tell=lambda done: None), "made the tables"),
    ],
)
def test_a_process_that_is_killed_is_told(work: Callable[..., Iterator[int]], did: str) -> None:
    with pytest.raises(Unavailable) as failure:
        list(work(_die, range(3), jobs=2))
    assert failure.value.code is Code.SOURCE_UNREADABLE
    assert failure.value.facts == {"problem": f"a process that {did} was killed"}


# Read by every Python that begins: Ctrl-C comes before a process has loaded anything of ours.
_AT_ONCE = """
import os, signal, sys
if "--multiprocessing-fork" in sys.orig_argv:
    os.kill(os.getpid(), signal.SIGINT)
"""
_WORK = """
from math import isqrt
from heptalog.analytics.processes import in_order
if __name__ == "__main__":
    print(list(in_order(isqrt, [4, 9, 16], jobs=2, work="took roots")))
"""


def test_a_process_does_not_hear_an_interrupt_not_even_while_it_loads(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_AT_ONCE)
    (tmp_path / "work.py").write_text(_WORK)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, tmp_path / "work.py"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[2, 3, 4]\n", "")


def test_who_starts_processes_still_hears_it_and_is_as_before() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    begun: list[str] = []

    def begin() -> None:
        with unheard():
            signal.raise_signal(signal.SIGINT)
            begun.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        begin()
    assert begun
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


@pytest.mark.parametrize(("code", "told"), [(1, "ended with 1"), (-9, "was ended by signal 9")])
def test_how_a_process_has_ended_is_told(code: int, told: str) -> None:
    assert ending(code) == told
