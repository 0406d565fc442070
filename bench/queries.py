"""Measure appends to a real server: without tables, with them, and with heavy questions asked of them all the while.

The three take turns in every round, each on a new database on one disk. The appends are those of seeded games, by 64
callers one event at a time, and by one in batches of a hundred. What is asked beside them is what a sandbox has to
endure: cross joins, sorts, windows, aggregates, and functions that eat memory and cannot be interrupted.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
from collections.abc import Sequence
from itertools import cycle
from typing import Final

from bench.appends import Shape, appended
from bench.games import TABLES, recorded_games
from bench.serving import served
from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Body
from heptalog.service.client import Client

CALLERS: Final = 64
BATCH_SIZE: Final = 100
WAYS: Final[dict[str, tuple[str, ...]]] = {
    "no tables": ("--no-tables",),
    "tables": (),
    "tables and heavy questions": (),
}
# Each takes all the time or all the memory that it is given.
HEAVY: Final = (
    "SELECT count(*) FROM range(10000000) a, range(10000000) b",
    "SELECT sum(hash(a.range) % 7) FROM range(100000000) a ORDER BY ALL",
    "SELECT * FROM (SELECT hash(range) AS h FROM range(100000000)) ORDER BY h LIMIT 1",
    "SELECT list(range) FROM range(1000000000)",
    "SELECT hash(range) % 50000000 AS h, count(*) FROM range(100000000) GROUP BY h ORDER BY 2 LIMIT 1",
    "SELECT length(repeat('x', 4000000000))",
    "SELECT length(lpad('x', 2000000000, 'y'))",
    "SELECT max(rank) FROM (SELECT rank() OVER (ORDER BY hash(range)) AS rank FROM range(50000000))",
    "SELECT turns.game_id, count(*) FROM turns, turns AS others GROUP BY 1 ORDER BY 2 LIMIT 1",
)
_SECONDS_OF_ONE: Final = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.queries", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured, in turn")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each is measured")
    parser.add_argument("--asking", type=str, help="ask heavy questions of this server until killed")
    parser.add_argument("--first", type=int, default=0, help="and begin with this one")
    arguments = parser.parse_args()
    if arguments.asking:
        ask(arguments.asking, arguments.first)
        return
    games = [bodies for name in TABLES for bodies in recorded_games(name, count=32).bodies]
    print(f"{arguments.rounds} rounds in turn, {arguments.seconds:.0f} s each; medians, milliseconds an append\n")
    print(f"{'events':>6}  {'callers':>7}  {'':<27} {'p50':>8} {'p99':>8} {'max':>8} {'events/s':>9}  questions")
    for size, callers in ((1, CALLERS), (BATCH_SIZE, 1), (BATCH_SIZE, 8)):
        figures: dict[str, list[tuple[list[float], int]]] = {way: [] for way in WAYS}
        for _ in range(arguments.rounds):
            for way in WAYS:
                figures[way].append(measured(way, games, size, callers, arguments.seconds))
        for way, rounds in figures.items():
            show(way, size, callers, arguments.seconds, rounds)
        print()


def show(way: str, size: int, callers: int, seconds: float, rounds: Sequence[tuple[list[float], int]]) -> None:
    """One line."""

    def median_at(share: float) -> float:
        return statistics.median(times[min(int(len(times) * share), len(times) - 1)] for times, _ in rounds) * 1e3

    rate = statistics.median(size * len(times) / seconds for times, _ in rounds)
    asked = sum(asked for _, asked in rounds)
    p50, p99, longest = median_at(0.5), median_at(0.99), median_at(1.0)
    print(f"{size:>6}  {callers:>7}  {way:<27} {p50:>8.2f} {p99:>8.2f} {longest:>8.1f} {rate:>9,.0f}  {asked or ''}")


def measured(
    way: str, games: Sequence[Sequence[Body]], size: int, callers: int, seconds: float
) -> tuple[list[float], int]:
    """How long each append took, ascending, and how many heavy questions came to an end meanwhile."""
    shape = Shape(way, events=size, callers=callers)
    with served(*WAYS[way]) as (target, _):
        if "heavy" not in way:
            return sorted(asyncio.run(appended(target, shape, games, seconds))), 0
        command = [sys.executable, "-m", "bench.queries", "--asking", target, "--first"]
        # As many at a time as the server takes.
        asking = [
            subprocess.Popen([*command, first], stdout=subprocess.PIPE, text=True)
            for first in ("0", str(len(HEAVY) // 2))
        ]
        for one in asking:
            assert one.stdout is not None
            one.stdout.readline()
        times = sorted(asyncio.run(appended(target, shape, games, seconds)))
        for one in asking:
            one.kill()
        return times, sum(len(one.communicate()[0].splitlines()) for one in asking)


def ask(target: str, first: int) -> None:
    """Ask one heavy question after the other, and print how each ended."""
    print("asking", flush=True)
    with Client(target) as client:
        for sql in cycle(HEAVY[first:] + HEAVY[:first]):
            try:
                with client.query(sql, timeout=_SECONDS_OF_ONE) as answer:
                    for _ in answer:
                        pass
                print("answered", flush=True)
            except HeptalogError as error:
                print(error.code, flush=True)


if __name__ == "__main__":
    main()
