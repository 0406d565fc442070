"""Examining games: one verdict a game, few games in this process and many in parallel, never all in memory.

Results come in the order of the games. What is on its way is bounded: a few chunks of games for each process.
"""

import atexit
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from heptalog.cli.bundles import BundleGame
from heptalog.cli.connections import Connections, shown
from heptalog.cli.databases import DatabaseGame, reading
from heptalog.cli.exits import WrongUse
from heptalog.cli.files import FileGame, Missing
from heptalog.cli.processes import core_count, in_order
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
    if isinstance(game, BundleGame):
        return _verdict_on_bundle(game)
    examiner = Examiner()
    entries = game.examined(connections) if isinstance(game, DatabaseGame) else game.entries(connections)
    report = verify(entries, examiner)
    if report.error is not None:
        return bad(game, report.events, report.error, report.sequence)
    assert examiner.fold is not None, "a good game has a beginning"
    try:
        game.check_derived(examiner.fold, connections)
    except HeptalogError as error:
        return bad(game, report.events, error, placed(error))
    return Verdict(game.name, ok=True, events=report.events)


def _verdict_on_bundle(game: BundleGame) -> Verdict:
    try:
        look = game.looked_at()
    except HeptalogError as error:
        return bad(game, 0, error, placed(error))
    report = look.examined.report
    if report.error is not None:
        return bad(game, report.events, report.error, report.sequence)
    return Verdict(game.name, ok=True, events=look.examined.bundle.events, proof=look.proved)


def bad(game: Game | Missing, events: int, error: HeptalogError, sequence: int = -1) -> Verdict:
    """The verdict on a game that is bad, or could not be read."""
    is_newer = error.code is Code.RECORD_NEWER
    if isinstance(game, DatabaseGame) and isinstance(error, Unavailable) and not is_newer:
        # Nothing is known of the game: it is its database that cannot be read.
        game = Missing(shown(game.path), error)
    is_placed = sequence >= 0 and (is_newer or not isinstance(error, Unavailable | NotFound))
    message = sentence(error)
    if is_placed and not isinstance(game, Missing) and game.has_lines:
        message = f"line {_line_of(error, sequence, game)}: {message}"
    return Verdict(
        game.name,
        ok=False,
        events=events,
        sequence=sequence if is_placed else None,
        rule=error.rule or None,
        code=error.code,
        message=message,
    )


def _line_of(error: HeptalogError, sequence: int, game: Game) -> object:
    """The line of a fault: it knows it itself, or all lines before it are events in order."""
    expected = error.facts.get("expected") if error.code is Code.SEQUENCE_GAP else None
    before = game.lines_before if isinstance(game, FileGame) else 0
    return error.facts.get("line", before + (expected if isinstance(expected, int) else sequence) + 1)


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


def _in_parallel(games: Iterator[Game | Missing], jobs: int) -> Iterator[Verdict]:
    chunks = iter(lambda: _taken(games, size=_CHUNK_SIZE, count=_CHUNK_COUNT), [])
    for verdicts in in_order(_verdicts_on, chunks, jobs=jobs):
        yield from verdicts


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
