"""Crashes: a server under load is killed again and again, and must have every event that it acknowledged.

    python -m tests.trials.crash --rounds 200 [--seed N] [--clients 4] [--database FILE]

After each crash the server is started again and its log is held against the ledger of all that was sent: every
acknowledged event is there, once, in order, at its position and with its hash; batches are there whole or not at all;
what the clients send again is recognised. At the end the file itself is held against the same. A violation ends the
trial with exit code 1 and leaves the database for inspection.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from statistics import median
from typing import Final

from heptalog.replay.codec import decode, event_of, parse
from heptalog.replay.verify import verify
from heptalog.service.client import Client
from heptalog.service.store.duck import DuckStore
from tests.cli.running import run_program
from tests.trials.ledger import Ledger
from tests.trials.moments import MOMENTS, Moment, wait_for
from tests.trials.servers import Serving, signing
from tests.trials.tables import Playing, Table

LOADED_EVERY: Final = 3  # rounds, with three times as many tables
WHOLE_EVERY: Final = 10  # rounds, of which all of the log is read; otherwise its newest part
OVERLAP: Final = 2_000
# The engine's own checkpoints come this often where kills are to meet them.
SMALL_THRESHOLD: Final = "300KB"
OPENING_SECONDS: Final = 0.6


class Trial:
    """A trial from its first round to its figures."""

    def __init__(self, database: Path, *, seed: int, clients: int, arguments: tuple[str, ...] = ()) -> None:
        self.ledger = Ledger()
        self.moments: Counter[Moment] = Counter()
        self.kills_in_opening = 0
        self.restarts: list[float] = []
        self.rounds = 0
        self._database = database
        self._random = Random(f"crash {seed}")
        self._tables = [Table(f"table-{number}", self.ledger, seed=seed) for number in range(3 * clients)]
        for table in self._tables[1::2]:
            table.is_streamed = True
        self._clients = clients
        self._waiting: list[Moment] = []
        self._arguments = (*signing(database.parent), *arguments)

    def run_round(self) -> None:
        """Start a server, look at its log, play on it, and stop it at some moment."""
        self.rounds += 1
        is_loaded = self.rounds % LOADED_EVERY == 0
        if not self._waiting:
            self._waiting = self._random.sample(MOMENTS, len(MOMENTS))
        moment = self._waiting.pop()
        self.moments[moment] += 1
        if moment is Moment.OPENING:
            self._kill_in_opening()
        with self._serve(threshold=SMALL_THRESHOLD if moment is Moment.CHECKPOINT else "") as serving:
            self.restarts.append(serving.listens())
            self._check_served(serving.target)
            tables = self._tables if is_loaded else self._tables[: self._clients]
            playing = Playing(tables, serving.target)
            wait_for(moment, serving, tables, playing, self._random)
            if moment is Moment.DRAIN:
                if (code := serving.terminate()) != 0:
                    self.ledger.wrong("contradicted", f"round {self.rounds}: SIGTERM ended with {code}")
                playing.join()
                self._check_drained()
            else:
                serving.kill()
                playing.join()

    def finish(self) -> None:
        """Hold what the file has against the ledger, without a server."""
        with closing(DuckStore(self._database)) as store:
            self.ledger.check(store.read_all())
            self.ledger.check_refusals(event_of(parse(refusal.content)).event_id for refusal in store.refusals())
            self.ledger.check_checkpoints(store.checkpoints())
            heads = dict(store.heads())
        for game_id, game in self.ledger.games.items():
            head = heads.pop(game_id, None)
            if (head.sequence if head else -1) != len(game.found) - 1:
                self.ledger.wrong("lost", f"{game_id}: its head is {head}")
        if heads:
            self.ledger.wrong("foreign", f"{len(heads)} games that nobody has opened")
        ended = run_program("verify", self._database, "--quiet")
        if ended.code != 0:
            self.ledger.wrong("partial", f"verify ended with {ended.code}: {ended.out[:500]}")
        self.ledger.count_unacknowledged()

    def _serve(self, *, threshold: str = "") -> Serving:
        return Serving(self._database, *self._arguments, threshold=threshold)

    def _kill_in_opening(self) -> None:
        for _ in range(self._random.randrange(1, 4)):
            with self._serve() as serving:
                time.sleep(self._random.uniform(0.1, 1.0) * OPENING_SECONDS)
                serving.kill()
            self.kills_in_opening += 1

    def _check_served(self, target: str) -> None:
        """What the restarted server says must be what is known."""
        with Client(target) as client:
            is_whole = self.rounds % WHOLE_EVERY == 0
            start = 1 if is_whole else max(1, self.ledger.found_count - OVERLAP)
            found_before = self.ledger.found_count
            self.ledger.check(client.read(start=start), start=start)
            self.ledger.count_unacknowledged()
            self.ledger.check_checkpoints(client.checkpoints())
            for game_id in sorted(self.ledger.found_after(found_before)):
                report = verify(decode(stored.record) for stored in client.read(game_id))
                if not report.ok:
                    self.ledger.wrong("partial", f"{game_id} {report.sequence}: {report.error}")
                head = client.game(game_id).head
                if (head.position, head.hash) != self.ledger.head(game_id):
                    self.ledger.wrong("contradicted", f"{game_id}: the server has another head than its log")

    def _check_drained(self) -> None:
        """Who is asked to stop answers all that it records."""
        with closing(DuckStore(self._database)) as store:
            start = max(1, self.ledger.found_count - OVERLAP)
            self.ledger.check(store.read_all(start=start), start=start)
        if count := self.ledger.count_unacknowledged():
            self.ledger.wrong("contradicted", f"round {self.rounds}: {count} events recorded and not answered")


def figures_of(trial: Trial) -> list[tuple[str, str]]:
    """The table at the end."""
    counts = trial.ledger.figures
    restarts = sorted(trial.restarts)
    return [
        ("rounds", f"{trial.rounds}"),
        *((f"  {moment}", f"{trial.moments[moment]}") for moment in Moment),
        ("  kills in an opening", f"{trial.kills_in_opening}"),
        ("events in the log", f"{trial.ledger.found_count:,}"),
        ("events acknowledged", f"{counts.acknowledged:,} in {counts.batches:,} appends"),
        ("  recognised when sent again", f"{counts.deduplicated:,} appends"),
        ("refusals acknowledged", f"{counts.refused:,}"),
        ("signed checkpoints", f"{counts.checkpoints:,}"),
        ("present without a receipt", f"{counts.unacknowledged_present:,}"),
        ("lost", f"{counts.lost:,}"),
        ("duplicated", f"{counts.duplicated:,}"),
        ("partial", f"{counts.partial:,}"),
        ("contradicted", f"{counts.contradicted:,}"),
        ("foreign", f"{counts.foreign:,}"),
        ("restart, seconds", f"p50 {median(restarts):.2f}, max {restarts[-1]:.2f}"),
    ]


def run(database: Path, *, rounds: int, seed: int, clients: int, arguments: tuple[str, ...] = ()) -> Trial:
    """A whole trial of a server with these arguments; it ends early where something is wrong."""
    sys.setswitchinterval(0.0005)  # who watches for the moment must not wait for who plays
    trial = Trial(database, seed=seed, clients=clients, arguments=arguments)
    while trial.rounds < rounds and not trial.ledger.violations:
        trial.run_round()
        if sys.stderr.isatty():
            print(f"\r{trial.rounds} rounds, {trial.ledger.found_count:,} events ", end="", file=sys.stderr, flush=True)
    trial.finish()
    return trial


def main() -> int:
    """Run the trial that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.trials.crash", description="Crashes of a server under load.")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--database", type=Path)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="heptalog-crash-"))
    database: Path = asked.database or folder / "log.duckdb"
    if database.exists():
        parser.error(f"{database} is there already")
    trial = run(database, rounds=asked.rounds, seed=asked.seed, clients=asked.clients)
    print(*(f"{name:<30}{value}" for name, value in figures_of(trial)), sep="\n")
    if trial.ledger.violations:
        print("", *trial.ledger.violations, f"The database is kept: {database}", sep="\n")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
