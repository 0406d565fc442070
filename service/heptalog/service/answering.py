"""What every call of the service has in common: strict requests, failures as statuses, readers off the event loop."""

import asyncio
import functools
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from threading import Lock
from typing import Any, NoReturn, TypeVar, cast

import grpc
from google.protobuf.message import Message

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.status import INTERNAL, message_of, status_code, trailers_of
from heptalog.service.strict import check_request

# Methods keep the names of their parameters, which are part of what a servicer promises.
Answer = TypeVar("Answer", bound=Callable[..., Awaitable[Any]])
Stream = TypeVar("Stream", bound=Callable[..., AsyncGenerator[Any, None]])
T = TypeVar("T")
Context = grpc.aio.ServicerContext[Any, Any]

_log = logging.getLogger(__name__)


def answers(method: Answer) -> Answer:
    """A call with one answer: refuse unknown fields, turn failures into statuses, let no bug's text out."""

    @functools.wraps(method)
    async def call(servicer: object, request: Message, context: Context) -> Any:
        try:
            check_request(request)
            return await method(servicer, request, context)
        except HeptalogError as error:
            await refuse(context, error)
        except Exception:  # noqa: BLE001  # whatever bug it was, its text stays here
            await _fail(context)

    return cast(Answer, call)


def streams(method: Stream) -> Stream:
    """A call with a stream of answers, in the same manner."""

    @functools.wraps(method)
    async def call(servicer: object, request: Message, context: Context) -> AsyncGenerator[Any, None]:
        try:
            check_request(request)
            async with aclosing(method(servicer, request, context)) as responses:
                async for response in responses:
                    yield response
        except HeptalogError as error:
            await refuse(context, error)
        except Exception:  # noqa: BLE001  # whatever bug it was, its text stays here
            await _fail(context)

    return cast(Stream, call)


async def refuse(context: Context, error: HeptalogError) -> NoReturn:
    """End a call with the status of a failure."""
    await context.abort(status_code(error), message_of(error), tuple(trailers_of(error)))
    raise AssertionError("abort does not return")


async def _fail(context: Context) -> NoReturn:
    # abort itself raises; only what was not meant comes here with a traceback worth keeping.
    if context.done():
        raise
    _log.exception("a call failed")
    await context.abort(grpc.StatusCode.INTERNAL, INTERNAL)
    raise AssertionError("abort does not return")


class Readers:
    """Threads for what reads the store, so that the event loop never waits for a disk."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="heptalog-reader")
        self._gate = Lock()
        self._is_closed = False

    async def run(self, work: Callable[[], T], hasten: Callable[[], object] | None = None) -> T:
        """Do this in a reader's thread. Who is cancelled waits for its end: nothing is closed that is being read.

        `hasten` is called in between, where there is a way to bring that end about.
        """
        with self._gate:
            # A stream that outlives the drain may still come here.
            if self._is_closed:
                raise Unavailable(Code.DRAINING, rule="api")
            future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if hasten is not None:
                hasten()
            await asyncio.wait([future])
            # However it ended, nobody hears of it any more.
            _ = future.cancelled() or future.exception()
            raise

    def close(self) -> None:
        """Wait for what is being read, and stop."""
        with self._gate:
            self._is_closed = True
        self._pool.shutdown()
