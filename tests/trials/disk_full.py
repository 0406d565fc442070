"""A disk that becomes full under a running server.

    python -m tests.trials.disk_full [--megabytes 64] [--seed N]

On a small disk of its own, filled by tables that play, twice: with the reserve appends are refused in time, everything
else goes on, and so do appends once there is room. Without it the disk is really full; whatever was acknowledged is
there, and with room again a restart is enough.
"""

import argparse
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import grpc
from google.rpc import error_details_pb2

from heptalog.replay.errors import Code
from heptalog.replay.events import Event, GameStarted, Tag
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.service.appends import Append
from heptalog.service.client import Client
from heptalog.service.store import NO_GAME
from heptalog.service.store.duck import DuckStore
from heptalog.service.wire import appended_of
from heptalog.v1 import log_pb2_grpc
from tests.cli.running import run_program
from tests.service.asking import append_message, failure_of
from tests.support.play import players
from tests.trials.disks import Ballast, small_disk, why_not
from tests.trials.ledger import Ledger
from tests.trials.servers import Serving
from tests.trials.tables import CALL_SECONDS, Playing, Table

FULL_SECONDS: Final = 600.0
FILLINGS_MAX: Final = 10
EVENTS_AFTER: Final = 200  # that must come in once there is room


class Filled(NamedTuple):
    """What came of one filling of the disk."""

    kind: str
    events: int  # acknowledged before it was full
    events_in_all: int
    reason: str  # what the server said
    goes_on: bool  # without a restart, once there was room
    violations: list[str]


class Trial:
    """Tables that fill one disk through one server."""

    def __init__(self, disk: Path, *, seed: int, arguments: tuple[str, ...]) -> None:
        self.database = disk / "log.duckdb"
        self.ledger = Ledger()
        self._arguments = arguments
        self._tables = [
            Table(f"table-{number}", self.ledger, seed=seed, batch_max=400, single_chance=0.2) for number in range(4)
        ]

    def serve(self) -> Serving:
        """A server over the database, which need not listen yet."""
        return Serving(self.database, *self._arguments)

    def fill(self, target: str) -> str:
        """Play until nothing more is taken, not even a single event; what the server says then."""
        reasons: set[str] = set()
        for single_chance in (0.2, 1.0):
            for table in self._tables:
                table.single_chance = single_chance
            reasons = self._fill(target)
        return " ".join(sorted(reasons))

    def _fill(self, target: str) -> set[str]:
        playing = Playing(self._tables, target)
        until = time.monotonic() + FULL_SECONDS
        while not playing.is_over:
            assert time.monotonic() < until, "the disk does not become full"
            time.sleep(0.01)
        playing.join()
        return {table.refused_by.code for table in self._tables if table.refused_by}

    def goes_on(self, target: str) -> bool:
        """Whether the tables can play on."""
        before = self.ledger.figures.acknowledged
        for table in self._tables:
            table.refused_by = None
        playing = Playing(self._tables, target)
        until = time.monotonic() + CALL_SECONDS
        while not playing.is_over and self.ledger.figures.acknowledged < before + EVENTS_AFTER:
            if time.monotonic() > until:
                break
            time.sleep(0.01)
        playing.join()
        return self.ledger.figures.acknowledged >= before + EVENTS_AFTER

    def check_served(self, target: str) -> None:
        """Everything but appending must work as ever."""
        with Client(target) as client:
            self.ledger.check(client.read())
            for game_id, game in self.ledger.games.items():
                if game.found:
                    client.state(game_id)
                    client.standing(game_id)
        ended = run_program("verify", f"grpc://{target}", "--quiet")
        if ended.code != 0:
            self.ledger.wrong("partial", f"verify of the server ended with {ended.code}: {ended.out[:300]}")
        name = next(game_id for game_id, game in self.ledger.games.items() if game.found)
        ended = run_program("export", f"grpc://{target}#{name}")
        if ended.code != 0 or len(ended.lines) != len(self.ledger.games[name].found):
            self.ledger.wrong("partial", f"export ended with {ended.code}: {ended.err[:300]}")

    def check_file(self) -> None:
        """What the database holds when no server has it."""
        with closing(DuckStore(self.database)) as store:
            self.ledger.check(store.read_all())
        ended = run_program("verify", self.database, "--quiet")
        if ended.code != 0:
            self.ledger.wrong("partial", f"verify ended with {ended.code}: {ended.out[:300]}")

    def filled(self, kind: str, *, events: int, reason: str, goes_on: bool) -> Filled:
        """What came of it."""
        return Filled(kind, events, self.ledger.found_count, reason, goes_on, self.ledger.violations)


def without_reserve(disk: Path, *, seed: int, ballast_megabytes: int) -> Filled:
    """The disk is really full, twice; with room again a restart is enough."""
    trial = Trial(disk, seed=seed, arguments=("--reserve", "0"))
    # The engine writes all that is in its log into the database: the last room must be enough for that.
    ballast, last_ballast = (Ballast(disk, megabytes=ballast_megabytes * times) for times in (1, 2))
    with trial.serve() as serving:
        serving.listens()
        reason = trial.fill(serving.target)
        events = trial.ledger.figures.acknowledged
        ballast.throw_off()
        goes_on = trial.goes_on(serving.target)
        trial.fill(serving.target)
        serving.terminate()
    last_ballast.throw_off()
    with trial.serve() as serving:
        serving.listens()
        trial.check_served(serving.target)
        if not trial.goes_on(serving.target):
            trial.ledger.wrong("contradicted", "after a restart it does not go on")
        if serving.terminate() != 0:
            trial.ledger.wrong("contradicted", "SIGTERM after a restart did not end well")
    trial.check_file()
    return trial.filled("without reserve", events=events, reason=reason, goes_on=goes_on)


def with_reserve(disk: Path, *, seed: int, ballast_megabytes: int, reserve: str) -> Filled:
    """Appends are refused before the disk is full, reads go on, and appends too once there is room."""
    trial = Trial(disk, seed=seed, arguments=("--reserve", reserve))
    ballast = Ballast(disk, megabytes=ballast_megabytes)
    with trial.serve() as serving:
        serving.listens()
        reason, events = "", 0
        for number in range(FILLINGS_MAX):
            reason = trial.fill(serving.target)
            events = trial.ledger.figures.acknowledged
            # Where the engine has tidied up since, there is room again, and it is filled again.
            if is_refused(trial, serving.target, number):
                break
        else:
            trial.ledger.wrong("contradicted", "appends are taken again and again")
        if reason != Code.DISK_RESERVE:
            trial.ledger.wrong("contradicted", f"the reserve was answered with {reason}")
        trial.check_served(serving.target)
        ballast.throw_off()
        goes_on = trial.goes_on(serving.target)
        if not goes_on:
            trial.ledger.wrong("contradicted", "with room again it does not go on by itself")
        if serving.terminate() != 0:
            trial.ledger.wrong("contradicted", "SIGTERM did not end well")
    trial.check_file()
    return trial.filled("with reserve", events=events, reason=reason, goes_on=goes_on)


def is_refused(trial: Trial, target: str, number: int) -> bool:
    """Whether an append is refused now; then the answer, as gRPC has it, must invite a retry by who asks."""
    started = GameStarted(players(4), SevenRocks(), tags=(Tag("long", "No room. " * 500),))
    append = Append(f"probe-{number}", NO_GAME, (Event(0, started, event_id="probe"),))
    trial.ledger.sends(append)
    with grpc.insecure_channel(target) as channel:
        try:
            answer = log_pb2_grpc.LogServiceStub(channel).AppendEvents(append_message(append), timeout=CALL_SECONDS)
        except grpc.RpcError as error:
            failure = failure_of(error)
            is_right = failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED and failure.reason == Code.DISK_RESERVE
            if not is_right or not any(isinstance(detail, error_details_pb2.RetryInfo) for detail in failure.others):
                trial.ledger.wrong("contradicted", f"an append was answered with {failure}")
            return True
    trial.ledger.acknowledges(append, appended_of(append.game_id, answer))
    return False


def main() -> int:
    """Run both trials, each on a disk of its own."""
    parser = argparse.ArgumentParser(prog="python -m tests.trials.disk_full", description="A disk that becomes full.")
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    ballast = asked.megabytes // 4
    with tempfile.TemporaryDirectory(prefix="heptalog-disk-") as folder:
        if reason := why_not(Path(folder)):
            print(reason, file=sys.stderr)
            return 2
        with small_disk(Path(folder) / "reserved", megabytes=asked.megabytes) as disk:
            results = [with_reserve(disk, seed=asked.seed, ballast_megabytes=ballast, reserve=f"{ballast // 2}MiB")]
        with small_disk(Path(folder) / "full", megabytes=asked.megabytes) as disk:
            results.append(without_reserve(disk, seed=asked.seed, ballast_megabytes=ballast))
    for filled in results:
        then = "goes on by itself" if filled.goes_on else "needs a restart"
        print(
            f"{filled.kind:<16}{filled.events:,} events acknowledged, then {filled.reason}; with room again it {then}; "
            f"{filled.events_in_all:,} events in the end"
        )
        print(*filled.violations, sep="\n", end="\n" if filled.violations else "")
    return 1 if any(filled.violations for filled in results) else 0


if __name__ == "__main__":
    sys.exit(main())
