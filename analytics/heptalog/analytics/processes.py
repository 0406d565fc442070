"""Work in many processes at once, with its results in order; those processes end with the one that started them."""

import gc
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.context import SpawnContext
from threading import Thread
from typing import Final, TypeVar

from heptalog.analytics.own_process import without_pandas
from heptalog.analytics.signals import unheard
from heptalog.replay.errors import Code, Unavailable

T = TypeVar("T")
R = TypeVar("R")

# A fresh interpreter each: a forked one would share connections and half-held locks.
_FRESH: Final[SpawnContext] = multiprocessing.get_context("spawn")
_WAITING_PER_PROCESS: Final = 4
_TELL_SECONDS: Final = 0.2
# What is done of each item, in memory that all processes have; the last says whether all is for nothing. No locks: who
# is killed would take them along.
_shared: MutableSequence[int] = []


class Tally:
    """Counts what is done of one item."""

    def __init__(self, shared: MutableSequence[int], place: int) -> None:
        self._shared = shared
        self._place = place

    def add(self, count: int) -> None:
        """So much more. Raises CancelledError where nobody wants the result any more."""
        if self._shared[-1]:
            raise CancelledError
        self._shared[self._place] += count


def core_count() -> int:
    """How many processes can work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(function: Callable[[T], R], items: Iterable[T], *, jobs: int, work: str) -> Iterator[R]:
    """What a function makes of each item, in so many processes; never more is on its way than is held easily.

    Raises Unavailable where a process is killed: one that did this `work`, as in "examined games".
    """
    waiting: deque[Future[R]] = deque()
    with _pool(_begin, jobs=jobs, work=work) as pool:
        for item in items:
            waiting.append(_begun(pool, function, item))
            if len(waiting) >= jobs * _WAITING_PER_PROCESS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def in_order_tallied(
    function: Callable[[T, Tally], R], items: Sequence[T], *, jobs: int, tell: Callable[[int], None]
) -> Iterator[R]:
    """What a function makes of each of a few large items; `tell` is told now and then what is counted so far.

    With one job it is done in this process. Raises Unavailable where a process is killed.
    """
    if jobs == 1 or len(items) <= 1:
        counts = [0] * (len(items) + 1)
        for place, item in enumerate(items):
            yield function(item, Tally(counts, place))
            tell(sum(counts))
        return
    shared = _FRESH.RawArray("q", len(items) + 1)
    with _pool(_begin_tallied, shared, jobs=min(jobs, len(items)), work="made the tables") as pool:
        try:
            futures: list[Future[R]] = [
                _begun(pool, _tallied, function, item, place) for place, item in enumerate(items)
            ]
            for future in futures:
                while not future.done():
                    wait([future], _TELL_SECONDS)
                    tell(sum(shared))
                yield future.result()
        finally:
            shared[len(items)] = 1


@contextmanager
def _pool(begin: Callable[..., None], *arguments: object, jobs: int, work: str) -> Iterator[ProcessPoolExecutor]:
    """So many processes, which are waited for in the end; what has not begun by then is not done."""
    pool = ProcessPoolExecutor(jobs, mp_context=_FRESH, initializer=begin, initargs=arguments)
    try:
        yield pool
    except BrokenProcessPool as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, problem=f"a process that {work} was killed") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begun(pool: ProcessPoolExecutor, function: Callable[..., R], *arguments: object) -> "Future[R]":
    """Have a pool do something; a process that it starts for that never hears Ctrl-C."""
    with unheard():
        return pool.submit(partial(function, *arguments))


# In the other processes.


def _begin() -> None:
    without_pandas()
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only in a process that was started for this"
    parent.join()
    os._exit(0)


def _begin_tallied(shared: MutableSequence[int]) -> None:
    global _shared
    _shared = shared
    # Rows are many small tuples without cycles: looking for some every few hundred would cost a tenth of the time.
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    _begin()


def _tallied(function: Callable[[T, Tally], R], item: T, place: int) -> R:
    return function(item, Tally(_shared, place))
