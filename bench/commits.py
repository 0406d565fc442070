"""Measure commits of the log: with all that proves it, without the head record, and without the tree as well.

The three take turns in every round, on fresh databases on one disk. What is left out here is left out nowhere else:
there is no setting for it.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias
from unittest.mock import patch

from bench.games import TABLES, recorded_games
from heptalog.replay.codec import decode
from heptalog.service.store import NO_GAME, Batch, Entry
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_evidence import Evidence
from heptalog.service.store.heads import HeadFile
from heptalog.service.store.whole import WholeGame, whole_game

COMMITS: Final = {1: 400, 100: 200, 1000: 40}  # by the number of events in one
_BATCH_SIZE: Final = 100
# Whole games, as an import brings them: so many events are one commit.
WHOLE_EVENTS: Final = 8_000

# A commit that is still to be made, and how many events it has.
Work: TypeAlias = tuple[Callable[[DuckStore], object], int]
# Seconds of each commit, and processor seconds of all.
Figures: TypeAlias = tuple[list[float], float]

WAYS: Final[dict[str, Callable[[], AbstractContextManager[object]]]] = {
    "as it is": nullcontext,
    "without head record": partial(patch.object, HeadFile, "write", lambda self, head, time: None),
    "without tree and head": partial(patch.object, Evidence, "extend", lambda self, hashes: None),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.commits", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured, in turn")
    arguments = parser.parse_args()
    works = made_works()
    print(f"{arguments.rounds} rounds in turn; milliseconds a commit, medians of the rounds' p50 and p99;")
    print("processor time of a commit and of an event\n")
    print(f"{'events':>12}  {'':<22} {'p50':>7} {'p99':>7} {'events/s':>10} {'CPU ms':>8} {'µs an event':>12}")
    for name, commits in works.items():
        figures: dict[str, list[Figures]] = {way: [] for way in WAYS}
        for _ in range(arguments.rounds):
            for way, changed in WAYS.items():
                with changed():
                    figures[way].append(measured(commits))
        events = sum(size for _, size in commits)
        for way, rounds in figures.items():
            p50 = statistics.median(statistics.median(times) for times, _ in rounds)
            p99 = statistics.median(sorted(times)[int(len(times) * 0.99)] for times, _ in rounds)
            rate = statistics.median(events / sum(times) for times, _ in rounds)
            used = statistics.median(used for _, used in rounds)
            print(
                f"{name:>12}  {way:<22} {p50 * 1e3:>7.2f} {p99 * 1e3:>7.2f} {rate:>10,.0f} "
                f"{used / len(commits) * 1e3:>8.2f} {used / events * 1e6:>12.2f}"
            )
        print()


def made_works() -> dict[str, list[Work]]:
    """Commits of each size, and of whole games."""
    batches = made_batches()
    works: dict[str, list[Work]] = {}
    for size, count in COMMITS.items():
        groups = list(grouped(batches[min(size, _BATCH_SIZE)], size))[:count]
        works[str(size)] = [(partial(_append, group), size) for group in groups]
    works["whole games"] = list(whole_commits())
    return works


def _append(batches: Sequence[Batch], store: DuckStore) -> None:
    assert len(store.append(batches)) == len(batches)


def _append_games(games: Sequence[WholeGame], store: DuckStore) -> None:
    assert None not in store.append_games(games)


def whole_commits() -> Iterator[Work]:
    """Whole games, as many in a commit as give it its number of events."""
    group: list[WholeGame] = []
    size = 0
    for name in TABLES:
        for records in recorded_games(name, count=64).records:
            group.append(whole_game([decode(record)[0] for record in records], records, ()))
            size += len(records)
            if size >= WHOLE_EVENTS:
                yield partial(_append_games, group), size
                group, size = [], 0


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


def measured(commits: Sequence[Work]) -> Figures:
    """Seconds of every commit, into a new database, and processor seconds of all of them."""
    times = []
    with (
        tempfile.TemporaryDirectory(prefix="heptalog-bench-", dir=Path.cwd()) as folder,
        closing(DuckStore(Path(folder) / "log.duckdb", reserve_bytes=0)) as store,
    ):
        used = time.process_time()
        for commit, _ in commits:
            begin = time.perf_counter()
            commit(store)
            times.append(time.perf_counter() - begin)
        return times, time.process_time() - used


if __name__ == "__main__":
    main()
