"""Measure appends over the network: the whole way from a client to a durable answer, beside an echo that does nothing.

Every shape is measured as an echo of gRPC's own (messages of the same sizes, nothing decoded, nothing done), without
tables and with the tables following; the ways take turns in every round, each on a new database on one disk. The client
runs in this process, the server in one of its own, on the same cores. `measure` is one figure, for who compares.
"""

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias

import grpc
from msgspec import Struct, structs

from bench.echo import AppendEcho, echoing
from bench.games import TABLES, recorded_games
from bench.serving import cpu_seconds, served
from heptalog.replay.events import Body, Event
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient, Client
from heptalog.service.store import NO_GAME

Games: TypeAlias = Sequence[Sequence[Body]]
WAYS: Final = ("echo", "without tables", "with tables")
SECONDS: Final = 5.0
# The answer to one append, in bytes.
_ANSWER_BYTES: Final = 52


class Shape(Struct, frozen=True):
    """A form of load: so many events an append, by so many callers at once, or on one stream over so many games.

    Callers share their calls as the client has it by itself, unless each makes calls of its own.

    With a rate they come at so many a second, whether or not those before are answered; without, as fast as it goes.
    """

    name: str
    events: int = 1
    callers: int = 1
    is_streamed: bool = False
    is_alone: bool = False
    rate: float = 0.0


class Figures(Struct, frozen=True):
    """What one measurement gave."""

    events_per_second: float
    p50: float  # milliseconds, from when an append was due to its answer
    p99: float
    client_cpu: float  # microseconds an event
    server_cpu: float


SHAPES: Final = (
    Shape("1 caller"),
    Shape("4 callers", callers=4),
    Shape("16 callers", callers=16),
    Shape("64 callers", callers=64),
    Shape("64 callers, a call each", callers=64, is_alone=True),
    Shape("64 callers, half load", callers=64, rate=1500),
    Shape("stream, 64 games", callers=64, is_streamed=True),
    Shape("stream, one game", callers=1, is_streamed=True),
    Shape("stream, half load", callers=64, is_streamed=True, rate=4000),
    Shape("100 an append, 1 caller", events=100),
    Shape("100 an append, 8 callers", events=100, callers=8),
    Shape("100 an append, half load", events=100, callers=8, rate=300),
    Shape("100 an append, stream", events=100, callers=8, is_streamed=True),
    Shape("500 an append, 2 callers", events=500, callers=2),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.appends", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured, in turn")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long each is measured")
    parser.add_argument("--shape", action="append", help="only this shape; may be given again")
    parser.add_argument("--way", action="append", choices=WAYS, help="only this way; may be given again")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    arguments = parser.parse_args()
    shapes = [shape for shape in SHAPES if not arguments.shape or shape.name in arguments.shape]
    ways = arguments.way or WAYS
    found: dict[str, dict[str, list[Figures]]] = {shape.name: {way: [] for way in ways} for shape in shapes}
    for _ in range(arguments.rounds):
        for shape in shapes:
            for way in ways:
                found[shape.name][way].append(measure(shape, way, arguments.seconds))
    print(f"{arguments.rounds} rounds in turn, {arguments.seconds:.0f} s each; medians; µs of CPU an event\n")
    print(f"{'':<26} {'':<15} {'events/s':>9} {'p50 ms':>8} {'p99 ms':>8} {'client':>8} {'server':>8}")
    for name, by_way in found.items():
        for way, rounds in by_way.items():
            show(name, way, rounds)
        print()
    if arguments.json:
        plain = {
            name: {way: list(map(structs.asdict, rounds)) for way, rounds in by.items()} for name, by in found.items()
        }
        arguments.json.write_text(json.dumps(plain, indent=1) + "\n")


def show(name: str, way: str, rounds: Sequence[Figures]) -> None:
    """One line."""
    values = [statistics.median(column) for column in zip(*map(structs.astuple, rounds), strict=True)]
    rate, p50, p99, client, server = values
    print(f"{name:<26} {way:<15} {rate:>9,.0f} {p50:>8.2f} {p99:>8.2f} {client:>8.1f} {server:>8.1f}", flush=True)


def measure(shape: Shape, way: str = "with tables", seconds: float = SECONDS) -> Figures:
    """One measurement, with a server of its own over a new database."""
    games = [bodies for name in TABLES for bodies in recorded_games(name, count=32).bodies]
    if way == "echo":
        with echoing() as (target, server):
            return _measured(_echoed(target, shape, games, seconds), shape, server)
    with served(*(("--no-tables",) if way == "without tables" else ())) as (target, server):
        with Client(target, timeout=60.0) as client:
            # The first append of a process loads what the others find loaded.
            client.append(Append("first", NO_GAME, (Event(0, games[0][0]),)))
        return _measured(appended(target, shape, games, seconds), shape, server)


def _measured(work: Awaitable[list[float]], shape: Shape, server: int) -> Figures:
    async def run() -> tuple[list[float], float]:
        begin = time.perf_counter()
        times = await work
        return times, time.perf_counter() - begin

    client_before, server_before = time.process_time(), cpu_seconds(server)
    times, seconds = asyncio.run(run())
    client, of_server = time.process_time() - client_before, cpu_seconds(server) - server_before
    times.sort()
    events = len(times) * shape.events
    return Figures(
        events / seconds,
        times[len(times) // 2] * 1e3,
        times[int(len(times) * 0.99)] * 1e3,
        client / events * 1e6,
        of_server / events * 1e6,
    )


# What is sent.


def appends_of(games: Games, size: int, numbers: Iterator[int]) -> Iterator[Append]:
    """The appends of one game after the other, without those at a game's end that are too short."""
    for number in numbers:
        game = games[number % len(games)]
        for first in range(0, len(game) - size + 1, size):
            events = tuple(
                Event(0, body, event_id=f"{number}-{first + at}") for at, body in enumerate(game[first : first + size])
            )
            yield Append(f"game-{number}", first - 1 if first else NO_GAME, events)


class Pace:
    """When the next append is due: at once, or at a rate."""

    def __init__(self, rate: float, seconds: float) -> None:
        self._begin = time.perf_counter()
        self._end = self._begin + seconds
        self._rate = rate
        self._numbers = count()

    async def due(self) -> float:
        """Wait for the next one, and say when it was due; 0 once there are no more."""
        at = self._begin + next(self._numbers) / self._rate if self._rate else time.perf_counter()
        if at >= self._end:
            return 0.0
        if (wait := at - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        return at


async def appended(target: str, shape: Shape, games: Games, seconds: float) -> list[float]:
    """Append to a server for so long: how many seconds each took."""
    async with AsyncClient(target, timeout=60.0, joins_appends=not shape.is_alone) as client:
        if shape.is_streamed:
            return await _streamed(client, shape, games, seconds)
        return await _called(shape, games, seconds, client.append)


async def _called(
    shape: Shape, games: Games, seconds: float, call: Callable[[Append], Awaitable[object]]
) -> list[float]:
    times: list[float] = []
    numbers = count()
    pace = Pace(shape.rate, seconds)

    async def caller() -> None:
        for append in appends_of(games, shape.events, numbers):
            if not (at := await pace.due()):
                return
            await call(append)
            times.append(time.perf_counter() - at)

    await asyncio.gather(*(caller() for _ in range(shape.callers)))
    return times


async def _streamed(client: AsyncClient, shape: Shape, games: Games, seconds: float) -> list[float]:
    """Appends of so many games in turn on one stream, none of which waits for an answer."""
    times: list[float] = []
    numbers = count()
    pace = Pace(shape.rate, seconds)
    turns = [appends_of(games, shape.events, numbers) for _ in range(shape.callers)]
    async with client.stream() as stream:
        for turn in count():
            if not (at := await pace.due()):
                break
            future = await stream.append(next(turns[turn % len(turns)]))
            future.add_done_callback(partial(_note, times, at))
    return times


def _note(times: list[float], at: float, _: object) -> None:
    times.append(time.perf_counter() - at)


async def _echoed(target: str, shape: Shape, games: Games, seconds: float) -> list[float]:
    """Messages of the same sizes, each answered with as many bytes as a receipt has."""
    (first,) = (append for append, _ in zip(appends_of(games, shape.events, count()), range(1), strict=False))
    async with grpc.aio.insecure_channel(target) as channel:
        echo = AppendEcho(channel, first, _ANSWER_BYTES)
        if shape.is_streamed:
            return await echo.streamed(Pace(shape.rate, seconds))
        return await _called(shape, games, seconds, echo.call)


if __name__ == "__main__":
    main()
