"""Appends of many tasks at the same time, on one call; see `JoinedAppends`."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import grpc

from heptalog.replay.errors import HeptalogError
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import joint
from heptalog.service.client.joint import AppendRequest, Joint, Sharing, can_join
from heptalog.service.client.line import seconds_left

# How long a server that does not answer holds up whoever closes a client.
_FAREWELL_SECONDS: Final = 1.0


class AsyncJoinedAppends(Sharing["_Stream"]):
    """Has appends that are under way at the same time go together; see `JoinedAppends`."""

    def __init__(
        self,
        open_call: Callable[..., Any],
        alone: Callable[[Append, AppendRequest, float], Awaitable[Receipt]],
        timeout: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        self._open = open_call
        self._alone = alone
        self._timeout = timeout

    async def append(self, append: Append, request: AppendRequest) -> Receipt:
        """Record events, with others or alone."""
        if self._is_elsewhere:
            return await self._alone(append, request, self._timeout)
        who, now = object(), self._clock()
        try:
            is_in_company = self._company.come(who, now)
            stream = self._shared(now) if is_in_company and can_join(append, request) else None
            if stream is None:
                return await self._alone(append, request, self._timeout)
            # One that is cancelled while it waits to be sent is not sent any more.
            receipt = await stream.take(append, request, now)
            if receipt is None:
                return await self._alone(append, request, seconds_left(now + self._timeout - self._clock()))
            return receipt
        finally:
            self._company.leave(who)

    async def closing(self) -> None:
        """Hear that the channel is about to be closed: a call on which nobody waits ends before it, as calls end.

        One that is only cut off leaves gRPC with something to tell a loop that may have ended by then.
        """
        self._is_closed = True
        if self._is_elsewhere:
            return
        unused = [stream for stream in self._streams if not stream.joint]
        for stream in unused:
            stream.retire()
        if unused:
            await asyncio.wait([stream.task for stream in unused], timeout=_FAREWELL_SECONDS)

    async def close(self) -> None:
        """Whoever still waits is told that the client is closed, once its channel is; waits for that."""
        if not self._is_elsewhere:
            await asyncio.gather(*(stream.task for stream in self._streams), return_exceptions=True)

    def _begun(self) -> "_Stream":
        return _Stream(self._open, self._timeout, self._clock, self._ended)


class _Stream:
    """One call that many share: one task sends, and one hears the answers."""

    def __init__(
        self,
        open_call: Callable[..., Any],
        timeout: float,
        clock: Callable[[], float],
        ended: "Callable[[_Stream, grpc.StatusCode], HeptalogError | None]",
    ) -> None:
        self.joint: Joint[asyncio.Future[Receipt | None]] = Joint()
        self.is_open = True  # takes more
        self._timeout = timeout
        self._clock = clock
        self._used_at = clock()
        self.renewed_at = self._used_at + joint.LIFE_SECONDS
        self._has_ended = ended
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()  # for who sends
        self._look: asyncio.TimerHandle | None = None
        self._look_at = 0.0
        self._look_again(self._used_at, self._used_at + joint.IDLE_SECONDS)
        self._call = open_call(timeout=joint.LIFE_SECONDS + timeout)
        self.task = asyncio.create_task(self._run())

    def take(self, append: Append, request: AppendRequest, now: float) -> "asyncio.Future[Receipt | None]":
        """Take on an append; the future has its receipt, or None where this call has not told in time."""
        future: asyncio.Future[Receipt | None] = self._loop.create_future()
        until = self.joint.take(append, request, future, now=now, timeout=self._timeout)
        self._used_at = now
        if until < self._look_at:
            self._look_again(now, until)
        self._changed.set()
        return future

    def retire(self) -> None:
        """Take no more, and end once all is answered."""
        self.is_open = False
        self._changed.set()

    async def _run(self) -> None:
        code = grpc.StatusCode.UNKNOWN
        sending = asyncio.create_task(self._send())
        try:
            while (response := await self._call.read()) is not grpc.aio.EOF:
                for future, outcome in self.joint.answered(response):
                    _settle(future, outcome)
                if self.joint.has_unsent:
                    self._changed.set()
            code = grpc.StatusCode.OK
        except grpc.aio.AioRpcError as error:
            code = error.code()
        finally:
            self._end(code)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    def _end(self, code: grpc.StatusCode) -> None:
        self.is_open = False
        if self._look is not None:
            self._look.cancel()
        self._call.cancel()
        untold = self._has_ended(self, code)
        for future in self.joint.give_up():
            _settle(future, None if untold is None else untold.again())

    async def _send(self) -> None:
        # Where the call has ended it is whoever reads that says why.
        with suppress(grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError):
            while self.is_open or self.joint.has_unsent:
                while self.joint.can_send:
                    if message := self.joint.next_message():
                        await self._call.write(message)
                if self.is_open or self.joint.has_unsent:
                    self._changed.clear()
                    await self._changed.wait()
            await self._call.done_writing()

    def _look_again(self, now: float, at: float) -> None:
        if self._look is not None:
            self._look.cancel()
        self._look_at = at
        self._look = self._loop.call_later(at - now, self._look_round)

    def _look_round(self) -> None:
        """Tell those who have waited long enough, and end a call that answers nobody, or that nobody uses."""
        now = self._clock()
        for future in self.joint.overdue(now):
            _settle(future, None)
        if self.joint.is_silent(now):
            self.is_open = False
            self._call.cancel()
            return
        overdue_at, idle_at = self.joint.overdue_at, self._used_at + joint.IDLE_SECONDS
        if overdue_at is None and idle_at <= now:
            self.retire()
        if self.joint or self.is_open:
            # Those who have been waited for in vain, and left, keep nobody looking all the time.
            times = (overdue_at, idle_at, now + joint.IDLE_SECONDS)
            self._look_again(now, min(at for at in times if at is not None and at > now))


def _settle(future: "asyncio.Future[Receipt | None]", outcome: Receipt | HeptalogError | None) -> None:
    if future.done():
        return
    if isinstance(outcome, HeptalogError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
