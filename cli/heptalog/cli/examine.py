"""Examining games: one verdict a game, few games in this process and many in parallel, never all in memory.

Results come in the order of the games. What is on its way is bounded: a few chunks of games for each process.
"""

import atexit
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import Final, NamedTuple, TypeAlias

from heptalog.cli.connections import Connections, shown
from heptalog.cli.databases import DatabaseGame, reading
from heptalog.cli.exits import WrongUse
from heptalog.cli.files import Missing
from heptalog.cli.sources import Game
from heptalog.cli.verdicts import Found, Verdict
from heptalog.replay.errors import KINDS, Code, HeptalogError, NotFound, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold, Outcomes
from heptalog.replay.sentences import sentence
from heptalog.replay.verify import Examiner, verify

Chunk: TypeAlias = list[Game | Missing]

# Below this a second process would only be waited for: about half a second of work.
SMALL_SIZE: Final = 8_000_000
SMALL_COUNT: Final = 2_000
_CHUNK_SIZE: Final = 500_000
_CHUNK_COUNT: Final = 64
_CHUNKS_PER_PROCESS: Final = 4


def examined(games: Iterable[Game | Missing], connections: Connections, *, jobs: int = 0) -> Iterator[Verdict]:
    """A verdict on each game, in order. `jobs` is how many processes may work; 0 is one a core."""
    jobs = jobs or core_count()
    remaining = iter(games)
    first = _taken(remaining, size=SMALL_SIZE, count=SMALL_COUNT)
    following = next(remaining, None)
    every = chain(first, [] if following is None else [following], remaining)
    if jobs == 1 or len(first) == 1 or (following is None and sum(map(_size_of, first)) < SMALL_SIZE):
        return _told_once(_here(every, connections))
    return _told_once(_in_parallel(every, jobs))


def _told_once(verdicts: Iterator[Verdict]) -> Iterator[Verdict]:
    """Leave out what cannot be read and was told of already, however many games are in it."""
    told: set[str] = set()
    for verdict in verdicts:
        if verdict.code in KINDS[Unavailable]:
            if verdict.source in told:
                continue
            told.add(verdict.source)
        yield verdict


def _here(games: Iterator[Game | Missing], connections: Connections) -> Iterator[Verdict]:
    while chunk := _taken(games, size=_CHUNK_SIZE, count=_CHUNK_COUNT):
        _read_ahead(chunk, connections)
        yield from (verdict_on(game, connections) for game in chunk)


def _read_ahead(chunk: Chunk, connections: Connections) -> None:
    """Read the games of a database together, which is many times faster than one by one."""
    games: dict[Path, list[str]] = {}
    for game in chunk:
        if isinstance(game, DatabaseGame):
            games.setdefault(game.path, []).append(game.game_id)
    for path, game_ids in games.items():
        # Where it fails, each game is read by itself, and the bad one tells what is wrong with it.
        if len(game_ids) > 1:
            with suppress(HeptalogError), reading(path):
                connections.read_ahead(path, game_ids)


def verdict_on(game: Game | Missing, connections: Connections) -> Verdict:
    """Examine one game: form, chain, seals, the rules at every event, and what is kept beside them."""
    if isinstance(game, Missing):
        return bad(game, 0, game.error)
    examiner = Examiner()
    report = verify(game.entries(connections), examiner)
    if report.error is not None:
        return bad(game, report.events, report.error, report.sequence)
    assert examiner.fold is not None, "a good game has a beginning"
    try:
        game.check_derived(examiner.fold, connections)
    except HeptalogError as error:
        return bad(game, report.events, error, placed(error))
    return Verdict(game.name, ok=True, events=report.events)


def bad(game: Game | Missing, events: int, error: HeptalogError, sequence: int = -1) -> Verdict:
    """The verdict on a game that is bad, or could not be read."""
    if isinstance(game, DatabaseGame) and isinstance(error, Unavailable):
        # Nothing is known of the game: it is its database that cannot be read.
        game = Missing(shown(game.path), error)
    is_placed = sequence >= 0 and not isinstance(error, Unavailable | NotFound)
    message = sentence(error)
    if is_placed and not isinstance(game, Missing) and game.has_lines:
        message = f"line {_line_of(error, sequence)}: {message}"
    return Verdict(
        game.name,
        ok=False,
        events=events,
        sequence=sequence if is_placed else None,
        rule=error.rule or None,
        code=error.code,
        message=message,
    )


def _line_of(error: HeptalogError, sequence: int) -> object:
    """The line of a fault: it knows it itself, or all lines before it are events in order."""
    expected = error.facts.get("expected") if error.code is Code.SEQUENCE_GAP else None
    return error.facts.get("line", (expected if isinstance(expected, int) else sequence) + 1)


class Step(NamedTuple):
    """One event of a game that is good so far: what followed from it, and the fold as it stands then."""

    event: Event
    outcomes: Outcomes
    fold: Fold


def steps(game: Game, connections: Connections) -> Iterator[Step]:
    """A game event by event, examined on the way. Raises Found where it is bad; what came before it was good."""
    examiner = Examiner()
    event: Event | None = None
    try:
        for event, public in game.entries(connections):
            outcomes = examiner.advance(event, public)
            if examiner.redacted is not None:
                raise examiner.redacted
            assert examiner.fold is not None, "the first event was accepted"
            yield Step(event, outcomes, examiner.fold)
    except HeptalogError as error:
        sequence = placed(error, event.sequence if event else 0)
        raise Found(bad(game, examiner.accepted, error, sequence)) from error


def step_at(game: Game, connections: Connections, sequence: int | None) -> Step:
    """A game as it stands after an event, by default the last. Raises Found, or WrongUse where there is no such one."""
    step: Step | None = None
    for step in steps(game, connections):
        if step.event.sequence == sequence:
            return step
    # A game without any event is Found.
    assert step is not None, "a good game has a beginning"
    if sequence is not None:
        raise WrongUse(f"{game.name} has no event {sequence}: its last is {step.event.sequence}")
    return step


def placed(error: HeptalogError, otherwise: int = -1) -> int:
    """The sequence that a failure carries itself, or another."""
    own = error.facts.get("sequence")
    return own if isinstance(own, int) else otherwise


def loaded(game: Game, connections: Connections) -> tuple[list[Event], Verdict]:
    """All events of a game that can be read, also where it is bad, and the verdict on it."""
    events: list[Event] = []

    def kept() -> Iterator[tuple[Event, bytes | None]]:
        for entry in game.entries(connections):
            events.append(entry[0])
            yield entry

    entries = kept()
    examiner = Examiner()
    report = verify(entries, examiner)
    if report.error is None:
        return events, Verdict(game.name, ok=True, events=report.events)
    verdict = bad(game, report.events, report.error, report.sequence)
    with suppress(HeptalogError):
        # What comes after is read for its own sake; only the first fault is told.
        deque(entries, maxlen=0)
    return events, verdict


def core_count() -> int:
    """How many processes can work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_parallel(games: Iterator[Game | Missing], jobs: int) -> Iterator[Verdict]:
    # A fresh interpreter each: a forked one would share connections and half-held locks.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)
    waiting: deque[Future[list[Verdict]]] = deque()
    try:
        while chunk := _taken(games, size=_CHUNK_SIZE, count=_CHUNK_COUNT):
            waiting.append(pool.submit(_verdicts_on, chunk))
            if len(waiting) >= jobs * _CHUNKS_PER_PROCESS:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, problem="a process that examined games was killed") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _taken(games: Iterator[Game | Missing], *, size: int, count: int) -> Chunk:
    """The next games, at least one where there is one, up to about this much work."""
    taken: Chunk = []
    for game in games:
        taken.append(game)
        size -= _size_of(game)
        if size <= 0 or len(taken) == count:
            break
    return taken


def _size_of(game: Game | Missing) -> int:
    return 0 if isinstance(game, Missing) else game.size


# In the other processes.


def _begin() -> None:
    # Ctrl-C goes to all of them, and only the first tells of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only in a process that was started for this"
    parent.join()
    os._exit(0)


def _verdicts_on(chunk: Chunk) -> list[Verdict]:
    connections = _own_connections()
    _read_ahead(chunk, connections)
    return [verdict_on(game, connections) for game in chunk]


@cache
def _own_connections() -> Connections:
    """What this process has opened: once, for all of its chunks."""
    connections = Connections()
    atexit.register(connections.close)
    return connections
