"""A stream of appends for asyncio: the same as the one for threads, awaited."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import grpc

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import calls
from heptalog.service.client.calls import Retries
from heptalog.service.client.flight import Flight, settle
from heptalog.service.client.line import Line, may_go_on


class AsyncAppendStream:
    """Appends on one call, taken in the order in which they are given; see `AppendStream`."""

    def __init__(
        self,
        open_call: Callable[..., Any],
        line: Line,
        timeout: float,
        retries: Retries,
        pause: Callable[[float], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open = open_call
        self._line = line
        self._retries = retries
        self._pause = pause
        self._flight: Flight[asyncio.Future[Receipt]] = Flight(clock, timeout)
        self._changed = asyncio.Event()  # for who sends
        self._room = asyncio.Event()  # for who appends
        self._is_closing = False
        self._is_overdue = False
        self._failure: HeptalogError | None = None
        self._serving: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._serving = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def append(self, append: Append) -> "asyncio.Future[Receipt]":
        """Send events; the future, to be awaited, has the receipt once they are durable, or why they are not.

        Waits while too much is on its way. Raises why the stream has ended, where it has, and RuntimeError where it has
        not been entered.
        """
        if self._serving is None:
            raise RuntimeError("the stream has not been entered: async with client.stream() as stream")
        while self._flight.is_full and self._failure is None and not self._is_closing:
            self._room.clear()
            await self._room.wait()
        if self._failure is not None:
            raise self._failure.again()
        if self._is_closing:
            raise Unavailable(Code.SERVER_UNREACHABLE, problem="the stream has been left")
        future: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._flight.take(append, future)
        self._changed.set()
        return future

    async def close(self) -> None:
        """Take no more, and wait for all answers. A second time does nothing."""
        self._is_closing = True
        self._changed.set()
        self._room.set()
        if self._serving is not None:
            await self._serving

    async def _run(self) -> None:
        try:
            await self._serve()
        except HeptalogError as error:
            self._fail(error)
        except BaseException:
            self._fail(Unavailable(Code.SERVER_UNREACHABLE, problem="the stream was not served"))
            raise

    async def _serve(self) -> None:
        pauses = self._retries.pauses()
        while await self._has_work():
            self._flight.begin_again()
            call = self._open(timeout=calls.READ_TIMEOUT_SECONDS)
            sending = asyncio.create_task(self._send(call))
            watching = asyncio.create_task(self._watch(call))
            try:
                while (response := await call.read()) is not grpc.aio.EOF:
                    self._hear(response)
                    pauses = self._retries.pauses()
                failure: HeptalogError = Unavailable(Code.SERVER_UNREACHABLE, problem="the stream ended early")
            except grpc.aio.AioRpcError as error:
                failure = self._line.failure(error)
                if not may_go_on(error):
                    raise failure from None
            except asyncio.CancelledError:
                if self._is_overdue:
                    raise Unavailable(Code.DEADLINE_PASSED) from None
                self._line.check_cancelled()
                raise
            finally:
                call.cancel()
                sending.cancel()
                watching.cancel()
                await asyncio.gather(sending, watching, return_exceptions=True)
            if not self._flight:
                pauses = self._retries.pauses()
                continue
            seconds = next(pauses, None)
            if seconds is None:
                raise failure
            await self._pause(seconds)

    async def _has_work(self) -> bool:
        """Wait for something to send; False where there will be nothing any more."""
        while not self._flight and not self._is_closing:
            self._changed.clear()
            await self._changed.wait()
        return len(self._flight) > 0

    async def _send(self, call: Any) -> None:
        # Where the call has ended it is whoever reads that says why.
        with suppress(grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError):
            while True:
                while self._flight.has_unsent:
                    await call.write(self._flight.next_message())
                if self._is_closing:
                    await call.done_writing()
                    return
                self._changed.clear()
                await self._changed.wait()

    async def _watch(self, call: Any) -> None:
        """End a call on which no answer comes."""
        while (seconds := self._flight.seconds_left) != 0.0:
            await asyncio.sleep(self._flight.timeout if seconds is None else seconds)
        self._is_overdue = True
        call.cancel()

    def _hear(self, response: Any) -> None:
        for future, outcome in self._flight.answered(response):
            settle(future, outcome)
        self._room.set()

    def _fail(self, error: HeptalogError) -> None:
        self._failure = error
        for future in self._flight.give_up():
            settle(future, error.again())
        self._room.set()
