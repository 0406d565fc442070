"""Measure questions over a whole history: what it takes on disk, and each view's time cold and warm, and its memory.

The database is one of `heptalog simulate`; its tables are brought up to date first. Every view is asked in a process of
its own, for all its rows: cold with the files let go of by the system, then warm.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import duckdb
from msgspec import json

from heptalog.analytics.snapshots import Snapshot, attach
from heptalog.analytics.views import VIEWS, install
from heptalog.cli.tables import tables_of

_MEBI = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.history", description=__doc__)
    parser.add_argument("database", type=Path)
    parser.add_argument("--rounds", type=int, default=3, help="how often each view is asked warm")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--view", help="measure this one in this process, the moment on stdin")
    arguments = parser.parse_args()
    if arguments.view:
        print(json.encode(measured(arguments.view, arguments.rounds, arguments.threads)).decode())
        return
    begin = time.perf_counter()
    with tables_of(arguments.database) as snapshot:
        print(f"tables up to position {snapshot.position:,} after {time.perf_counter() - begin:.1f} s")
        tables = {name: [Path(part.path) for part in parts] for name, parts in snapshot.tables.items()}
        size = sum(file.stat().st_size for files in tables.values() for file in files)
        log = arguments.database.stat().st_size
        print(f"log {log / _MEBI:,.0f} MiB, {log / snapshot.position:.0f} bytes an event;", end=" ")
        print(f"tables {size / _MEBI:,.0f} MiB, {size / snapshot.position:.0f} bytes an event\n")
        print(f"{'view':<24} {'rows':>10} {'cold s':>8} {'warm s':>8} {'MiB':>8}")
        for view in VIEWS:
            let_go(file for files in tables.values() for file in files)
            rows, cold, warm, memory = asked(snapshot, view.name, arguments)
            print(f"{view.name:<24} {rows:>10,} {cold:>8.2f} {warm:>8.2f} {memory:>8,.0f}", flush=True)


def asked(snapshot: Snapshot, view: str, arguments: argparse.Namespace) -> tuple[int, float, float, float]:
    """Measure one view in a process of its own."""
    options = ["--view", view, "--rounds", str(arguments.rounds), "--threads", str(arguments.threads)]
    command = [sys.executable, "-m", "bench.history", str(arguments.database), *options]
    done = subprocess.run(command, input=json.encode(snapshot), stdout=subprocess.PIPE, check=True)
    return json.decode(done.stdout, type=tuple[int, float, float, float])


def measured(view: str, rounds: int, threads: int) -> tuple[int, float, float, float]:
    """Rows, seconds the first time, seconds again, and the most memory in MiB beyond that of a bare connection."""
    snapshot = json.decode(sys.stdin.buffer.read(), type=Snapshot)
    with duckdb.connect(config={"threads": threads}) as connection:
        attach(connection, snapshot)
        install(connection)
        bare = most_memory()
        times = []
        rows = 0
        for _ in range(rounds + 1):
            begin = time.perf_counter()
            reader = connection.sql(f"FROM {view}").to_arrow_reader()
            rows = sum(batch.num_rows for batch in reader)
            times.append(time.perf_counter() - begin)
    return rows, times[0], statistics.median(times[1:]), most_memory() - bare


def most_memory() -> float:
    """The most memory that this process has had, in MiB. What the system counts for its children includes us."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def let_go(files: Iterable[Path]) -> None:
    """Make the system forget what it has read of these files."""
    for file in files:
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


if __name__ == "__main__":
    main()
