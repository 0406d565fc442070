"""Work in many processes at once: results in the order of the work, and never more on its way than is held easily."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from threading import Thread
from typing import Final, TypeVar

from heptalog.replay.errors import Code, Unavailable

T = TypeVar("T")
R = TypeVar("R")

_WAITING_PER_PROCESS: Final = 4


def core_count() -> int:
    """How many processes can work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(function: Callable[[T], R], items: Iterable[T], *, jobs: int) -> Iterator[R]:
    """What a function makes of each item, in so many processes. Raises Unavailable where one of them is killed."""
    # A fresh interpreter each: a forked one would share connections and half-held locks.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= jobs * _WAITING_PER_PROCESS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, problem="a process that examined games was killed") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


# In the other processes.


def _begin() -> None:
    # Ctrl-C goes to all of them, and only the first tells of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only in a process that was started for this"
    parent.join()
    os._exit(0)
