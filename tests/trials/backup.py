"""Backups of a server under full load, while it and they are killed; each is restored and compared.

    python -m tests.trials.backup [--rounds 20] [--seconds 20] [--clients 8] [--seed N] [--database FILE]

First what backups cost: how long appends take without any, and while one whole backup follows the other. Then rounds:
a backup of what is new begins under load, and the server or the backup is killed at some moment, or nobody. After each
round what the folder holds is restored, and must be the beginning of the log, byte for byte, not shorter than before.
At the end all of the log is backed up once more, restored, and every row of every table is compared.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final

from heptalog.service.backup import manifest
from heptalog.service.backup.restoring import restore
from heptalog.service.backup.taking import take
from heptalog.service.client import Client
from heptalog.service.store.duck import DuckStore
from tests.service.backing import rows_of, source
from tests.trials.ledger import Ledger
from tests.trials.servers import KEY, PROGRAM, PUBLIC_KEY, Serving, signing
from tests.trials.tables import Playing, Table

ROUND_SECONDS: Final = 0.6  # of play before a backup begins
KILL_SECONDS: Final = 1.2  # after it has begun, at most; starting the program takes half of it
VICTIMS: Final = ("server", "backup", "nobody")


class Trial:
    """A trial from its first round to its figures."""

    def __init__(self, database: Path, *, seed: int, clients: int) -> None:
        self.figures: dict[str, str] = {}
        self.violations: list[str] = []
        self.ledger = Ledger()
        self._database = database
        self._folder = database.parent / "backup"
        self._signing = signing(database.parent)
        self._random = Random(f"backup {seed}")
        self._tables = [Table(f"table-{number}", self.ledger, seed=seed) for number in range(clients)]
        self.victims: Counter[str] = Counter()
        self._waiting: list[str] = []
        self._ends: Counter[str] = Counter()
        self._backed_up = 0

    def measure(self, seconds: float) -> None:
        """How long appends take without backups and with them."""
        with Serving(self._database, *self._signing) as serving:
            serving.listens()
            self._play(serving, seconds / 2, backups=False)
            for name, backups in (("without backups", False), ("while backed up", True)):
                times, count = self._play(serving, seconds, backups=backups)
                p50, p99 = (times[len(times) * part // 100] * 1000 for part in (50, 99))
                rate = len(times) / seconds
                self.figures[f"appends {name}"] = f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, {rate:,.0f} a second"
                if backups:
                    self.figures["whole backups meanwhile"] = f"{count}"
            serving.terminate()

    def run_round(self) -> None:
        """A backup under load, and somebody is killed."""
        if not self._waiting:
            self._waiting = self._random.sample(VICTIMS, len(VICTIMS))
        victim = self._waiting.pop()
        with Serving(self._database, *self._signing) as serving:
            serving.listens()
            with Client(serving.target) as client:
                self.ledger.check(client.read())
            playing = Playing(self._tables, serving.target)
            time.sleep(self._random.uniform(0.1, ROUND_SECONDS))
            backup = _backup(serving.target, self._folder)
            if victim != "nobody":
                time.sleep(self._random.uniform(0.1, KILL_SECONDS))
            if victim == "backup":
                backup.kill()
            if victim == "server":
                serving.kill()
            code = backup.wait(120)
            serving.kill()
            playing.join()
        self.victims[victim] += 1
        self._ends["whole" if code == 0 else "cut off" if victim != "nobody" else "failed"] += 1
        if victim == "nobody" and code != 0:
            self.violations.append(f"a backup that nobody disturbed ended with {code}")
        self._compare(is_whole=code == 0)

    def finish(self) -> None:
        """All of the log, backed up anew and into the old folder, restored, and compared row by row."""
        with closing(DuckStore(self._database)) as store:
            self.ledger.check(store.read_all())
            size, bytes_ = store.position(), sum(len(stored.record) for stored in store.read_all())
            started_at = time.perf_counter()
            take(self._database.parent / "anew", source(store), clock=time.time_ns)
            seconds = time.perf_counter() - started_at
            take(self._folder, source(store), clock=time.time_ns)
        self.figures["events in the log"] = f"{size:,}, {bytes_ / 1e6:,.1f} MB of records"
        compressed = sum(path.stat().st_size for path in (self._database.parent / "anew").iterdir())
        self.figures["a whole backup"] = (
            f"{seconds:.1f} s, {bytes_ / 1e6 / seconds:.1f} MB/s, {size / seconds:,.0f} events/s; "
            f"{compressed / 1e6:,.1f} MB on disk"
        )
        rows = rows_of(self._database)
        for name in ("anew", "backup"):
            again = self._database.parent / f"{name}.duckdb"
            started_at = time.perf_counter()
            restore(self._database.parent / name, again, keys=KEY.verifiers, clock=time.time_ns)
            seconds = time.perf_counter() - started_at
            self.figures["restored"] = f"{seconds:.1f} s, {size / seconds:,.0f} events/s"
            if rows_of(again) != rows:
                self.violations.append(f"{again} has other rows than {self._database}")
        self.figures |= {
            "rounds": ", ".join(f"{count} with {name} killed" for name, count in sorted(self.victims.items())),
            "backups in them": ", ".join(f"{count} {name}" for name, count in sorted(self._ends.items())),
        }
        self.violations += self.ledger.violations

    def _play(self, serving: Serving, seconds: float, *, backups: bool) -> tuple[list[float], int]:
        """How long each append took, and how many whole backups were taken meanwhile."""
        for table in self._tables:
            table.seconds.clear()
        playing = Playing(self._tables, serving.target)
        until = time.monotonic() + seconds
        count = 0
        while time.monotonic() < until:
            if backups:
                folder = self._database.parent / f"whole-{count}"
                if _backup(serving.target, folder).wait(600) != 0:
                    self.violations.append(f"{folder}: it failed under load")
                shutil.rmtree(folder)
                count += 1
            else:
                time.sleep(0.05)
        playing.join()
        return sorted(second for table in self._tables for second in table.seconds), count

    def _compare(self, *, is_whole: bool) -> None:
        """What the folder holds must be the beginning of the log."""
        found = manifest.read(self._folder) if self._folder.exists() else None
        size = found[0].size if found else 0
        if size < self._backed_up or (is_whole and size == self._backed_up):
            self.violations.append(f"the backup has {size} events, and had {self._backed_up}")
        self._backed_up = size
        if found is None:
            return
        with tempfile.TemporaryDirectory(dir=self._database.parent) as folder:
            again = Path(folder) / "log.duckdb"
            restored = restore(self._folder, again, keys=KEY.verifiers, clock=time.time_ns)
            with closing(DuckStore(again)) as one, closing(DuckStore(self._database)) as other:
                is_same = list(one.read_all()) == list(other.read_all(limit=size)) if size else not one.position()
                refusals = list(other.refusals())[: restored.refusals]
                if not is_same or list(one.refusals()) != refusals or restored.bad_games:
                    self.violations.append(f"what was restored is not the beginning of the log, {size} events")


def _backup(target: str, folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [PROGRAM, "backup", f"grpc://{target}", folder, "--key", PUBLIC_KEY], stdout=subprocess.DEVNULL
    )


def run(database: Path, *, rounds: int, seconds: float, seed: int, clients: int) -> Trial:
    """A whole trial."""
    trial = Trial(database, seed=seed, clients=clients)
    if seconds:
        trial.measure(seconds)
    for _ in range(rounds):
        trial.run_round()
    trial.finish()
    return trial


def main() -> int:
    """Run the trial that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.trials.backup", description="Backups under load.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", type=Path)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="heptalog-backup-"))
    database: Path = asked.database or folder / "log.duckdb"
    if database.exists():
        parser.error(f"{database} is there already")
    trial = run(database, rounds=asked.rounds, seconds=asked.seconds, seed=asked.seed, clients=asked.clients)
    print(*(f"{name:<26}{value}" for name, value in trial.figures.items()), sep="\n")
    if trial.violations:
        print("", *trial.violations, f"The database is kept: {database}", sep="\n")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
