"""Measure commits of the log: with all that proves it, without the head record, and without the tree as well.

The three take turns in every round, on fresh databases on one disk. What is left out here is left out nowhere else:
there is no setting for it.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Final
from unittest.mock import patch

from bench.games import TABLES, recorded_games
from heptalog.replay.codec import decode
from heptalog.service.store import NO_GAME, Batch, Entry
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_evidence import Evidence
from heptalog.service.store.heads import HeadFile

COMMITS: Final = {1: 400, 100: 200, 1000: 40}  # by the number of events in one
_BATCH_SIZE: Final = 100


WAYS: Final[dict[str, Callable[[], AbstractContextManager[object]]]] = {
    "as it is": nullcontext,
    "without head record": partial(patch.object, HeadFile, "write", lambda self, head, time: None),
    "without tree and head": partial(patch.object, Evidence, "extend", lambda self, hashes: None),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.commits", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured, in turn")
    arguments = parser.parse_args()
    batches = made_batches()
    print(f"{arguments.rounds} rounds in turn; milliseconds a commit, medians of the rounds' p50 and p99\n")
    print(f"{'events':>6}  {'':<22} {'p50':>7} {'p99':>7} {'events/s':>10}")
    for size, count in COMMITS.items():
        commits = list(grouped(batches[min(size, _BATCH_SIZE)], size))[:count]
        figures: dict[str, list[list[float]]] = {way: [] for way in WAYS}
        for _ in range(arguments.rounds):
            for way, changed in WAYS.items():
                with changed():
                    figures[way].append(sorted(measured(commits)))
        for way, rounds in figures.items():
            p50 = statistics.median(statistics.median(times) for times in rounds)
            p99 = statistics.median(times[int(len(times) * 0.99)] for times in rounds)
            rate = statistics.median(size * len(times) / sum(times) for times in rounds)
            print(f"{size:>6}  {way:<22} {p50 * 1e3:>7.2f} {p99 * 1e3:>7.2f} {rate:>10,.0f}")
        print()


def made_batches() -> dict[int, list[Batch]]:
    """The same games in batches of one event and of a hundred, as they would be recorded."""
    games = [
        [Entry(record, decode(record)[0]) for record in records]
        for name in TABLES
        for records in recorded_games(name, count=64).records
    ]
    return {size: [batch for game in games for batch in in_batches(game, size)] for size in (1, _BATCH_SIZE)}


def in_batches(game: Sequence[Entry], size: int) -> Iterator[Batch]:
    """Consecutive batches of one game, all of one size."""
    for start in range(0, len(game) - size + 1, size):
        entries = tuple(game[start : start + size])
        yield Batch(entries[0].event.game_id, start - 1 if start else NO_GAME, entries)


def grouped(batches: Sequence[Batch], size: int) -> Iterator[Sequence[Batch]]:
    """As many batches in a commit as give it so many events."""
    step = max(1, size // _BATCH_SIZE)
    for start in range(0, len(batches) - step + 1, step):
        yield batches[start : start + step]


def measured(commits: Sequence[Sequence[Batch]]) -> list[float]:
    """Seconds of every commit, into a new database."""
    times = []
    with tempfile.TemporaryDirectory(prefix="heptalog-bench-", dir=Path.cwd()) as folder:
        store = DuckStore(Path(folder) / "log.duckdb", reserve_bytes=0)
        for batches in commits:
            begin = time.perf_counter()
            answers = store.append(batches)
            times.append(time.perf_counter() - begin)
            assert len(answers) == len(batches)
        store.close()
    return times


if __name__ == "__main__":
    main()
