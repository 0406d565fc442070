"""Measure import and export: game files into a new database and back, by stage in one process, then whole.

The files are those of an export, with ids, times, seals and a chain, and the same games bare, as other software writes
them. Stages and ways take turns in every round. CPU is that of all processes, microseconds an event; what a round costs
to begin other processes is in the figures of the whole.
"""

import argparse
import json
import pickle
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from bench.games import TABLES, recorded_games
from heptalog.cli.connections import Connections
from heptalog.cli.databases import Database
from heptalog.cli.exporting import exported
from heptalog.cli.files import FileGame
from heptalog.cli.importing.databases import DatabaseLog
from heptalog.cli.importing.games import imported
from heptalog.cli.importing.preparing import Prepared, outcome_of
from heptalog.replay.codec import decode
from heptalog.replay.events import Event
from heptalog.replay.evidence.seals import unsealed
from heptalog.replay.gamefile import encode_line
from heptalog.replay.verify import verify
from heptalog.service.store.duck import DuckStore

KINDS: Final = ("as exported", "bare")
_GROUP_EVENTS: Final = 8_000


class Figures(Struct, frozen=True):
    """What one work costs, the median of all rounds."""

    kind: str
    work: str
    cpu: float  # microseconds an event
    events_per_second: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.imports", description=__doc__)
    parser.add_argument("--games", type=int, default=200, help="games of each kind")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured, in turn")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heptalog-bench-", dir=Path.cwd()) as folder:
        found = measured(Path(folder), games=arguments.games, rounds=arguments.rounds)
    print(f"{'files':<12} {'work':<26} {'µs CPU':>8} {'events/s':>10}")
    for figures in found:
        print(f"{figures.kind:<12} {figures.work:<26} {figures.cpu:>8.2f} {figures.events_per_second:>10,.0f}")
    if arguments.json:
        arguments.json.write_text(json.dumps([structs.asdict(figures) for figures in found], indent=1) + "\n")


def measured(folder: Path, *, games: int, rounds: int) -> list[Figures]:
    """Every work on files of both kinds, which are made in this folder."""
    events = written(folder, games)
    works = {(kind, name): work for kind in KINDS for name, work in works_on(folder, kind).items()}
    times: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in works}
    for _ in range(rounds):
        for key, work in works.items():
            times[key].append(timed(work))
    return [
        Figures(
            *key,
            cpu=statistics.median(cpu for cpu, _ in taken) / events * 1e6,
            events_per_second=events / statistics.median(wall for _, wall in taken),
        )
        for key, taken in times.items()
    ]


def written(folder: Path, count: int) -> int:
    """Write the same games in both kinds, and tell how many events they have."""
    for kind in KINDS:
        (folder / kind).mkdir()
    events = 0
    for name in TABLES:
        for number, records in enumerate(recorded_games(name, count=count).records):
            game = [decode(record)[0] for record in records]
            events += len(game)
            for kind, lines in (("as exported", game), ("bare", map(bare, game))):
                path = folder / kind / f"{name}-{number}.jsonl"
                path.write_bytes(b"".join(encode_line(event) + b"\n" for event in lines))
    return events


def bare(event: Event) -> Event:
    """The event as software writes it that knows nothing of ids and proofs."""
    return Event(event.sequence, unsealed(event.body), occurred_at=event.recorded_at, recorded_by=event.recorded_by)


def works_on(folder: Path, kind: str) -> dict[str, Callable[[], object]]:
    """The stages of an import in this process, and the whole of it and of an export with one process and with two."""
    sources = [FileGame(path, path.stat().st_size) for path in sorted((folder / kind).iterdir())]
    with Connections() as connections:
        ready = [made for source in sources if isinstance(made := outcome_of(source, connections), Prepared)]
    assert len(ready) == len(sources), "every game is good"
    database = folder / f"{kind}.duckdb"
    write(ready, database)
    places = places_in(folder)
    works: dict[str, Callable[[], object]] = {
        "read": partial(read, sources),
        "read, verify": partial(examine, sources),
        "read, verify, make ready": partial(make_ready, sources),
        "hand over": lambda: pickle.loads(pickle.dumps(ready)),  # our own bytes
        "write": lambda: write(ready, next(places)),
        "import, 1 process": lambda: bring(sources, next(places), jobs=1),
        "import, 2 and a writer": lambda: bring(sources, next(places), jobs=2),
    }
    if kind == "as exported":
        works["export, 1 process"] = lambda: take(database, next(places), jobs=1)
        works["export, 2 and this one"] = lambda: take(database, next(places), jobs=2)
    return works


def places_in(folder: Path) -> Iterator[Path]:
    """New names without end."""
    while True:
        yield Path(tempfile.mkdtemp(dir=folder)) / "log.duckdb"


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """The CPU seconds of a work in all processes, and those of the clock."""
    begin, cpu = time.perf_counter(), cpu_seconds()
    work()
    return cpu_seconds() - cpu, time.perf_counter() - begin


def cpu_seconds() -> float:
    """What this process and those that it has begun and ended have used."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def read(sources: Sequence[FileGame]) -> None:
    """Lines to events."""
    with Connections() as connections:
        for source in sources:
            for _ in source.entries(connections):
                pass


def examine(sources: Sequence[FileGame]) -> None:
    """What verify does with files."""
    with Connections() as connections:
        for source in sources:
            assert verify(source.entries(connections)).ok


def make_ready(sources: Sequence[FileGame]) -> None:
    """All that another process does for an import."""
    with Connections() as connections:
        for source in sources:
            outcome_of(source, connections)


def write(ready: Sequence[Prepared], path: Path) -> None:
    """What only the one writer does."""
    store = DuckStore(path, reserve_bytes=0)
    group: list[Prepared] = []
    for game in ready:
        group.append(game)
        if sum(len(waiting.records) for waiting in group) >= _GROUP_EVENTS:
            store.append_games([waiting.whole for waiting in group])
            group = []
    if group:
        store.append_games([waiting.whole for waiting in group])
    store.close()


def bring(sources: Sequence[FileGame], path: Path, *, jobs: int) -> None:
    """The whole of an import."""
    with Connections() as connections:
        log = DatabaseLog(path)
        assert all(result.ok for result in imported(sources, connections, lambda: log, jobs=jobs))
        log.close()


def take(database: Path, path: Path, *, jobs: int) -> None:
    """The whole of an export to game files."""
    with Connections() as connections:
        games = Database(database).games(connections)
        assert not any(result.problem for result in exported(games, "arbiter", path.parent, connections, jobs=jobs))


if __name__ == "__main__":
    main()
