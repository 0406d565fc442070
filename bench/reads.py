"""Measure reading: streams of events, one game, states and moves of live games, starting, and help.

What is read is a database made by `heptalog simulate`; without one a small one is made. It is only read, but a server
opens it as any other does. States are asked of games that are being played, in a database of their own. Everything is
done in rounds that alternate; beside the time there is what server and client took of a processor, which says more on a
machine with other work.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from bench.games import TABLES, recorded_games
from heptalog.replay.codec import decode
from heptalog.replay.events import Event
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.service.appends import Append
from heptalog.service.client import AsyncClient, Client
from heptalog.service.store import NO_GAME, GameFilter, LogStore
from heptalog.service.store.duck import DuckStore

_PROGRAM: Final = (sys.executable, "-m", "heptalog.cli")
_EMPTY: Final = """
import typer
app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
app.command("one")(lambda: None)
app.command("two")(lambda: None)
app()
"""
_APPEND_SIZE: Final = 100
_GAMES_READ: Final = 50
# Games about as long as a long evening: one of 300 events.
_LENGTHS: Final = range(250, 351)


class Figure(Struct):
    """One measured thing: its unit, and a value for every round."""

    unit: str
    values: list[float] = []


class Figures(dict[str, Figure]):
    """Everything measured, by name."""

    def add(self, name: str, unit: str, value: float) -> None:
        """Take in the value of a round."""
        self.setdefault(name, Figure(unit)).values.append(value)

    def show(self) -> None:
        """A line each: median, lowest, highest."""
        for name, figure in self.items():
            middle, low, high = statistics.median(figure.values), min(figure.values), max(figure.values)
            print(f"{name:<44} {middle:>12,.2f} {figure.unit:<14} ({low:,.2f} to {high:,.2f})")


class Running:
    """A server of its own over a database."""

    def __init__(self, database: Path) -> None:
        command = [*_PROGRAM, "serve", str(database), "--port", "0", "--no-tables"]
        begin = time.perf_counter()
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout is not None
        self.target = self._process.stdout.readline().split()[-1]
        self.start_seconds = time.perf_counter() - begin

    def processor_seconds(self) -> float:
        """What it has taken of a processor."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End it in order."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


@contextmanager
def running(database: Path) -> Iterator[Running]:
    """A server until the end of the block."""
    server = Running(database)
    try:
        yield server
    finally:
        server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.reads", description=__doc__)
    parser.add_argument("database", type=Path, nargs="?", help="made by heptalog simulate; absent, one of 2,000 games")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured, in turn")
    parser.add_argument("--events", type=int, default=200_000, help="events in one stream")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    arguments = parser.parse_args()
    figures = Figures()
    folder = Path(tempfile.mkdtemp(prefix="heptalog-bench-", dir=Path.cwd()))
    try:
        database = arguments.database or simulated(folder)
        for number in range(arguments.rounds):
            starting(database, figures)
            in_process(database, figures, arguments.events, random.Random(number))
            with running(database) as server:
                figures.add("serve: until it listens", "s", server.start_seconds)
                streams(server, figures, arguments.events)
                one_game(server.target, figures, random.Random(number))
            with running(folder / f"live-{number}.duckdb") as server:
                states(server.target, figures)
    finally:
        shutil.rmtree(folder)
    figures.show()
    if arguments.json:
        found = {name: {"unit": figure.unit, "values": figure.values} for name, figure in figures.items()}
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


def simulated(folder: Path) -> Path:
    """A database of some hundred thousand events."""
    database = folder / "log.duckdb"
    subprocess.run([*_PROGRAM, "simulate", str(database), "--games", "2000", "--seed", "2026"], check=True)
    return database


def starting(database: Path, figures: Figures) -> None:
    """Programs from their start to their end."""
    with closing(DuckStore(database, is_read_only=True)) as store:
        (game,) = store.games(GameFilter(), after=store.position() // 500, limit=1) or store.games(
            GameFilter(), limit=1
        )
    commands: dict[str, Sequence[str]] = {
        "an empty Typer program: --help": (sys.executable, "-c", _EMPTY, "--help"),
        "heptalog --help": (*_PROGRAM, "--help"),
        "heptalog games --limit 20": (*_PROGRAM, "games", str(database), "--limit", "20"),
        "heptalog show": (*_PROGRAM, "show", f"{database}#{game.game_id}"),
        "heptalog replay": (*_PROGRAM, "replay", f"{database}#{game.game_id}"),
    }
    for name, command in commands.items():
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        figures.add(name, "s", time.perf_counter() - begin)


def in_process(database: Path, figures: Figures, events: int, chance: random.Random) -> None:
    """The store itself, without a service."""
    begin = time.perf_counter()
    with closing(DuckStore(database, is_read_only=True)) as store:
        figures.add("store: open to read", "s", time.perf_counter() - begin)
        for is_backwards in (False, True):
            name = f"store: all, {'backwards' if is_backwards else 'forwards'}"
            begin = time.process_time()
            count = sum(1 for _ in store.read_all(limit=events, is_backwards=is_backwards))
            figures.add(name, "µs cpu/event", (time.process_time() - begin) / count * 1e6)
        games = some_games(store, chance)
        begin = time.process_time()
        count = sum(1 for _ in store.read_games(games))
        figures.add("store: games, whole, many at a time", "µs cpu/event", (time.process_time() - begin) / count * 1e6)
        times = [timed(lambda game=game: list(store.read_game(game))) for game in games]  # type: ignore[misc]
        add_times(figures, "store: one game of 300 events", times)


def streams(server: Running, figures: Figures, events: int) -> None:
    """ReadEvents, by both clients."""
    with Client(server.target) as client:
        for name, read in {
            "client: all, forwards": partial(client.read, limit=events),
            "client: all, backwards": partial(client.read, limit=events, is_backwards=True),
        }.items():
            stream(name, server, figures, lambda read=read: sum(1 for _ in read()))  # type: ignore[misc]
    for name, is_backwards in {"async client: all, forwards": False, "async client: all, backwards": True}.items():
        count = partial(counted, server.target, events, is_backwards=is_backwards)
        stream(name, server, figures, lambda count=count: asyncio.run(count()))  # type: ignore[misc]


def stream(name: str, server: Running, figures: Figures, read: Callable[[], int]) -> None:
    """One of them."""
    before, ours, begin = server.processor_seconds(), time.process_time(), time.perf_counter()
    count = read()
    figures.add(name, "events/s", count / (time.perf_counter() - begin))
    figures.add(f"{name}: server", "µs cpu/event", (server.processor_seconds() - before) / count * 1e6)
    figures.add(f"{name}: client", "µs cpu/event", (time.process_time() - ours) / count * 1e6)


async def counted(target: str, limit: int, *, is_backwards: bool) -> int:
    """How many events there are, having read them."""
    count = 0
    async with AsyncClient(target) as client:
        async for _ in client.read(limit=limit, is_backwards=is_backwards):
            count += 1
    return count


def one_game(target: str, figures: Figures, chance: random.Random) -> None:
    """Games of about 300 events from anywhere in the log, through the service."""
    with Client(target) as client:
        last = next(client.read(limit=1, is_backwards=True)).position
        games: dict[str, None] = {}
        while len(games) < _GAMES_READ:
            for stored in client.read(start=chance.randint(1, last), limit=1):
                games[stored.game_id] = None
        names = [name for name in games if client.game(name).head.sequence + 1 in _LENGTHS] or list(games)
        reads = [timed(lambda name=name: list(client.read(name))) for name in names]  # type: ignore[misc]
        add_times(figures, "client: one game of 300 events", reads)
        add_times(figures, "client: GetGame of one at rest", [timed(partial(client.game, name)) for name in names])


def states(target: str, figures: Figures) -> None:
    """GetState and ListLegalMoves of games that are being played."""
    with Client(target) as client:
        for kind in TABLES:
            for game in recorded_games(kind, count=8).records:
                events = [decode(record)[0] for record in game[: max(2, len(game) * 2 // 3)]]
                record(client, events)
                name, last = events[0].game_id, len(events) - 1
                shapes: dict[str, Callable[[], object]] = {
                    "GetState, arbiter": partial(client.state, name, viewer=ARBITER),
                    "GetState, seat": partial(client.state, name, viewer=Viewer(1)),
                    "GetState, public": partial(client.state, name, viewer=PUBLIC),
                    "GetState, earlier": partial(client.state, name, sequence=last // 2),
                    "GetGame": partial(client.game, name),
                    "ListLegalMoves": lambda name=name: list(client.legal(name)),  # type: ignore[misc]
                }
                for shape, ask in shapes.items():
                    ask()
                    add_times(figures, f"live {kind}: {shape}", [timed(ask) for _ in range(20)])


def record(client: Client, events: Sequence[Event]) -> None:
    """Have a game recorded as an import would."""
    for first in range(0, len(events), _APPEND_SIZE):
        expected = first - 1 if first else NO_GAME
        append = Append(events[0].game_id, expected, tuple(events[first : first + _APPEND_SIZE]), is_imported=True)
        client.append(append)


def some_games(store: LogStore, chance: random.Random) -> list[str]:
    """Games of about 300 events from anywhere in the log."""
    games: dict[str, None] = {}
    last = store.position()
    for _ in range(20 * _GAMES_READ):
        start = chance.randint(1, last)
        with closing(store.read_all(start=start, limit=1)) as records:
            name = next(records).game_id
        head = store.head(name)
        if head is not None and head.sequence + 1 in _LENGTHS:
            games[name] = None
        if len(games) == _GAMES_READ:
            break
    return list(games)


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that something takes."""
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e3


def add_times(figures: Figures, name: str, times: Sequence[float]) -> None:
    """Take in the middle and the slow end of some times."""
    ordered = sorted(times)
    figures.add(f"{name}: p50", "ms", ordered[len(ordered) // 2])
    figures.add(f"{name}: p95", "ms", ordered[int(len(ordered) * 0.95)])


if __name__ == "__main__":
    main()
