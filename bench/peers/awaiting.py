"""How a client for asyncio is measured: callers that are tasks, or one stream on which nothing waits for its answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from bench.peers.peer import Figures
from bench.peers.shapes import Shape
from bench.peers.stores import WARMING, figures_of

T = TypeVar("T")


async def load(
    shape: Shape, seconds: float, given: Callable[[], Iterator[T]], call: Callable[[T], Awaitable[object]]
) -> Figures:
    """Call from so many callers for so long, each with what is given to it."""
    done: list[tuple[float, float]] = []  # when each call began and ended
    callers = [given() for _ in range(shape.callers)]
    # The first of all takes longer, and is not what is asked about.
    await asyncio.gather(*(call(next(caller)) for caller in callers))
    end = time.perf_counter() + seconds

    async def repeat(items: Iterator[T]) -> None:
        for one in items:
            begin = time.perf_counter()
            if begin >= end:
                return
            await call(one)
            done.append((begin, time.perf_counter()))

    await asyncio.gather(*map(repeat, callers))
    return figures_of(done, shape.size, end - seconds * (1 - WARMING))


async def stream(
    seconds: float, given: Iterable[T], send: Callable[[T], Awaitable["asyncio.Future[object]"]]
) -> Figures:
    """Send for so long what is given, as fast as it is taken."""
    done: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds
    last: asyncio.Future[object] | None = None
    for one in given:
        begin = time.perf_counter()
        if begin >= end:
            break
        last = await send(one)
        last.add_done_callback(partial(noted, done, begin))
    if last is not None:
        await last
    # The callback of the last comes after.
    await asyncio.sleep(0)
    return figures_of(done, 1, end - seconds * (1 - WARMING))


def noted(done: list[tuple[float, float]], begin: float, future: "asyncio.Future[object]") -> None:
    """Note when it was answered, and with what: a failure is none of ours to pass over."""
    done.append((begin, time.perf_counter()))
    future.result()
