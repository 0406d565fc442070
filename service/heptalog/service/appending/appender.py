"""Appends from an event loop: it is called once for all that a commit has settled, not once for each."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from heptalog.service.appending.jobs import Job
from heptalog.service.appends import Append, Receipt
from heptalog.service.writer import Writer


class LoopJob(Job):
    """An append that somebody in an event loop waits for."""

    __slots__ = ("is_given_up",)

    def __init__(self, append: Append, appender: "Appender") -> None:
        super().__init__(append, appender.tell)
        self.is_given_up = False

    def begins(self) -> bool:
        """Whether somebody still waits for it."""
        return not self.is_given_up

    def settle(self) -> None:
        """Its outcome is there; called in the event loop."""
        raise NotImplementedError


class Appender:
    """Gives appends of one event loop to the writer."""

    def __init__(self, writer: Writer, loop: asyncio.AbstractEventLoop) -> None:
        self._writer = writer
        self._loop = loop
        self._room = loop.create_future()

    async def append(self, append: Append) -> Receipt:
        """Record events, and give the receipt once they are durable. Raises what the writer raises."""
        job = _Awaited(append, self)
        self._writer.enqueue(job)
        try:
            return await job.future
        finally:
            job.is_given_up = True

    def enqueue(self, job: LoopJob) -> None:
        """Queue an append that is settled in a way of its own; raises what the writer raises."""
        self._writer.enqueue(job)

    async def room(self) -> None:
        """Wait until it is worth another try to queue what was patient and found no room, just now."""
        await asyncio.shield(self._room)

    def room_made(self) -> None:
        """Hear from the writer that there is room."""
        with suppress(RuntimeError):  # as below
            self._loop.call_soon_threadsafe(self._tell_of_room)

    def _tell_of_room(self) -> None:
        self._room.set_result(None)
        self._room = self._loop.create_future()

    def tell(self, jobs: Sequence[LoopJob]) -> None:
        """Hear from the writer what came of these."""
        with suppress(RuntimeError):  # the loop has ended, and nobody waits any more
            self._loop.call_soon_threadsafe(self._settle, jobs)

    def _settle(self, jobs: Sequence[LoopJob]) -> None:
        for job in jobs:
            job.settle()


class _Awaited(LoopJob):
    __slots__ = ("future",)

    def __init__(self, append: Append, appender: Appender) -> None:
        super().__init__(append, appender)
        self.future: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()

    def settle(self) -> None:
        if self.future.done():
            return
        if isinstance(self.outcome, Receipt):
            self.future.set_result(self.outcome)
        else:
            assert isinstance(self.outcome, BaseException), "who is told is told something"
            self.future.set_exception(self.outcome)
