"""Simulating into a log: all cores play, one writer records in the order of the games, and what is there stays."""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from msgspec import Struct

from heptalog.analytics.processes import in_order
from heptalog.cli.output import Counter
from heptalog.cli.simulating.plans import Plan
from heptalog.cli.simulating.recording import Simulated, game_id_of, simulated

# Games that one process plays at a time: enough to be worth sending, few enough to hold and to lose.
_CHUNK: Final = 40
# Games are many small objects without cycles, among which the collector would look for some again and again: a tenth of
# all the time. It still looks, after so many more of them.
_LOOKED_THROUGH_AFTER: Final = 500_000
# So many games are looked at again where an earlier run seems to have ended: those it left running, and those that
# were on their way together when it was interrupted.
_LOOKED_AT_AGAIN: Final = 400
_LEFT_ONE_IN: Final = 100
_LEFT_MAX: Final = 24


class Counts(Struct, frozen=True):
    """What became of some games: events that are new, events that were there, refusals that were kept."""

    games_added: int = 0
    events_added: int = 0
    events_known: int = 0
    refusals: int = 0

    @property
    def events(self) -> int:
        """All of them, new and known."""
        return self.events_added + self.events_known

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.games_added + other.games_added,
            self.events_added + other.events_added,
            self.events_known + other.events_known,
            self.refusals + other.refusals,
        )


class Destination(Protocol):
    """A log that games go to."""

    def has(self, game_id: str) -> bool:
        """Whether this game is there, whole or not."""
        ...

    def record(self, games: Sequence[Simulated], *, are_new: bool) -> Counts:
        """Add what is missing of these games, which is all of them where they `are_new`.

        Raises Conflict where the log has others under their names.
        """
        ...

    def finish(self) -> Counts:
        """Wait for what is on its way."""
        ...


class Task(Struct, frozen=True):
    """Some games for one process; those from `left_from` on are left running."""

    plan: Plan
    numbers: range
    left_from: int


class Result(Struct, frozen=True, rename="camel"):
    """What a run came to. `games_skipped` were there already and were not looked at again."""

    games: int
    games_added: int
    games_skipped: int
    events_added: int
    events_known: int
    refusals: int
    left_running: int


def run(
    plan: Plan,
    games: int,
    destination: Destination,
    *,
    processes: int,
    counter: Counter,
    clock: Callable[[], float] = time.monotonic,
) -> Result:
    """Bring the first so many games of a plan into a log. It may be interrupted, and goes on when it is run again.

    With one process they are played in this one, otherwise in so many others.
    """
    left = min(_LEFT_MAX, games // _LEFT_ONE_IN)
    missing = _first_missing(plan, games, destination)
    first = max(0, missing - _LOOKED_AT_AGAIN)
    counter.add(first)
    counts = Counts()
    begun = clock()
    tasks = _tasks(plan, first, games, left)
    with _collecting_seldom():
        for played in map(_played, tasks) if processes == 1 else _in_processes(tasks, processes):
            counts += destination.record(played, are_new=played[0].number >= missing + _LOOKED_AT_AGAIN)
            counter.add(len(played))
            counter.name(f"games simulated, {counts.events / max(clock() - begun, 1):,.0f} events/s,")
        counts += destination.finish()
    return Result(games, counts.games_added, first, counts.events_added, counts.events_known, counts.refusals, left)


def _first_missing(plan: Plan, games: int, destination: Destination) -> int:
    """About where an earlier run has ended: games come in their order, but for the few on their way together."""
    low, high = 0, games
    while low < high:
        middle = (low + high) // 2
        if destination.has(game_id_of(plan, middle)):
            low = middle + 1
        else:
            high = middle
    return low


def _tasks(plan: Plan, first: int, games: int, left: int) -> Iterator[Task]:
    for number in range(first, games, _CHUNK):
        yield Task(plan, range(number, min(number + _CHUNK, games)), games - left)


def _played(task: Task) -> list[Simulated]:
    return [simulated(task.plan, number, is_left_running=number >= task.left_from) for number in task.numbers]


def _in_processes(tasks: Iterator[Task], processes: int) -> Iterator[list[Simulated]]:
    return in_order(_played_elsewhere, tasks, jobs=processes, work="played games")


def _played_elsewhere(task: Task) -> list[Simulated]:
    """The same in a process that does nothing else."""
    gc.set_threshold(_LOOKED_THROUGH_AFTER)
    return _played(task)


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(_LOOKED_THROUGH_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
