"""The tamper trial: whatever is changed in a log is found, each change at its place.

    python -m tests.trials.tamper                           every change of a small log, each byte of it too
    python -m tests.trials.tamper --random 500 --events 1000000   as many changes in a large one, all at once

Thousands of changed logs are audited in memory, by the same audit through the same reading interface; some of them are
also written into a real database and audited there, and what is found has to be the same.
"""

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import duckdb
from msgspec import Struct, field

from heptalog.analytics.processes import core_count
from heptalog.cli.auditing import AuditedDatabase, Auditor
from heptalog.service.auditing.findings import Finding
from tests.trials import forgeries, large, tampers
from tests.trials.tampered import audited, audited_file, read, written
from tests.trials.tampers import Tamper
from tests.trials.victims import KEYS, Victim, made

LENGTH: Final = 80
_SHOWN_MAX: Final = 20


class Figures(Struct):
    """How many changes of each kind were tried, and what is wrong with what was found."""

    tried: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, kind: str, fault: str) -> None:
        """One more change."""
        self.tried[kind] += 1
        if fault:
            self.wrong.append(f"{kind}: {fault}")

    def join(self, other: "Figures") -> None:
        """Those of another process."""
        self.tried += other.tried
        self.wrong += other.wrong


def every_tamper(victim: Victim, *, byte_step: int = 1, byte_first: int = 0, step: int = 1) -> Iterator[Tamper]:
    """Every change of a log, or every so many."""
    log = victim.log
    yield from tampers.bytes_of_events(log, step=byte_step, first=byte_first)
    yield from tampers.columns_of_events(log, step=step)
    yield from tampers.rows_of_events(log, step=step)
    yield from tampers.beside_events(log)
    yield from tampers.evidence(log, step=step)
    yield from tampers.refusals(log)


def in_memory(victim: Victim, tampered: Iterator[Tamper]) -> Figures:
    """Audit each of these logs."""
    figures = Figures()
    for tamper in tampered:
        fault = tampers.judged(tamper, audited(tamper.log, keys=KEYS))
        figures.add(tamper.kind, fault and f"{tamper.name}: {fault}")
    return figures


def forged(victim: Victim) -> Figures:
    """Audit each forgery, without a checkpoint from outside and with one."""
    figures = Figures()
    for forgery in forgeries.forgeries(victim.log):
        alone = audited(forgery.log, keys=KEYS)
        fault = forgeries.judged(forgery, alone, audited(forgery.log, keys=KEYS, outside=[victim.outside]))
        figures.add("forgery", fault and f"{forgery.name}: {fault}")
    return figures


def in_files(victim: Victim, tampered: Sequence[Tamper]) -> Figures:
    """Put each of these logs into a database, and see that the same is found there as in memory."""
    figures = Figures()
    for tamper in tampered:
        with TemporaryDirectory(prefix="tamper-") as folder:
            try:
                path = written(tamper.log, victim.log, victim.path, Path(folder))
            except duckdb.Error:
                figures.add("refused by the engine itself", "")
                continue
            here, there = _places(audited(tamper.log, keys=KEYS)), _places(audited_file(path, keys=KEYS))
            figures.add("the same in a file", "" if here == there else f"{tamper.kind} {tamper.name}: {here ^ there}")
    return figures


def _places(findings: Sequence[Finding]) -> set[tuple[Any, ...]]:
    return {
        (item.code, item.position, item.last, item.game_id, item.sequence, item.table, item.column) for item in findings
    }


def _share(path: Path, outside: str, jobs: int, index: int) -> Figures:
    """What one process does of all."""
    victim = Victim(path, read(path), outside)
    # The bytes are by far the most, so they are shared out where they are made.
    tampered = every_tamper(victim, byte_step=jobs, byte_first=index)
    figures = Figures()
    for place, tamper in enumerate(tampered):
        if tamper.kind == "byte of a record" or place % jobs == index:
            fault = tampers.judged(tamper, audited(tamper.log, keys=KEYS))
            figures.add(tamper.kind, fault and f"{tamper.name}: {fault}")
    return figures


def exhaustive(folder: Path, *, jobs: int, length: int, files: int) -> Figures:
    """Every change of a small log."""
    victim = made(folder / "victim.duckdb", length=length, games_each=2)
    figures = Figures()
    figures.add("nothing at all", str(audited(victim.log, keys=KEYS, outside=[victim.outside]) or ""))
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for share in pool.imap_unordered(partial(_share, victim.path, victim.outside, jobs), range(jobs)):
            figures.join(share)
    figures.join(forged(victim))
    some = tampers.shuffled(list(every_tamper(victim, byte_step=97, step=11)), 1, files)
    figures.join(in_files(victim, some))
    return figures


def at_random(folder: Path, *, count: int, events: int, seed: int) -> Figures:
    """Many changes of a large log, found by one audit."""
    path = folder / "large.duckdb"
    began = time.monotonic()
    size = large.filled(path, events, seed)
    print(f"{size:,} events made in {time.monotonic() - began:.0f} s", flush=True)
    figures = Figures()
    figures.add("nothing at all", "; ".join(map(str, islice(_audit_of(path, size), 3))))
    changes = large.changed(path, count, seed)
    faults = list(large.strange(changes, list(_audit_of(path, size))))
    figures.tried.update(f"large: {change.kind}" for change in changes)
    figures.wrong += faults
    return figures


def _audit_of(path: Path, size: int) -> Iterator[Finding]:
    began = time.monotonic()
    with Auditor(AuditedDatabase(path), (), (), state=None) as auditor:
        yield from (finding for finding in auditor.findings(jobs=0) if finding is not None)
    seconds = time.monotonic() - began
    print(f"audited in {seconds:.1f} s, {size / seconds:,.0f} events a second", flush=True)


def main() -> int:
    """Run the trial that is asked for, and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=0, metavar="N", help="so many changes in a large log")
    parser.add_argument("--events", type=int, default=1_000_000, metavar="M", help="how many events it has at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=LENGTH, help="events of each game of the small log at most")
    parser.add_argument("--files", type=int, default=200, help="so many of the changes also in a real database")
    parser.add_argument("--jobs", type=int, default=core_count())
    given = parser.parse_args()
    began = time.monotonic()
    with TemporaryDirectory(prefix="tamper-") as folder:
        if given.random:
            figures = at_random(Path(folder), count=given.random, events=given.events, seed=given.seed)
        else:
            figures = exhaustive(Path(folder), jobs=given.jobs, length=given.length, files=given.files)
    for kind, count in sorted(figures.tried.items()):
        print(f"{count:>9,}  {kind}")
    print(f"{figures.tried.total():>9,}  in all, {len(figures.wrong):,} wrong, {time.monotonic() - began:.0f} s")
    for fault in figures.wrong[:_SHOWN_MAX]:
        print(f"WRONG  {fault}"[:600])
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
