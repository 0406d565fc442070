"""An empty answer over gRPC: a server and a client for asyncio, the same callers, bytes there and a few back."""

import asyncio
from collections.abc import Sequence
from importlib import metadata
from itertools import repeat
from typing import Final

import grpc

from bench.appends import Pace
from bench.echo import AppendEcho, echoing
from bench.peers import awaiting
from bench.peers.heptalog_log import appends_of
from bench.peers.material import recorded
from bench.peers.peer import Figures, Settings, answer, quantile
from bench.peers.shapes import SHAPES, Shape
from heptalog.service.appends import Append

# As long as a receipt.
_ANSWER_BYTES: Final = 52


class EchoFloor:
    """A server of its own that reads nothing of what it gets."""

    name = "gRPC echo"
    note = "no storage at all: grpcio's server and client for asyncio on the same two cores, bytes that nobody parses"
    version = metadata.version("grpcio")
    works = tuple(SHAPES)

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.seconds
        self._games = [bodies for kind in recorded() for bodies in kind.bodies]

    def measure(self, work: str) -> Figures:
        """One shape."""
        shape = SHAPES[work]
        game = max(self._games, key=len)
        appends = list(appends_of("game", game, 0, shape.size))
        with echoing() as (target, _):
            return asyncio.run(echoed(target, appends, shape, self._seconds))


async def echoed(target: str, appends: Sequence[Append], shape: Shape, seconds: float) -> Figures:
    """Messages of the size of these appends, from so many callers for so long."""
    async with grpc.aio.insecure_channel(target) as channel:
        echo = AppendEcho(channel, appends[0], _ANSWER_BYTES)
        if not shape.is_stream:

            async def call(appends: Sequence[Append]) -> None:
                for append in appends:
                    await echo.call(append)

            return await awaiting.load(shape, seconds, lambda: repeat(appends), call)
        times = sorted(await echo.streamed(Pace(0.0, seconds)))
        return Figures(len(times) / seconds, quantile(times, 0.5) * 1e3, quantile(times, 0.99) * 1e3)


if __name__ == "__main__":
    answer(EchoFloor)
