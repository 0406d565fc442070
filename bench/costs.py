"""The cost model: bytes on disk an event, memory a live game, commits a second, how each grows, and what that carries.

The databases are those of `heptalog simulate`, of different sizes; they are only read, and what is appended is appended
to copies of them. Without any, two are made. The last part puts the figures together into games a day.
"""

import argparse
import gc
import multiprocessing
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, TypeVar, cast

import duckdb

from bench.commits import grouped, in_batches
from bench.games import TABLES, recorded_games
from bench.history import most_memory
from heptalog.replay.codec import decode
from heptalog.service.live import load
from heptalog.service.store import Batch, Entry, LogStore, Stored
from heptalog.service.store.duck import DuckStore

T = TypeVar("T")

GAMES_MADE: Final = 300  # of the first database that is made; the second has ten times as many
LIVE_GAMES: Final = 150  # of each kind
COMMITS: Final = {1: 150, 100: 40, 1000: 5}  # in a round, by the number of events in one
GAMES_COMMITTED: Final = 96  # of each kind
SECONDS_A_DAY: Final = 86_400
# A machine is planned for half of what it can do, so that an evening has room.
LOAD: Final = 0.5
# Of what is free on the disk, a copy of a database takes at most so much.
_ROOM: Final = 0.7
_MEBI: Final = 1 << 20
_BLOCK: Final = 256 * 1024
_COLUMNS: Final = """
    SELECT column_name, count(DISTINCT block_id) FILTER (block_id >= 0) AS blocks
    FROM pragma_storage_info('log.events') GROUP BY column_name ORDER BY blocks DESC, column_name
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.costs", description=__doc__)
    parser.add_argument("databases", type=Path, nargs="*", help="of heptalog simulate, in ascending size")
    parser.add_argument("--games", type=int, default=GAMES_MADE, help="of the first; another has ten times as many")
    parser.add_argument("--rounds", type=int, default=3, help="how often commits are measured, in turn")
    parser.add_argument("--parquet", action="store_true", help="also export each to Parquet, which takes its time")
    parser.add_argument(
        "--rate", type=float, default=0.0, help="events a second that the service takes; absent, no model"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heptalog-bench-", dir=Path.cwd()) as name:
        folder = Path(name)
        databases = arguments.databases or [simulated(folder, arguments.games * times) for times in (1, 10)]
        bytes_an_event, events_a_game = on_disk(databases)
        if arguments.parquet or not arguments.databases:
            in_parquet(databases, folder)
        in_memory(databases)
        commits(databases, folder, arguments.rounds)
        if arguments.rate:
            model(arguments.rate, bytes_an_event, events_a_game)


def simulated(folder: Path, games: int) -> Path:
    """A database of so many games, with its tables."""
    database = folder / f"{games}.duckdb"
    program = (sys.executable, "-m", "heptalog.cli")
    command = [*program, "simulate", str(database), "--games", str(games), "--seed", "2026"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        [*program, "sql", str(database), "SELECT count(*) FROM games"], check=True, stdout=subprocess.DEVNULL
    )
    return database


def on_disk(databases: Sequence[Path]) -> tuple[float, float]:
    """Show what the log and its tables take; give bytes an event and events a game of the largest."""
    print(f"{'on disk':<14} {'events':>12} {'games':>9} {'log MiB':>9} {'B/event':>8} {'tables':>8} {'B/event':>8}")
    all_bytes = events_a_game = 0.0
    listed: list[str] = []
    for database in databases:
        with duckdb.connect(str(database), read_only=True) as connection:
            (events,), (games,) = (
                connection.execute(f"SELECT count(*) FROM log.{table}").fetchone() or (0,)
                for table in ("events", "games")
            )
            columns = connection.execute(_COLUMNS).fetchall()
        log = database.stat().st_size
        folder = Path(f"{database}.tables")
        tables = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(
            f"{database.name:<14} {events:>12,} {games:>9,} {log / _MEBI:>9,.0f} {log / events:>8.0f} "
            f"{tables / _MEBI:>8,.0f} {tables / events:>8.0f}"
        )
        all_bytes, events_a_game = (log + tables) / events, events / games
        listed = list(shares(columns, events))
    print(f"\nof the last, by column of the events: {', '.join(listed)}; bytes an event\n")
    return all_bytes, events_a_game


def in_parquet(databases: Sequence[Path], folder: Path) -> None:
    """Show what an export for other engines takes, its copies of the records included."""
    for database in databases:
        out = folder / f"{database.name}.parquet"
        command = (sys.executable, "-m", "heptalog.cli", "export", str(database), "--parquet", str(out))
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with duckdb.connect(str(database), read_only=True) as connection:
            ((events,),) = connection.execute("SELECT count(*) FROM log.events").fetchall()
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
        print(f"{database.name} as Parquet: {size / _MEBI:,.0f} MiB, {size / events:.0f} bytes an event")
    print()


def shares(columns: Sequence[tuple[str, int]], events: int) -> Iterator[str]:
    """What each column takes of an event, to the block."""
    for name, blocks in columns:
        yield f"{name} {blocks * _BLOCK / events:.1f}"


def in_memory(databases: Sequence[Path]) -> None:
    """Show what live games take, and what an open log takes, each in a process of its own."""
    print(f"{'in memory':<22} {'events a game':>14} {'KiB a game':>11} {'B/event':>8}")
    for name in TABLES:
        events, used = apart(live_memory, name)
        a_game, an_event = used / LIVE_GAMES * 1024, used * _MEBI / events
        print(f"{name:<22} {events / LIVE_GAMES:>14,.0f} {a_game:>11,.0f} {an_event:>8,.0f}")
    print(f"\n{'an open log':<22} {'seconds':>14} {'MiB':>11}")
    for database in databases:
        seconds, used = apart(opening, database)
        print(f"{database.name:<22} {seconds:>14.2f} {used:>11,.0f}")
    print()


def live_memory(name: str) -> tuple[float, float]:
    """How many events live games of one kind have, and MiB of this process that they take."""
    games = recorded_games(name, count=LIVE_GAMES)
    # What making them has left behind is used again, and would hide what they take.
    records = [[bytes(record) for record in records] for records in games.records]
    events = float(games.events)
    del games
    gc.collect()
    before = now_memory()
    live = [load(cast("LogStore", OneGame(game)), name) for game in records]
    gc.collect()
    assert len(live) == LIVE_GAMES
    return events, now_memory() - before


class OneGame:
    """As much of a log as a live game is loaded from, without memory of its own."""

    def __init__(self, records: Sequence[bytes]) -> None:
        self._records = records

    def read_game(self, game_id: str) -> Iterator[Stored]:
        """All of it, whatever it is called."""
        for place, record in enumerate(self._records):
            yield Stored(place + 1, game_id, place, record)


def opening(database: Path) -> tuple[float, float]:
    """Seconds to open a log, and the most MiB that it takes beyond what the program has before."""
    before = most_memory()
    begin = time.perf_counter()
    with closing(DuckStore(database, is_read_only=True)) as store:
        assert store.position()
        return time.perf_counter() - begin, most_memory() - before


def now_memory() -> float:
    """MiB that this process has now."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


def apart(function: Callable[[T], tuple[float, float]], given: T) -> tuple[float, float]:
    """What a function gives in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, (given,))


def commits(databases: Sequence[Path], folder: Path, rounds: int) -> None:
    """Show what commits take in a new log and in copies of these, which take turns and grow a little."""
    waits: dict[tuple[str, int], list[list[float]]] = {}
    cores: dict[tuple[str, int], list[float]] = {}
    with ExitStack() as stack:
        logs = {"a new log": folder / "new.duckdb"}
        for database in databases:
            if database.stat().st_size > shutil.disk_usage(folder).free * _ROOM:
                print(f"{database.name} is too large to be copied here: nothing is committed to it")
            else:
                logs[database.name] = copied(database, folder)
        stores = {name: stack.enter_context(closing(DuckStore(path, reserve_bytes=0))) for name, path in logs.items()}
        works = made_commits()
        for number in range(rounds):
            for size, count in COMMITS.items():
                for name, store in stores.items():
                    work = works[size][number * count : (number + 1) * count]
                    used = time.process_time()
                    waits.setdefault((name, size), []).append(sorted(committed(store, work)))
                    used = time.process_time() - used
                    cores.setdefault((name, size), []).append(used / len(work))
    print(f"{'commits':<22} {'events':>7} {'p50 ms':>8} {'p99 ms':>8} {'CPU ms':>8} {'events/s':>10}")
    for (name, size), measured in waits.items():
        p50, p99 = (
            statistics.median(times[int(len(times) * share)] for times in measured) * 1e3 for share in (0.5, 0.99)
        )
        core = statistics.median(cores[name, size]) * 1e3
        rate = statistics.median(size * len(times) / sum(times) for times in measured)
        print(f"{name:<22} {size:>7} {p50:>8.2f} {p99:>8.2f} {core:>8.2f} {rate:>10,.0f}")
    print()


def committed(store: DuckStore, work: Sequence[Sequence[Batch]]) -> Iterator[float]:
    """Seconds of each commit."""
    for batches in work:
        begin = time.perf_counter()
        store.append(batches)
        yield time.perf_counter() - begin


def made_commits() -> dict[int, list[Sequence[Batch]]]:
    """By the number of their events, commits of games of their own, so that all go into one log."""
    games = [
        [Entry(record, decode(record)[0]) for record in records]
        for name in TABLES
        for records in recorded_games(name, count=GAMES_COMMITTED).records
    ]
    works: dict[int, list[Sequence[Batch]]] = {}
    for place, size in enumerate(COMMITS):
        batches = [batch for game in games[place :: len(COMMITS)] for batch in in_batches(game, min(size, 100))]
        works[size] = list(grouped(batches, size))
    return works


def copied(database: Path, folder: Path) -> Path:
    """A copy that may be written to."""
    copy = folder / f"copy-{database.name}"
    for suffix in ("", ".head", ".wal"):
        if (path := Path(f"{database}{suffix}")).exists():
            shutil.copyfile(path, f"{copy}{suffix}")
    return copy


def model(rate: float, bytes_an_event: float, events_a_game: float) -> None:
    """Show what one machine carries at a rate of events."""
    events_a_day = rate * LOAD * SECONDS_A_DAY
    gibibytes_a_day = events_a_day * bytes_an_event / (1 << 30)
    print(f"at {rate:,.0f} events/s, half of it used: {events_a_day / 1e6:,.0f} million events a day,")
    games_a_day = events_a_day / events_a_game
    print(f"{games_a_day:,.0f} games of {events_a_game:.0f} events a day, {gibibytes_a_day:.1f} GiB a day")


if __name__ == "__main__":
    main()
