"""The connection of a client, threads or asyncio, as its calls see it: what gRPC raises on it are errors of ours."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast

import grpc

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.status import error_from

C = TypeVar("C")

_CUT: Final = "Internal error from Core"
_CANCELLED: Final = grpc.StatusCode.CANCELLED.name


class Line:
    """What all calls of one client share: to whom they go, and whether the client is closed."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.is_closed = False

    def over(self, channel: C) -> C:
        """The channel as stubs need it, on which a call of a closed client raises Unavailable."""
        return cast("C", _Channel(self, channel))

    def failure(self, error: Any) -> HeptalogError:
        """The error that the service raised, from what gRPC raised here.

        Where it is gRPC itself that has found nobody, its own words tell nothing that the address does not.
        """
        metadata = [(item[0], item[1]) for item in error.trailing_metadata() or ()]
        failure = error_from(error.code(), error.details() or "", metadata)
        if failure.code is not Code.SERVER_UNREACHABLE or "status" not in failure.facts:
            return failure
        if error.code() is grpc.StatusCode.CANCELLED:
            return self._cancelled()
        if is_worth_retrying(error):
            return Unavailable(failure.code, server=self.target)
        failure.facts["server"] = self.target
        return failure

    def pause_after(self, error: Any, pauses: Iterator[float], *, is_worth_it: bool) -> float:
        """How many seconds to wait before what ended so is tried again. Raises its failure where it is not."""
        seconds = next(pauses, None) if is_worth_it else None
        if seconds is None:
            raise self.failure(error) from None
        return seconds

    @contextmanager
    def hearing(self, call: Any) -> Iterator[None]:
        """What is heard in it is all that is heard of a call that is made once."""
        try:
            yield
        except grpc.RpcError as error:
            raise self.failure(error) from None
        except asyncio.CancelledError:
            self.check_cancelled()
            raise
        finally:
            call.cancel()

    def check_cancelled(self, *, is_asked_for: bool = False) -> None:
        """Raise Unavailable where a task is told that it is cancelled, and it is only its call that is.

        That is so where the client is closed, or `is_asked_for`.
        """
        task = asyncio.current_task()
        if (self.is_closed or is_asked_for) and task is not None and not task.cancelling():
            raise self._cancelled() from None

    def _cancelled(self) -> HeptalogError:
        if self.is_closed:
            return closed()
        return Unavailable(
            Code.SERVER_UNREACHABLE, status=_CANCELLED, problem="the call was cancelled", server=self.target
        )


class _Channel:
    """What begins calls on a channel, as stubs ask it."""

    def __init__(self, line: Line, channel: Any) -> None:
        self._line = line
        self._channel = channel

    def unary_unary(self, *arguments: Any, **options: Any) -> Any:
        return self._telling(self._channel.unary_unary(*arguments, **options))

    def unary_stream(self, *arguments: Any, **options: Any) -> Any:
        return self._telling(self._channel.unary_stream(*arguments, **options))

    def stream_stream(self, *arguments: Any, **options: Any) -> Any:
        return self._telling(self._channel.stream_stream(*arguments, **options))

    def _telling(self, begin: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **options: Any) -> Any:
            try:
                return begin(*arguments, **options)
            except (ValueError, grpc.aio.UsageError):
                # So the two kinds of channel say that they are closed, among other things.
                if self._line.is_closed:
                    raise closed() from None
                raise

        return called


def is_worth_retrying(error: grpc.RpcError | grpc.aio.AioRpcError) -> bool:
    """Whether the same call may succeed by itself in a moment."""
    return error.code() is grpc.StatusCode.UNAVAILABLE or _is_cut(error)


def may_go_on(error: grpc.RpcError | grpc.aio.AioRpcError) -> bool:
    """Whether a stream that keeps its place may be asked for again: a long one outlives any deadline."""
    return is_worth_retrying(error) or error.code() is grpc.StatusCode.DEADLINE_EXCEEDED


def _is_cut(error: Any) -> bool:
    """Whether a connection broke while something was written to it, which gRPC tells so; the service never does."""
    return error.code() is grpc.StatusCode.INTERNAL and error.details() == _CUT


def seconds_left(seconds: float) -> float:
    """So many seconds, for an attempt to go on. Raises Unavailable, as gRPC would tell it, where there are none."""
    if seconds <= 0:
        raise error_from(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded", ())
    return seconds


def closed() -> HeptalogError:
    """The error of a caller whose client is closed, before or meanwhile."""
    return Unavailable(Code.SERVER_UNREACHABLE, status=_CANCELLED, problem="the client is closed")
