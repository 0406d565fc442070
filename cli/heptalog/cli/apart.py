"""Work in a thread of its own, so that Ctrl-C cannot come into the middle of it.

Ctrl-C is raised in the main thread, wherever that is. Inside the library that speaks to servers it can leave a lock
held for ever, and then no call of that connection comes back. So the main thread only waits, at queues that stand it
(SimpleQueue does, locks and events do not); the work is told to end by a third thread, and ends by itself. And it waits
a moment at a time: Ctrl-C that comes just before a long wait would be heard after it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from msgspec import Struct

T = TypeVar("T")

# How many pieces may wait to be taken.
_AHEAD: Final = 4
_MOMENT_SECONDS: Final = 0.2
# How often work is told to end, and how long it may take to hear it each time.
_END_TRIES: Final = 50
_TRY_SECONDS: Final = 0.1


class Flow(Protocol):
    """Pieces that are about a position and come once it is entered. Any thread can end them."""

    @property
    def position(self) -> int: ...
    def cancel(self) -> None:
        """End them, whoever waits for the next."""
        ...

    def __iter__(self) -> Iterator[bytes]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


class _Failed(Struct, frozen=True):
    error: BaseException


class _Job:
    """Something to be done: `told` is what came of it, `ended` gets something once it is over."""

    def __init__(self, work: "Callable[[_Job], None]", cancel: Callable[[], None]) -> None:
        self.work = work
        self.cancel = cancel
        self.is_left = False
        self.told: SimpleQueue[Any] = SimpleQueue()
        self.ended: SimpleQueue[None] = SimpleQueue()


class Apart:
    """A thread that works while the main thread waits; one thing after the other."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._left: SimpleQueue[_Job] = SimpleQueue()
        for run in (self._work, self._end):
            Thread(target=run, daemon=True).start()

    def call(self, work: Callable[[], T]) -> T:
        """What a function returns, or raises. Ctrl-C leaves it to itself."""
        job = _Job(lambda job: job.told.put((work(),)), lambda: None)
        self._jobs.put(job)
        (value,) = _taken(job)
        return value  # type: ignore[no-any-return]  # it is what the function has returned

    @contextmanager
    def flow(self, flow: Flow) -> Iterator[tuple[int, Iterator[bytes]]]:
        """The position and the pieces of a flow. Leaving the context ends it."""
        # One for each piece that may come, False for none any more.
        wanted: SimpleQueue[bool] = SimpleQueue()
        for _ in range(_AHEAD):
            wanted.put(True)

        def read(job: _Job) -> None:
            with flow:
                job.told.put(flow.position)
                for piece in flow:
                    if not wanted.get():
                        return
                    job.told.put(piece)
            job.told.put(None)

        job = _Job(read, flow.cancel)
        try:
            self._jobs.put(job)
            yield _taken(job), _pieces(job, wanted)
        finally:
            job.is_left = True
            wanted.put(False)
            self._left.put(job)

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                if not job.is_left:
                    job.work(job)
            except BaseException as error:  # noqa: BLE001  # it is raised where it is waited for
                job.told.put(_Failed(error))
            job.ended.put(None)

    def _end(self) -> None:
        while True:
            job = self._left.get()
            # What is only about to begin does not hear it the first time.
            for tries in range(_END_TRIES):
                with suppress(Empty):
                    job.ended.get(timeout=_TRY_SECONDS if tries else 0.0)
                    break
                job.cancel()


def _taken(job: _Job) -> Any:
    while True:
        with suppress(Empty):
            item = job.told.get(timeout=_MOMENT_SECONDS)
            break
    if isinstance(item, _Failed):
        raise item.error
    return item


def _pieces(job: _Job, wanted: "SimpleQueue[bool]") -> Iterator[bytes]:
    while (piece := _taken(job)) is not None:
        wanted.put(True)
        yield piece
