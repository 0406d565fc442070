"""An answer on its way to a client: pieces of one Arrow IPC stream, and whether it came whole."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import TracebackType
from typing import Any, Final, Self

import grpc
from google.protobuf.message import Message

from heptalog.replay.errors import Code, Unavailable
from heptalog.service import wire
from heptalog.service.asked import Finished, Started
from heptalog.service.client import calls
from heptalog.service.client.line import Line, is_worth_retrying

# How much later than the server a client gives up, so that it is the server that says why.
_SLACK_SECONDS: Final = 10.0


class _Reading:
    """What both kinds of answer know so far."""

    def __init__(
        self, method: Callable[..., Any], line: Line, request: Message, timeout: float | None, pauses: Iterator[float]
    ) -> None:
        self._method = method
        self._line = line
        self._request = request
        self._pauses = pauses
        self._seconds = calls.READ_TIMEOUT_SECONDS if timeout is None else timeout + _SLACK_SECONDS
        self._stream: Any = None
        self._is_cancelled = False
        self._position: int | None = None
        self._rows: int | None = None

    @property
    def position(self) -> int:
        """Everything up to this position is in the answer, and nothing after it."""
        assert self._position is not None, "an answer is entered before it is read"
        return self._position

    @property
    def rows(self) -> int:
        """How many rows it has; known once it is whole."""
        assert self._rows is not None, "an answer has rows once it is read to its end"
        return self._rows

    def _open(self) -> None:
        self._stream = self._method(self._request, timeout=self._seconds)
        if self._is_cancelled:
            # Before it was asked, or between one attempt and the next: in either order one of the two ends it.
            self._stream.cancel()

    def _seconds_after(self, error: Any) -> float:
        """How long to wait before it is asked again, of which nothing was given out. Raises its failure otherwise."""
        # A server whose tables are behind has waited for them already.
        is_worth_it = is_worth_retrying(error) and self._line.failure(error).code is not Code.TABLES_BEHIND
        return self._line.pause_after(error, self._pauses, is_worth_it=is_worth_it)

    def _begin(self, message: Any) -> None:
        part = wire.part_of(message)
        if not isinstance(part, Started):
            raise _not_whole("an answer that does not begin")
        self._position = part.position

    def _piece(self, message: Any) -> bytes | None:
        """The next piece; None at the end."""
        part = wire.part_of(message)
        match part:
            case bytes():
                return part
            case Finished(rows=rows):
                self._rows = rows
                return None
            case _:
                raise _not_whole("an answer that begins twice")

    def cancel(self) -> None:
        """End it, also before it is entered; whoever enters or reads it is told."""
        self._is_cancelled = True
        if self._stream is not None:
            self._stream.cancel()


class QueryAnswer(_Reading):
    """An answer for threads. Entering it asks the question; leaving it ends it, wherever it was.

    Any thread may cancel it.

    Iterating gives bytes, once. What was given is worth nothing where the iteration raises: a question is never asked
    again by itself once a piece of its answer is out.
    """

    def __init__(
        self,
        method: Callable[..., Any],
        line: Line,
        request: Message,
        timeout: float | None,
        pauses: Iterator[float],
        pause: Callable[[float], None],
    ) -> None:
        super().__init__(method, line, request, timeout, pauses)
        self._pause = pause

    def __enter__(self) -> Self:
        try:
            while not self._is_begun():
                pass
        except BaseException:
            # Nobody leaves what was not entered.
            self.cancel()
            raise
        return self

    def _is_begun(self) -> bool:
        """Ask, and hear how the answer begins; False where it is to be asked again, and it is time for that."""
        self._open()
        try:
            self._begin(next(self._stream))
        except grpc.RpcError as error:
            self._pause(self._seconds_after(error))
            return False
        except StopIteration:
            raise _not_whole("an answer without an end") from None
        return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.cancel()

    def __iter__(self) -> Iterator[bytes]:
        try:
            for message in self._stream:
                piece = self._piece(message)
                if piece is None:
                    return
                yield piece
        except grpc.RpcError as error:
            raise self._line.failure(error) from None
        raise _not_whole("an answer without an end")


class AsyncQueryAnswer(_Reading):
    """The same for asyncio; it is cancelled in its loop."""

    def __init__(
        self,
        method: Callable[..., Any],
        line: Line,
        request: Message,
        timeout: float | None,
        pauses: Iterator[float],
        pause: Callable[[float], Awaitable[None]],
    ) -> None:
        super().__init__(method, line, request, timeout, pauses)
        self._pause = pause

    async def __aenter__(self) -> Self:
        try:
            while not await self._is_begun():
                pass
        except BaseException:
            # Nobody leaves what was not entered.
            self.cancel()
            raise
        return self

    async def _is_begun(self) -> bool:
        """Ask, and hear how the answer begins; False where it is to be asked again, and it is time for that."""
        self._open()
        try:
            message = await self._stream.read()
            if message is grpc.aio.EOF:
                raise _not_whole("an answer without an end")
            self._begin(message)
        except grpc.aio.AioRpcError as error:
            await self._pause(self._seconds_after(error))
            return False
        except asyncio.CancelledError:
            self._line.check_cancelled(is_asked_for=self._is_cancelled)
            raise
        return True

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.cancel()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while (message := await self._stream.read()) is not grpc.aio.EOF:
                piece = self._piece(message)
                if piece is None:
                    return
                yield piece
        except grpc.aio.AioRpcError as error:
            raise self._line.failure(error) from None
        except asyncio.CancelledError:
            self._line.check_cancelled(is_asked_for=self._is_cancelled)
            raise
        raise _not_whole("an answer without an end")


def _not_whole(problem: str) -> Unavailable:
    return Unavailable(Code.QUERY_FAILED, rule="api", problem=problem)
