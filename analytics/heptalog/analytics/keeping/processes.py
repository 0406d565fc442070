"""Work in many processes at once, with a count of what is done that all of them add to."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.sharedctypes import Synchronized
from threading import Thread
from typing import Final, TypeVar

from heptalog.replay.errors import Code, Unavailable

T = TypeVar("T")
R = TypeVar("R")

_TELL_SECONDS: Final = 0.2
_counted: "Synchronized[int] | None" = None


class Counter:
    """Counts what is done."""

    def __init__(self, total: "Synchronized[int] | None" = None) -> None:
        self._total = total
        self.here = 0

    def add(self, count: int) -> None:
        """So many more."""
        self.here += count
        if self._total is not None:
            with self._total.get_lock():
                self._total.value += count


def in_processes(
    function: Callable[[T, Counter], R], items: Sequence[T], *, processes: int, tell: Callable[[int], None]
) -> Iterator[R]:
    """What a function makes of each item, in their order; `tell` is told what is counted so far.

    With one process it is done in this one. Raises Unavailable where a process is killed.
    """
    if processes == 1 or len(items) <= 1:
        counter = Counter()
        for item in items:
            yield function(item, counter)
            tell(counter.here)
        return
    # A fresh interpreter each: a forked one would share connections and half-held locks.
    context = multiprocessing.get_context("spawn")
    total: Synchronized[int] = context.Value("q", 0)
    pool = ProcessPoolExecutor(min(processes, len(items)), mp_context=context, initializer=_begin, initargs=(total,))
    try:
        futures: list[Future[R]] = [pool.submit(_work, function, item) for item in items]
        for future in futures:
            while not future.done():
                wait([future], _TELL_SECONDS, FIRST_COMPLETED)
                tell(total.value)
            yield future.result()
    except BrokenProcessPool as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, problem="a process that made the tables was killed") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


# In the other processes.


def _begin(total: "Synchronized[int]") -> None:
    global _counted
    _counted = total
    # Ctrl-C goes to all of them, and only the first tells of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _work(function: Callable[[T, Counter], R], item: T) -> R:
    return function(item, Counter(_counted))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only in a process that was started for this"
    parent.join()
    os._exit(0)
