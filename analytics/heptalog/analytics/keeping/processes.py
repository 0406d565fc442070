"""Work in many processes at once, with a count of what is done so far."""

import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from threading import Thread
from typing import Final, TypeVar

from heptalog.replay.errors import Code, Unavailable

T = TypeVar("T")
R = TypeVar("R")

_TELL_SECONDS: Final = 0.2
# What is done of each item, in memory that all processes have; the last says whether all is for nothing. No locks: who
# is killed would take them along.
_shared: MutableSequence[int] = []


class Counter:
    """Counts what is done of one item."""

    def __init__(self, shared: MutableSequence[int], place: int) -> None:
        self._shared = shared
        self._place = place

    def add(self, count: int) -> None:
        """So much more. Raises CancelledError where nobody wants the result any more."""
        if self._shared[-1]:
            raise CancelledError
        self._shared[self._place] += count


def in_processes(
    function: Callable[[T, Counter], R], items: Sequence[T], *, processes: int, tell: Callable[[int], None]
) -> Iterator[R]:
    """What a function makes of each item, in their order; `tell` is told what is counted so far.

    With one process it is done in this one. Raises Unavailable where a process is killed.
    """
    if processes == 1 or len(items) <= 1:
        counts = [0] * (len(items) + 1)
        for place, item in enumerate(items):
            yield function(item, Counter(counts, place))
            tell(sum(counts))
        return
    # A fresh interpreter each: a forked one would share connections and half-held locks.
    context = multiprocessing.get_context("spawn")
    shared = context.RawArray("q", len(items) + 1)
    pool = ProcessPoolExecutor(min(processes, len(items)), mp_context=context, initializer=_begin, initargs=(shared,))
    try:
        futures: list[Future[R]] = [pool.submit(_work, function, item, place) for place, item in enumerate(items)]
        for future in futures:
            while not future.done():
                wait([future], _TELL_SECONDS)
                tell(sum(shared))
            yield future.result()
    except BrokenProcessPool as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, problem="a process that made the tables was killed") from error
    finally:
        shared[len(items)] = 1
        pool.shutdown(wait=True, cancel_futures=True)


# In the other processes.


def _begin(shared: MutableSequence[int]) -> None:
    global _shared
    _shared = shared
    # Rows are many small tuples without cycles: looking for some every few hundred would cost a tenth of the time.
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    # Ctrl-C goes to all of them, and only the first tells of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _work(function: Callable[[T, Counter], R], item: T, place: int) -> R:
    return function(item, Counter(_shared, place))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only in a process that was started for this"
    parent.join()
    os._exit(0)
