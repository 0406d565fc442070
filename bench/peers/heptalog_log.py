"""Ourselves, recording: a server of its own for every measurement, its tables following, and our client for asyncio."""

import asyncio
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import metadata
from itertools import count
from typing import Any, Final

from bench.peers import awaiting
from bench.peers.material import recorded
from bench.peers.peer import Figures, Settings, answer
from bench.peers.shapes import GAMES_READ, READ_ALL, READS, SHAPES, Shape
from bench.peers.stores import repeated
from bench.serving import served
from heptalog.replay.events import Body, Event
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient, Client
from heptalog.service.config import EVENTS_PER_APPEND_MAX
from heptalog.service.store import NO_GAME

# A bigger batch goes as several appends, one after the other, and is timed as one.
_APPEND_SIZE: Final = min(500, EVENTS_PER_APPEND_MAX)
# Games that take turns on a stream.
_GAMES_STREAMED: Final = 64


class HeptalogLog:
    """A server as `heptalog serve` starts it."""

    name = "Heptalog"
    note = (
        "committed and synced before the answer; over gRPC, callers at the same time on one stream, as our client has "
        "it by itself; every append names the sequence it expects; every event checked against the rules, sealed, "
        "chained, put into the tree; tables follow; 1,000 go as two appends of 500"
    )
    version = metadata.version("heptalog")
    works = (*SHAPES, *READS)

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.seconds
        self._games = [bodies for kind in recorded() for bodies in kind.bodies]

    def measure(self, work: str) -> Figures:
        """One shape, or one way to read."""
        with served() as (target, _):
            warm_up(target, self._games[0])
            if work in SHAPES:
                return asyncio.run(appended(target, self._games, SHAPES[work], self._seconds))
            with Client(target) as client:
                for number, game in enumerate(self._games[:GAMES_READ]):
                    for append in appends_of(f"game-{number}", game, 0, len(game)):
                        client.append(append)
                if work == READ_ALL:
                    return repeated(self._seconds, lambda _: sum(1 for _ in client.read()))
                games = [f"game-{number}" for number in range(GAMES_READ)]
                return repeated(self._seconds, lambda number: sum(1 for _ in client.read(games[number % len(games)])))


def warm_up(target: str, game: Sequence[Body]) -> None:
    """Have the server as it is a moment after its start: the process that keeps the tables at work."""
    with Client(target, timeout=60.0) as client:
        for append in appends_of("first", game, 0, len(game)):
            client.append(append)
        with client.query("SELECT count(*) FROM games") as answer:
            assert sum(1 for _ in answer)


async def appended(target: str, games: Sequence[Sequence[Body]], shape: Shape, seconds: float) -> Figures:
    """Append from so many callers for so long, or on one stream."""
    numbers = count()
    long_enough = [game for game in games if len(game) >= shape.size]
    given = partial(batches, long_enough, shape.size, numbers)
    async with AsyncClient(target, timeout=60.0) as client:
        if shape.is_stream:
            turns = [given() for _ in range(_GAMES_STREAMED)]
            async with client.stream() as stream:

                async def send(batch: Sequence[Append]) -> "asyncio.Future[Any]":
                    (append,) = batch
                    return await stream.append(append)

                return await awaiting.stream(seconds, (next(turns[turn % len(turns)]) for turn in count()), send)

        async def call(batch: Sequence[Append]) -> None:
            for append in batch:
                await client.append(append)

        return await awaiting.load(shape, seconds, given, call)


def batches(games: Sequence[Sequence[Body]], size: int, numbers: Iterator[int]) -> Iterator[list[Append]]:
    """One game after the other in batches of one size, each as few appends as may be."""
    for number in numbers:
        game = games[number % len(games)]
        for first in range(0, len(game) - size + 1, size):
            yield list(appends_of(f"game-{number}", game, first, first + size))


def appends_of(game_id: str, game: Sequence[Body], first: int, end: int) -> Iterator[Append]:
    """The events from one to before another."""
    for start in range(first, end, _APPEND_SIZE):
        bodies = game[start : min(start + _APPEND_SIZE, end)]
        events = tuple(Event(0, body, event_id=str(uuid.uuid4())) for body in bodies)
        yield Append(game_id, start - 1 if start else NO_GAME, events)


if __name__ == "__main__":
    answer(HeptalogLog)
