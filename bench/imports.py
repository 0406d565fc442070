"""Measure import and export: game files into a new database and back, whole and by stage.

The files are those of an export, with ids, times, seals and a chain, and the same games bare, as other software writes
them. The whole is the program itself, as a person runs it, on all files; by the clock it is more than its stages, which
run in this process on a part of them: what other processes take to begin is in it, and told apart. Everything takes
turns in every round. CPU is that of all processes, microseconds an event.
"""

import argparse
import json
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from bench.games import TABLES, recorded_games
from heptalog.cli.connections import Connections
from heptalog.cli.databases import Database
from heptalog.cli.examine import verdict_on
from heptalog.cli.exporting import exported
from heptalog.cli.files import FileGame, games_in
from heptalog.cli.importing.databases import DatabaseLog
from heptalog.cli.importing.games import imported
from heptalog.cli.importing.preparing import Prepared, outcome_of
from heptalog.replay.codec import decode
from heptalog.replay.events import Event
from heptalog.replay.evidence.seals import unsealed
from heptalog.replay.gamefile import encode_line
from heptalog.service.store.duck import DuckStore

KINDS: Final = ("as exported", "bare")
# Games of each kind that the stages are measured on.
_STAGED: Final = 80
_GROUP_EVENTS: Final = 8_000


class Figures(Struct, frozen=True):
    """What one work costs, the median of all rounds."""

    kind: str
    work: str
    cpu: float  # microseconds an event
    events_per_second: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.imports", description=__doc__)
    parser.add_argument("--games", type=int, default=750, help="games of each kind: half a million events")
    parser.add_argument("--rounds", type=int, default=1, help="how often everything is measured, in turn")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heptalog-bench-", dir=Path.cwd()) as folder:
        events = written(Path(folder), arguments.games)
        begun = statistics.median(timed(partial(begin, Path(folder)))[0] for _ in range(3))
        print(f"{events:,} events; to begin everything takes {begun:.2f} s of CPU\n")
        found = measured(Path(folder), events, rounds=arguments.rounds)
    print(f"{'files':<12} {'work':<26} {'µs CPU':>8} {'events/s':>10}")
    for figures in found:
        print(f"{figures.kind:<12} {figures.work:<26} {figures.cpu:>8.2f} {figures.events_per_second:>10,.0f}")
    if arguments.json:
        answer = {"events": events, "begin_seconds": begun, "works": [structs.asdict(figures) for figures in found]}
        arguments.json.write_text(json.dumps(answer, indent=1) + "\n")


def measured(folder: Path, events: int, *, rounds: int) -> list[Figures]:
    """Every work on the files of both kinds in this folder, which have so many events."""
    works = {(kind, name): work for kind in KINDS for name, work in works_on(folder, kind, events).items()}
    times: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in works}
    for _ in range(rounds):
        for key, (_, work) in works.items():
            times[key].append(timed(work))
    return [
        Figures(
            *key,
            cpu=statistics.median(cpu for cpu, _ in taken) / works[key][0] * 1e6,
            events_per_second=works[key][0] / statistics.median(wall for _, wall in taken),
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


def works_on(folder: Path, kind: str, events: int) -> dict[str, tuple[int, Callable[[], object]]]:
    """The stages of an import in this process, the whole of it and of an export; each with how many events it is of."""
    part = [FileGame(path, path.stat().st_size) for path in sorted((folder / kind).iterdir())[:: staged_step(folder)]]
    with Connections() as connections:
        ready = [made for source in part if isinstance(made := outcome_of(source, connections), Prepared)]
    assert len(ready) == len(part), "every game is good"
    places = places_in(folder)
    staged = sum(game.whole.count for game in ready)
    works: dict[str, tuple[int, Callable[[], object]]] = {
        "read, verify": (staged, partial(examine, part)),
        "read, verify, make ready": (staged, partial(make_ready, part)),
        "hand over": (staged, lambda: pickle.loads(pickle.dumps(ready))),  # our own bytes
        "write": (staged, lambda: write(ready, next(places))),
        "import, 1 process": (events, lambda: bring_alone(folder / kind, next(places))),
        "import, 2 and a writer": (events, lambda: bring(folder / kind, next(places))),
    }
    if kind == "as exported":
        database = folder / "log.duckdb"
        bring(folder / kind, database)
        works["export, 1 process"] = (events, lambda: take(database, next(places), jobs=1))
        works["export, 2 and this one"] = (events, lambda: take(database, next(places), jobs=2))
    return works


def staged_step(folder: Path) -> int:
    """Each so-manieth file is one of those that the stages are measured on."""
    return max(1, len(list((folder / KINDS[0]).iterdir())) // (_STAGED * len(TABLES)))


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


def examine(sources: Sequence[FileGame]) -> None:
    """What verify does with files."""
    with Connections() as connections:
        for source in sources:
            assert verdict_on(source, connections).ok


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
        if sum(waiting.whole.count for waiting in group) >= _GROUP_EVENTS:
            store.append_games([waiting.whole for waiting in group])
            group = []
    if group:
        store.append_games([waiting.whole for waiting in group])
    store.close()


def bring(files: Path, path: Path) -> None:
    """The whole of an import, as a person runs it."""
    program = [sys.executable, "-m", "heptalog.cli", "import", str(files), "--into", str(path), "--quiet"]
    subprocess.run(program, check=True, capture_output=True)


def bring_alone(files: Path, path: Path) -> None:
    """The same in this process."""
    with Connections() as connections, closing(DatabaseLog(path)) as log:
        assert all(result.ok for result in imported(games_in(files), connections, lambda: log, jobs=1))


def begin(folder: Path) -> None:
    """What it takes before anything is read: the program with its engine and a database, and two other processes."""
    place = Path(tempfile.mkdtemp(dir=folder))
    bring(min((folder / "bare").iterdir()), place / "log.duckdb")
    for _ in range(2):
        subprocess.run([sys.executable, "-c", "import heptalog.cli.importing.preparing"], check=True)


def take(database: Path, path: Path, *, jobs: int) -> None:
    """The whole of an export to game files."""
    with Connections() as connections:
        games = Database(database).games(connections)
        assert not any(result.problem for result in exported(games, "arbiter", path.parent, connections, jobs=jobs))


if __name__ == "__main__":
    main()
