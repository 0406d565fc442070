"""When a server is stopped: moments spread over all that it does, most of them found by looking at its files.

A log that is written grows, and its engine's own checkpoint puts what it holds into the database and begins it anew.
Whoever sees one or the other happen kills in the middle of it, or a few milliseconds later, by lot.
"""

import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Final

from tests.trials.servers import Serving
from tests.trials.tables import Playing, Table

WATCH_SECONDS: Final = 20.0


class Moment(StrEnum):
    """What the server does when it is stopped."""

    LOAD = "under load"
    COMMIT = "in a commit"
    CHECKPOINT = "in an engine checkpoint"
    OPENING = "in the opening"
    DRAIN = "SIGTERM"


# Each six rounds have every moment, killing under load twice; which comes when is drawn.
MOMENTS: Final = (*Moment, Moment.LOAD)


def wait_for(moment: Moment, serving: Serving, tables: list[Table], playing: Playing, random: Random) -> None:
    """Return when it is time. `playing` is what the tables do meanwhile."""
    wal = serving.database.with_name(serving.database.name + ".wal")
    _watch(_answers(tables, random.randrange(1, 60)), playing)
    match moment:
        case Moment.COMMIT:
            size = _size(wal)
            _watch(lambda: _size(wal) != size, playing)
            _linger(random, 0.004)
        case Moment.CHECKPOINT:
            _watch(_shrinks(wal), playing)
            _linger(random, 0.03)
        case _:
            _linger(random, 0.6)


def _answers(tables: list[Table], count: int) -> Callable[[], bool]:
    """Whether the tables have had so many answers from now on."""
    answers: list[None] = []
    for table in tables:
        table.answered = lambda: answers.append(None)
    return lambda: len(answers) >= count


def _shrinks(path: Path) -> Callable[[], bool]:
    """Whether the file has become smaller since it was last asked, or another has come beside it."""
    beside = path.with_name(path.name + ".checkpoint")
    sizes = [_size(path)]

    def has_shrunk() -> bool:
        sizes.append(_size(path))
        return sizes.pop(0) > sizes[0] or beside.exists()

    return has_shrunk


def _watch(is_time: Callable[[], bool], playing: Playing) -> None:
    """Look again and again; a table that has stopped is found out by who joins it."""
    until = time.monotonic() + WATCH_SECONDS
    while not is_time() and not playing.is_over and time.monotonic() < until:
        time.sleep(0.0005)


def _linger(random: Random, seconds_max: float) -> None:
    time.sleep(random.uniform(0.0, seconds_max))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
