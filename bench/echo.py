"""An echo: what gRPC for Python costs by itself, with messages as large as those of appends and nothing done.

`python -m bench.echo` serves it.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol

import grpc

from bench.serving import running
from heptalog.service.appends import Append
from heptalog.service.wire import append_request

_SERVICE: Final = "heptalog.bench.Echo"
_SIZE_BYTES: Final = 4  # at the beginning of a request: how many bytes its answer has
_ON_THEIR_WAY: Final = 1024


class Pace(Protocol):
    """When the next message is due."""

    async def due(self) -> float:
        """Wait for it; 0 once there are no more."""
        ...


class AppendEcho:
    """Asks an echo for answers to messages as large as an append."""

    def __init__(self, channel: grpc.aio.Channel, append: Append, answer_bytes: int) -> None:
        self._request = answer_bytes.to_bytes(_SIZE_BYTES, "big") + bytes(append_request(append).ByteSize())
        self._call: Any = channel.unary_unary(f"/{_SERVICE}/Call")
        self._stream: Any = channel.stream_stream(f"/{_SERVICE}/Stream")

    async def call(self, append: Append) -> None:
        """One message and its answer."""
        await self._call(self._request, timeout=60.0)

    async def streamed(self, pace: Pace) -> list[float]:
        """Messages on one stream, one each, so many of them on their way."""
        times: list[float] = []
        sent: list[float] = []
        room = asyncio.Semaphore(_ON_THEIR_WAY)
        stream = self._stream()

        async def read() -> None:
            async for _ in stream:
                times.append(time.perf_counter() - sent[len(times)])
                room.release()

        reading = asyncio.create_task(read())
        while at := await pace.due():
            await room.acquire()
            sent.append(at)
            await stream.write(self._request)
        await stream.done_writing()
        await reading
        return times


@contextmanager
def echoing() -> Iterator[tuple[str, int]]:
    """An echo in a process of its own: where it listens, and the number of the process."""
    with running([sys.executable, "-m", "bench.echo"]) as found:
        yield found


def _answer(request: bytes) -> bytes:
    return bytes(int.from_bytes(request[:_SIZE_BYTES], "big"))


async def _call(request: bytes, context: object) -> bytes:
    return _answer(request)


async def _stream(requests: AsyncIterator[bytes], context: object) -> AsyncIterator[bytes]:
    async for request in requests:
        yield _answer(request)


async def serve() -> None:
    """Serve until interrupted."""
    server = grpc.aio.server()
    handlers: dict[str, Any] = {
        "Call": grpc.unary_unary_rpc_method_handler(_call),
        "Stream": grpc.stream_stream_rpc_method_handler(_stream),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"listening on 127.0.0.1:{port}", flush=True)
    try:
        await server.wait_for_termination()
    finally:
        # A server that is only dropped may wait for its connections for ever.
        await server.stop(None)


if __name__ == "__main__":
    argparse.ArgumentParser(prog="bench.echo", description=__doc__).parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(serve())
