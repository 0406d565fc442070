"""Examining games: one verdict a game, in the order of the games, and one game event by event."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from heptalog.cli.bundles import BundleGame
from heptalog.cli.connections import Connections, PartUnreadable, shown
from heptalog.cli.databases import DatabaseGame
from heptalog.cli.exits import WrongUse
from heptalog.cli.exports import ExportGame
from heptalog.cli.files import FileGame, Missing
from heptalog.cli.sources import Game
from heptalog.cli.spreading import CHUNK_SIZE_WIDE, spread
from heptalog.cli.verdicts import Found, Verdict
from heptalog.replay.errors import KINDS, Code, HeptalogError, NotFound, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold, Outcomes
from heptalog.replay.sentences import sentence
from heptalog.replay.verify import Examiner, verify
from heptalog.service.examining.records import WholeGame


def examined(games: Iterable[Game | Missing], connections: Connections, *, jobs: int = 0) -> Iterator[Verdict]:
    """A verdict on each game, in order. `jobs` is how many processes may work; 0 is one a core."""
    found = spread(verdicts_on, games, connections, jobs=jobs, ahead=Connections.read_ahead, chunk_size=CHUNK_SIZE_WIDE)
    return _told_once(verdict for _, verdict in found)


def verdicts_on(games: Sequence[Game | Missing], connections: Connections) -> list[Verdict]:
    """Examine some games."""
    return [verdict_on(game, connections) for game in games]


def _told_once(verdicts: Iterator[Verdict]) -> Iterator[Verdict]:
    """Leave out what cannot be read and was told of already, however many games are in it."""
    told: set[str] = set()
    for verdict in verdicts:
        if verdict.code in KINDS[Unavailable]:
            if verdict.source in told:
                continue
            told.add(verdict.source)
        yield verdict


def verdict_on(game: Game | Missing, connections: Connections) -> Verdict:
    """Examine one game: form, chain, seals, the rules at every event, and what is kept beside them."""
    if isinstance(game, Missing):
        return bad(game, 0, game.error)
    if isinstance(game, BundleGame):
        return _verdict_on_bundle(game)
    fold = game.at_once(connections) if isinstance(game, DatabaseGame | ExportGame | FileGame) else None
    if fold is None:
        examiner = Examiner()
        entries = game.examined(connections) if isinstance(game, DatabaseGame) else game.entries(connections)
        report = verify(entries, examiner)
        if report.error is not None:
            return bad(game, report.events, report.error, report.sequence)
        assert examiner.fold is not None, "a good game has a beginning"
        fold = examiner.fold
    events = fold.sequence + 1
    try:
        game.check_derived(fold, connections)
    except HeptalogError as error:
        return bad(game, events, error, placed(error))
    return Verdict(game.name, ok=True, events=events, over=fold.state.over)


def _verdict_on_bundle(game: BundleGame) -> Verdict:
    try:
        look = game.looked_at()
    except HeptalogError as error:
        return bad(game, 0, error, placed(error))
    report = look.examined.report
    if report.error is not None:
        return bad(game, report.events, report.error, report.sequence)
    return Verdict(game.name, ok=True, events=look.examined.bundle.events, over=look.examined.over, proof=look.proved)


def bad(game: Game | Missing, events: int, error: HeptalogError, sequence: int = -1) -> Verdict:
    """The verdict on a game that is bad, or could not be read."""
    is_newer = error.code is Code.RECORD_NEWER
    is_of_game = is_newer or isinstance(error, PartUnreadable)
    if isinstance(game, DatabaseGame) and isinstance(error, Unavailable) and not is_of_game:
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
        raise no_such_event(game, sequence, step.event.sequence)
    return step


def no_such_event(game: Game, sequence: int, last: int) -> WrongUse:
    """What is told of a sequence that no event of the game has."""
    return WrongUse(f"{game.name} has no event {sequence}: its last is {last}")


def placed(error: HeptalogError, otherwise: int = -1) -> int:
    """The sequence that a failure carries itself, or another."""
    own = error.facts.get("sequence")
    return own if isinstance(own, int) else otherwise


def loaded(game: Game, connections: Connections) -> tuple[list[Event], Verdict]:
    """All events of a game that can be read, also where it is bad, and the verdict on it."""
    whole = WholeGame()
    whole.take(game.entries(connections))
    report = whole.report
    if report.error is not None:
        return whole.events, bad(game, report.events, report.error, report.sequence)
    assert whole.fold is not None, "a good game has a beginning"
    return whole.events, Verdict(game.name, ok=True, events=report.events, over=whole.fold.state.over)
