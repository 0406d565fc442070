"""Questions in SQL beside recording, while what answers them is killed, misused and made anew.

    python -m tests.trials.questions [--seconds 60] [--clients 4] [--seed N]

Each client appends to a game of its own and asks at once how many events that has. No answer may be older than the last
receipt, and no append may fail or wait; a question may fail only while something was killed, with a clear error.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Event as Flag
from threading import Thread
from typing import Final

import pyarrow as pa

from heptalog.replay.errors import Code, HeptalogError
from heptalog.replay.events import Event, NoteAdded
from heptalog.service.appends import Append
from heptalog.service.client import Client
from heptalog.service.client.calls import Retries
from heptalog.service.store import NO_GAME
from tests.service.asking import ROCKS
from tests.trials.servers import Serving

PROGRAMS: Final = {"follower": "heptalog.service.tables.following", "workers": "heptalog.analytics.asking.nursery"}
HEAVY: Final = (
    "SELECT count(*) FROM range(10000000) a, range(10000000) b",
    "SELECT list(range) FROM range(1000000000)",
    "SELECT length(repeat('x', 4000000000))",
    "SELECT * FROM turns, turns AS others, turns AS more ORDER BY ALL",
)
_CALL_SECONDS: Final = 60.0
# What a question may say that was asked while its worker or its tables were killed.
_MAY_FAIL: Final = frozenset({Code.QUERY_FAILED, Code.TABLES_BEHIND, Code.OVERLOADED})


class Trial:
    """A trial from its first append to its figures."""

    def __init__(self, database: Path, *, seed: int) -> None:
        self.violations: list[str] = []
        self.disturbances: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.appends: list[float] = []
        self.questions: list[float] = []
        self._database = database
        self._random = Random(f"questions {seed}")
        self._is_over = Flag()

    def run(self, *, seconds: float, clients: int, answers: int = 0) -> None:
        """Play, ask and disturb for so long, and on until there were so many answers."""
        with Serving(self._database, "--queries", str(clients)) as serving:
            serving.listens()
            works = [lambda name=f"game-{number}": self._play(serving.target, name) for number in range(clients)]
            threads = [Thread(target=self._reported, args=(work,), daemon=True) for work in works]
            for thread in threads:
                thread.start()
            until = time.monotonic() + seconds
            at_last = until + _CALL_SECONDS
            while time.monotonic() < (until if len(self.questions) >= answers else at_last) and not self.violations:
                self._disturb(serving)
                time.sleep(self._random.uniform(0.1, 1.0))
            self._is_over.set()
            for thread in threads:
                thread.join(_CALL_SECONDS)
                if thread.is_alive():
                    self.violations.append("a client waits for ever")
            if code := serving.terminate():
                self.violations.append(f"the server ended with {code}")

    @property
    def figures(self) -> dict[str, str]:
        """What came of it."""
        return {
            "questions": f"{len(self.questions)}, of them failed: {_counted(self.failures)}",
            "a question": _spread(self.questions),
            "an append": _spread(self.appends),
            "meanwhile": _counted(self.disturbances),
        }

    def _reported(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001  # whatever it was, it may not be
            self.violations.append(f"{type(error).__name__}: {error}")

    def _play(self, target: str, game_id: str) -> None:
        with Client(target, timeout=_CALL_SECONDS, retries=Retries(attempts=1)) as client:
            events = 1
            client.append(Append(game_id, NO_GAME, (Event(0, ROCKS, event_id="start"),)))
            while not self._is_over.is_set():
                begin = time.perf_counter()
                client.append(Append(game_id, events - 1, (Event(0, NoteAdded(""), event_id=f"n{events}"),)))
                self.appends.append(time.perf_counter() - begin)
                events += 1
                self._ask(client, game_id, events)

    def _ask(self, client: Client, game_id: str, events: int) -> None:
        begin = time.perf_counter()
        try:
            with client.query(f"SELECT events FROM games WHERE game_id = '{game_id}'") as answer:
                found = pa.ipc.open_stream(b"".join(answer)).read_all().to_pylist()
        except HeptalogError as error:
            self.failures[f"{error.code} ({error.facts.get('problem', '')})"] += 1
            if error.code not in _MAY_FAIL or not (self.disturbances["follower"] + self.disturbances["workers"]):
                self.violations.append(f"{game_id}: {error}")
            return
        self.questions.append(time.perf_counter() - begin)
        if found != [{"events": events}]:
            self.violations.append(f"{game_id} has {events} events, and the answer is {found}")

    def _disturb(self, serving: Serving) -> None:
        kind = self._random.choice([*PROGRAMS, "heavy question", "rebuilding", "nothing"])
        self.disturbances[kind] += 1
        with Client(serving.target, timeout=_CALL_SECONDS, retries=Retries(attempts=1)) as client:
            if kind in PROGRAMS:
                for child in _children_of(serving.number, PROGRAMS[kind]):
                    os.kill(child, signal.SIGKILL)
            try:
                if kind == "heavy question":
                    with client.query(self._random.choice(HEAVY), timeout=self._random.uniform(0.1, 2.0)) as answer:
                        for _ in answer:
                            break
                if kind == "rebuilding":
                    for _ in client.rebuild_tables():
                        pass
            except HeptalogError:
                pass  # that is what it is for


def _children_of(number: int, program: str) -> list[int]:
    """The processes of a program that a process has started."""
    numbers = " ".join(path.read_text() for path in Path(f"/proc/{number}/task").glob("*/children")).split()
    return [int(child) for child in numbers if program in Path(f"/proc/{child}/cmdline").read_text()]


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counter.items())) or "none"


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds) or [0.0]
    p50, p99 = (ordered[len(ordered) * part // 100] * 1000 for part in (50, 99))
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, longest {ordered[-1] * 1000:.0f} ms"


def main() -> int:
    """Run the trial that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.trials.questions", description="Questions beside recording.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="heptalog-questions-"))
    trial = Trial(folder / "log.duckdb", seed=asked.seed)
    trial.run(seconds=asked.seconds, clients=asked.clients)
    print(*(f"{name:<12}{value}" for name, value in trial.figures.items()), sep="\n")
    if trial.violations:
        print("", *trial.violations[:20], f"The database is kept: {folder}", sep="\n")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
