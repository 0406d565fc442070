"""One question, from its asking to the last piece of its answer: a place, a moment that has it all, a worker.

Each of the three is given back however it ends: answered, failed, too late, or nobody there any more.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from itertools import count
from typing import Final

from msgspec import Struct

from heptalog.analytics.asking import Answer, Limits, Workers
from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.answering import Readers
from heptalog.service.asked import Finished, Part, Question, Started
from heptalog.service.config import ANSWER_BYTES_MAX, Settings
from heptalog.service.store import LogStore
from heptalog.service.tables.keeper import End, Keeper, Lease

# Files that are damaged, or went with the process that kept them, are no fault of the question: it is asked once more.
_ATTEMPTS: Final = 2


class Questions:
    """Answers questions, a few at a time. For one event loop."""

    def __init__(
        self,
        store: LogStore,
        keeper: Keeper,
        workers: Workers,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._keeper = keeper
        self._workers = workers
        self._settings = settings
        self._clock = clock
        self._readers = Readers(settings.queries_max)
        self._places = asyncio.Semaphore(settings.queries_max)
        self._waiting_count = 0

    async def answer(self, question: Question) -> AsyncGenerator[Part, None]:
        """The parts of an answer. What was acknowledged before this is in it; without Finished it is none."""
        wanted = self.end()
        patience = _Patience(question.seconds, self._clock)
        async with self._place(patience):
            asked = await self._asked(question, wanted, patience)
            try:
                yield Started(asked.lease.end.position)
                piece = asked.first
                while piece:
                    yield piece
                    piece = await self._following(asked)
                if self._keeper.is_damaged(asked.lease):
                    raise Unavailable(Code.QUERY_FAILED, rule="api", problem="a file of the tables is damaged")
                yield Finished(asked.rows)
            finally:
                await self._readers.run(lambda: self._end(asked))

    def end(self) -> End:
        """All that was acknowledged until now."""
        return End(self._store.position(), self._store.refusal_count())

    async def lease(self, wanted: End, seconds: float) -> Lease:
        """A moment that has so much, to be released. Raises Unavailable where there is none in time."""
        future = self._keeper.lease(wanted)
        if future.done():
            # However late it is: nothing is left to wait for.
            return future.result()
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(future)
        except BaseException as error:
            # It may be given out at this very moment.
            future.cancel()
            future.add_done_callback(self._give_back)
            if isinstance(error, TimeoutError):
                raise Unavailable(Code.TABLES_BEHIND, rule="api", position=wanted.position) from None
            raise

    def close(self) -> None:
        """Wait for what is being answered; whoever has closed the workers before need not wait long."""
        self._readers.close()

    @asynccontextmanager
    async def _place(self, patience: "_Patience") -> AsyncIterator[None]:
        """One of the few places at work. Raises Unavailable where too many wait for one, or it takes too long."""
        if self._places.locked() and self._waiting_count >= self._settings.queries_waiting_max:
            raise Unavailable(Code.OVERLOADED, rule="api", questions=self._waiting_count + self._settings.queries_max)
        self._waiting_count += 1
        try:
            async with asyncio.timeout(patience.left(self._settings.query_seconds)):
                await self._places.acquire()
        except TimeoutError:
            raise Unavailable(Code.OVERLOADED, rule="api", problem="other questions took all the time") from None
        finally:
            self._waiting_count -= 1
        try:
            yield
        finally:
            self._places.release()

    async def _asked(self, question: Question, wanted: End, patience: "_Patience") -> "_Asked":
        for attempt in count(1):
            lease = await self.lease(wanted, patience.left(self._settings.tables_seconds))
            try:
                return await self._begun(question, lease, patience)
            except HeptalogError as error:
                if error.code is not Code.QUERY_FAILED or attempt == _ATTEMPTS:
                    raise
                if not await self._is_better(lease, patience):
                    raise
        raise AssertionError("the last attempt raises")

    async def _is_better(self, lease: Lease, patience: "_Patience") -> bool:
        """Whether there is a better moment to be had than one that could not be read, and it is known in time."""
        doubt = asyncio.wrap_future(self._keeper.doubt(lease))
        try:
            async with asyncio.timeout(patience.left(self._settings.tables_seconds)):
                # Others wait for the same word: who goes away must not take it from them.
                return await asyncio.shield(doubt)
        except TimeoutError:
            return False

    def _give_back(self, future: "Future[Lease]") -> None:
        if not future.cancelled() and future.exception() is None:
            self._keeper.release(future.result())

    async def _begun(self, question: Question, lease: Lease, patience: "_Patience") -> "_Asked":
        """A worker that has the question, and the first that it says. Where that fails the moment is given back."""
        settings = self._settings
        limits = Limits(
            seconds=patience.left(settings.query_seconds),
            memory_bytes=settings.query_memory_bytes,
            rows=_least(settings.query_rows_max, question.rows_max),
            result_bytes=ANSWER_BYTES_MAX,
        )
        asked: _Asked | None = None

        def ask() -> _Asked:
            nonlocal asked
            answer = self._workers.ask(question.sql, lease.snapshot, limits)
            asked = _Asked(lease, answer, iter(answer), seconds_max=patience.limit(settings.query_seconds))
            return asked

        try:
            begun = await self._readers.run(ask)
            begun.first = await self._next(begun)
        except BaseException:
            # Who is cancelled has waited for the end of `ask`, so this is all that there is to end.
            ended = _Asked(lease) if asked is None else asked
            await self._readers.run(lambda: self._end(ended))
            raise
        return begun

    async def _following(self, asked: "_Asked") -> bytes:
        """The next piece of an answer that is under way, which is not begun again."""
        try:
            return await self._next(asked)
        except HeptalogError as error:
            if error.code is Code.QUERY_FAILED:
                # Nobody waits for the word: it is for the next question that there are good tables again.
                self._keeper.doubt(asked.lease)
            raise

    async def _next(self, asked: "_Asked") -> bytes:
        """The next piece; none at the end. Who goes away in the meantime ends the worker, and need not wait for it."""
        assert asked.answer is not None, "it was asked"
        try:
            return await self._readers.run(lambda: next(asked.pieces, b""), asked.answer.cancel)
        except HeptalogError as error:
            if error.code is Code.QUERY_TOO_LONG:
                # Not what was left of it once there were a place and a moment.
                error.facts["seconds_max"] = asked.seconds_max
            raise

    def _end(self, asked: "_Asked") -> None:
        """Let go of the worker, then of the files that it read."""
        try:
            if asked.answer is not None:
                asked.answer.close()
        finally:
            self._keeper.release(asked.lease)


def _least(limit: int, wanted: int | None) -> int:
    """What is wanted, where that is less."""
    return limit if wanted is None else min(limit, wanted)


class _Asked(Struct):
    """A question at work; without an answer where no worker took it."""

    lease: Lease
    answer: Answer | None = None
    pieces: Iterator[bytes] = iter(())
    first: bytes = b""
    seconds_max: float = 0.0

    @property
    def rows(self) -> int:
        return 0 if self.answer is None else self.answer.rows


class _Patience:
    """How long somebody waits for the whole."""

    def __init__(self, seconds: float | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds = seconds
        self._end = None if seconds is None else clock() + seconds

    def left(self, seconds: float) -> float:
        """So many seconds, or what is left of all."""
        return seconds if self._end is None else max(0.0, min(seconds, self._end - self._clock()))

    def limit(self, seconds: float) -> float:
        """So many seconds, or all that there were, as they are told."""
        limit = seconds if self._seconds is None else min(seconds, self._seconds)
        return max(0.001, round(limit, 3))
