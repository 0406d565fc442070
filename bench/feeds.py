"""Measure feeds: catching up with the log, following what is recorded, and what followers cost who records.

One caller records remarks, one after the other, while so many follow in a process of their own on the same two cores.
How late an event is told is measured from its receipt, which its caller has at the same moment.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from typing import Final

from bench.games import TABLES, recorded_games
from bench.serving import cpu_seconds, served
from heptalog.replay.events import Body, Event, GameStarted, NoteAdded, Player
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient, CaughtUp, FeedBatch, FeedFilter

_VIEWERS: Final = {"the arbiter": ARBITER, "the public": PUBLIC}
# Of one append, to have something to catch up with.
_TOGETHER: Final = 100
_MICROSECONDS: Final = 1e6
_MILLISECONDS: Final = 1e3


async def catch_up(client: AsyncClient, viewer: Viewer) -> int:
    """All that was recorded, up to the end; how many events that is."""
    count = 0
    async for message in client.subscribe(FeedFilter(viewer=viewer)):
        if isinstance(message, CaughtUp):
            return count
        if isinstance(message, FeedBatch):
            count += len(message.events)
    raise AssertionError("a feed has no end")


async def follow(client: AsyncClient, ready: asyncio.Semaphore, told_at: dict[int, float], last: int) -> None:
    """Follow until the event at this position; when each was told."""
    async for message in client.subscribe(after=None):
        if isinstance(message, CaughtUp):
            ready.release()
        elif isinstance(message, FeedBatch):
            told_at.update((event.position, time.perf_counter()) for event in message.events)
            if message.position >= last:
                return


async def fill(client: AsyncClient, games: Sequence[Sequence[Body]]) -> None:
    """Record these games."""
    async with client.stream() as stream:
        for number, game in enumerate(games):
            events = [Event(0, body, event_id=f"{place}") for place, body in enumerate(game)]
            for at in range(0, len(events), _TOGETHER):
                await stream.append(Append(f"game-{number}", at - 1, tuple(events[at : at + _TOGETHER])))


async def measure(target: str, number: int, arguments: argparse.Namespace) -> None:
    """Everything, over one log."""
    async with AsyncClient(target) as client:
        await fill(client, [game for name in TABLES for game in recorded_games(name, count=arguments.games).bodies])
        print(f"{'catching up':<24} {'events/s':>10} {'server µs an event':>20}")
        for name, viewer in _VIEWERS.items():
            begin, used = time.perf_counter(), cpu_seconds(number)
            count = await catch_up(client, viewer)
            seconds, used = time.perf_counter() - begin, cpu_seconds(number) - used
            print(f"{name:<24} {count / seconds:>10,.0f} {used / count * _MICROSECONDS:>20,.1f}")
        print(f"\n{'following':<12} {'appends/s':>10} {'late, ms: p50':>14} {'p99':>8} {'server ms an append':>20}")
        for followers in arguments.followers:
            await followed(client, number, followers, arguments.appends)


async def followed(client: AsyncClient, number: int, followers: int, appends: int) -> None:
    """Record remarks while so many follow."""
    players = tuple(map(Player, ("ana", "bo", "chie", "dag")))
    game = await client.create_game(GameStarted(players, SevenRocks()))
    last = game.head.position + appends
    ready = asyncio.Semaphore(0)
    told = [dict[int, float]() for _ in range(followers)]
    tasks = [asyncio.create_task(follow(client, ready, told_at, last)) for told_at in told]
    for _ in tasks:
        await ready.acquire()
    recorded_at: dict[int, float] = {}
    begin, used = time.perf_counter(), cpu_seconds(number)
    for place in range(appends):
        receipt = await game.append(NoteAdded(f"remark {place}"))
        recorded_at[receipt.head.position] = time.perf_counter()
    seconds = time.perf_counter() - begin
    await asyncio.gather(*tasks)
    used = cpu_seconds(number) - used
    late = [told_at[position] - at for told_at in told for position, at in recorded_at.items()] or [0.0]
    middle, high = (
        quantile * _MILLISECONDS for quantile in (statistics.median(late), sorted(late)[len(late) * 99 // 100])
    )
    cost = used / appends * _MILLISECONDS
    print(f"{followers:<12} {appends / seconds:>10,.0f} {middle:>14,.2f} {high:>8,.2f} {cost:>20,.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.feeds", description=__doc__)
    parser.add_argument("--games", type=int, default=40, help="of each kind, to catch up with")
    parser.add_argument("--appends", type=int, default=1_000, help="while others follow")
    parser.add_argument("--followers", type=int, nargs="+", default=[0, 1, 10, 100], help="so many at a time, in turn")
    arguments = parser.parse_args()
    with served("--no-tables") as (target, number):
        asyncio.run(measure(target, number, arguments))


if __name__ == "__main__":
    main()
