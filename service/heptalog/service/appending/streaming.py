"""AppendStream: many appends on their way over one call, each answered by its number once it is durable.

One task reads and queues what is sent, in the order sent; another writes what the writer has settled, all of a commit
in one message. What is read and not yet answered is bounded: past that nothing is read, and gRPC makes the sender wait.
A commit that failed, or a server that drains, ends the stream with what is UNAVAILABLE: whoever sends again what had no
answer, in the same order, is where a batch that fails has never been followed by one that stood on it.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Final

import grpc

from heptalog.replay.errors import Code, HeptalogError, Malformed, Unavailable
from heptalog.service.answering import Context
from heptalog.service.appending.appender import Appender, LoopJob
from heptalog.service.appending.reading import appends_in
from heptalog.service.appends import Append, Receipt
from heptalog.service.config import MESSAGE_SIZE_MAX
from heptalog.service.status import packed, status_code
from heptalog.service.wire import appended_message
from heptalog.v1 import log_pb2

# What may be on its way at once on one stream, in any of three measures.
APPENDS_MAX: Final = 2048
EVENTS_MAX: Final = 8192
BYTES_MAX: Final = 2 * MESSAGE_SIZE_MAX
_ANSWERS_BYTES: Final = 1 << 20
_RECEIPT_BYTES: Final = 128  # at most, without its sequences


class AppendStreams:
    """The streams of one server."""

    def __init__(self, appender: Appender) -> None:
        self._appender = appender
        self._streams: set[_Stream] = set()
        self._is_draining = False

    async def serve(self, context: Context) -> None:
        """Serve one stream to its end. Raises what ends it, where that is not the sender."""
        stream = _Stream(self._appender, context)
        self._streams.add(stream)
        if self._is_draining:
            stream.drain()
        try:
            await stream.run()
        finally:
            self._streams.discard(stream)

    def drain(self) -> None:
        """Read no more of any stream, and end each once all that was read is answered."""
        self._is_draining = True
        for stream in self._streams:
            stream.drain()


class _StreamJob(LoopJob):
    """One append of a stream."""

    __slots__ = ("number", "size", "stream")

    def __init__(self, append: Append, stream: "_Stream", number: int, size: int) -> None:
        super().__init__(append, stream.appender)
        self.when_room = stream.appender.room_made
        self.stream = stream
        self.number = number
        self.size = size

    def settle(self) -> None:
        self.stream.settled(self)


class _Stream:
    """One stream, in the event loop."""

    def __init__(self, appender: Appender, context: Context) -> None:
        self.appender = appender
        self._context = context
        self._on_their_way: dict[int, _StreamJob] = {}
        self._event_count = 0
        self._size = 0
        self._answers: deque[tuple[int, Receipt | BaseException]] = deque()
        self._unanswered: set[int] = set()  # until their answers are written
        self._ending: HeptalogError | None = None  # what it ends with, where that is not the sender's wish
        self._is_read = False  # to its end, or as far as it will be
        self._is_cut = False  # what is on its way is answered no more
        self._changed = asyncio.Event()  # for who writes
        self._room = asyncio.Event()  # for who reads

    async def run(self) -> None:
        """Read and answer to the end. Raises what is wrong with the stream as a whole."""
        reading = asyncio.create_task(self._read())
        try:
            while self._answers or not (self._is_cut or (self._is_read and not self._on_their_way)):
                await self._changed.wait()
                self._changed.clear()
                while self._answers:
                    await self._write()
            if self._ending is not None:
                raise self._ending
        finally:
            for job in self._on_their_way.values():
                job.is_given_up = True
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading

    def drain(self) -> None:
        """Read no more, and end with what is on its way."""
        if not self._is_read:
            self._end(Unavailable(Code.DRAINING, rule="api"))

    def settled(self, job: _StreamJob) -> None:
        """One of its appends has its outcome."""
        del self._on_their_way[job.number]
        self._event_count -= len(job.append.events)
        self._size -= job.size
        assert isinstance(job.outcome, Receipt | BaseException), "what is settled has its outcome"
        self._answer(job.number, job.outcome)

    def _answer(self, number: int, outcome: Receipt | BaseException) -> None:
        if self._is_cut:
            return
        if isinstance(outcome, HeptalogError) and status_code(outcome) is grpc.StatusCode.UNAVAILABLE:
            # What comes after it on the stream may stand on it, and is to be sent again behind it.
            self._is_cut = True
            self._end(outcome)
        else:
            self._answers.append((number, outcome))
        self._changed.set()
        self._room.set()

    def _end(self, error: HeptalogError) -> None:
        self._ending = self._ending or error
        self._is_read = True
        self._changed.set()

    async def _read(self) -> None:
        try:
            while not self._is_read and (data := await self._context.read()) is not grpc.aio.EOF:
                await self._take(data)
        except HeptalogError as error:
            # What was taken before it is answered first.
            self._end(error)
        finally:
            self._is_read = True
            self._changed.set()

    async def _take(self, data: bytes) -> None:
        """Queue what is in one message, as there is room for it."""
        for index, (number, append, size) in enumerate(appends_in(data)):
            while self._is_full():
                self._room.clear()
                await self._room.wait()
            if self._is_read:
                return
            await self._begin(index, number, append, size)

    def _is_full(self) -> bool:
        return self._event_count >= EVENTS_MAX or self._size >= BYTES_MAX or len(self._unanswered) >= APPENDS_MAX

    async def _begin(self, index: int, number: int, append: Append | HeptalogError, size: int) -> None:
        if number == 0 or number in self._unanswered:
            # An answer to it could not be told from that to another.
            problem = "0, or that of another append that has no answer yet"
            field = f"appends[{index}].correlation_id"
            raise Malformed(Code.FIELD_INVALID, rule="api", field=field, problem=problem)
        if isinstance(append, HeptalogError):
            self._unanswered.add(number)
            self._answer(number, append)
            return
        job = _StreamJob(append, self, number, size)
        while not self._is_queued(job):
            await self.appender.room()
            if self._is_read:
                return
        self._unanswered.add(number)
        self._on_their_way[number] = job
        self._event_count += len(append.events)
        self._size += size

    def _is_queued(self, job: _StreamJob) -> bool:
        """Queue it; where others have filled the queue, who sends on a stream waits, and is not refused."""
        try:
            self.appender.enqueue(job)
        except Unavailable as error:
            if error.code is not Code.OVERLOADED:
                raise
            return False
        return True

    async def _write(self) -> None:
        """Write what is answered, as much as one message takes."""
        response = log_pb2.AppendStreamResponse()
        size = 0
        while self._answers and size < _ANSWERS_BYTES:
            number, outcome = self._answers.popleft()
            self._unanswered.discard(number)
            answer = response.answers.add(correlation_id=number)
            if isinstance(outcome, Receipt):
                answer.appended.CopyFrom(appended_message(outcome))
                size += _RECEIPT_BYTES + 3 * len(outcome.sequences)
            else:
                answer.failure = packed(outcome)
                size += len(answer.failure)
        self._room.set()
        await self._context.write(response.SerializeToString())
