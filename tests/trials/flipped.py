"""Bits that flip on the disk under tables that are kept: what a question makes of each, and whether a round finds it.

    python -m tests.trials.flipped --flips 2000 --seed 1

Each flip is made alone, in any byte of any file. All rows of all tables are asked for, as questions are answered; then
one round reads the files again. Now and then the tables are really made anew and held against what they were.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

import duckdb

from heptalog.analytics.keeping.place import MANIFEST
from heptalog.replay.registry import GAMES
from heptalog.service.store import Entry
from heptalog.service.store.memory import MemoryStore
from tests.analytics.kept import LOG, following, log_of, refused, rows_of
from tests.support.recording import batches_of, recorded_game

_STEP_SIZE: Final = 64 * 1024
_ANEW_EVERY: Final = 50
_LOCK: Final = "lock"


class Trial:
    """Tables of a few games of each kind, in a folder."""

    def __init__(self, folder: Path, *, seed: int) -> None:
        self._folder = folder
        self._random = Random(f"flipped {seed}")
        self._log = _log()
        self._open()
        self._right = rows_of(self._snapshot)
        self.answers = Counter[str]()
        self.steps_max = 0
        self.made_anew = 0
        self.violations: list[str] = []

    @property
    def figures(self) -> dict[str, object]:
        """What it came to."""
        told = ", ".join(f"{name} {count}" for name, count in sorted(self.answers.items()))
        return {
            "flips": sum(self.answers.values()),
            "answers": told,
            "steps of a round": self.steps_max,
            "made anew": self.made_anew,
            "not found": len(self.violations),
        }

    def run(self, flips: int) -> None:
        """Flip so many bits, one after the other."""
        for number in range(1, flips + 1):
            path, place = self._byte()
            bit = 1 << self._random.randrange(8)
            whole, manifest = path.read_bytes(), self._manifest.read_bytes()
            path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            self.answers[self._asked()] += 1
            if not self._is_found(path.name):
                self.violations.append(f"bit {bit} of byte {place} of {path.relative_to(self._folder)}")
            self._follower.close()
            if number % _ANEW_EVERY:
                # As if nothing had been found.
                path.write_bytes(whole)
                self._manifest.write_bytes(manifest)
            self._open()
            if not number % _ANEW_EVERY:
                self.made_anew += 1
                if rows_of(self._snapshot) != self._right:
                    self.violations.append("what was made anew is not what was there")
        self._follower.close()

    @property
    def _manifest(self) -> Path:
        return Path(self._snapshot.folders[0]) / MANIFEST

    def _open(self) -> None:
        """Go on with what is there, or anew, and put all in order."""
        self._follower = following(self._folder, self._log)
        self._follower.release(self._follower.snapshot())
        while self._follower.rest():
            pass
        self._snapshot = self._follower.snapshot()

    def _byte(self) -> tuple[Path, int]:
        """Any byte of any file, each with the same chance."""
        files = sorted(path for path in self._folder.rglob("*") if path.is_file() and path.name != _LOCK)
        sizes = [path.stat().st_size for path in files]
        (path,) = self._random.choices(files, sizes)
        return path, self._random.randrange(path.stat().st_size)

    def _asked(self) -> str:
        """What a question about everything makes of it."""
        try:
            return "right" if rows_of(self._snapshot) == self._right else "wrong"
        except duckdb.Error:
            return "failed"
        except UnicodeDecodeError:
            return "wrong"

    def _is_found(self, name: str) -> bool:
        for step in range(1, 10_000):
            progress = self._follower.scrub(_STEP_SIZE)
            self.steps_max = max(self.steps_max, step)
            if progress.damaged or progress.is_over:
                return progress.damaged == name
        return False


def _log() -> MemoryStore:
    log = log_of(*LOG, *_games())
    log.append([], [refused(batches_of(LOG[0], 20)[0])])
    return log


def _games() -> Iterator[list[Entry]]:
    for rules in GAMES:
        for seed in (4, 5):
            yield recorded_game(rules, seed, event_count_max=400)


def main() -> int:
    """Run the trial that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.trials.flipped", description="Bits that flip on the disk.")
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heptalog-flipped-") as folder:
        trial = Trial(Path(folder) / "tables", seed=asked.seed)
        trial.run(asked.flips)
    print(*(f"{name:<18}{value}" for name, value in trial.figures.items()), sep="\n")
    print(*trial.violations[:20], sep="\n")
    return bool(trial.violations)


if __name__ == "__main__":
    sys.exit(main())
