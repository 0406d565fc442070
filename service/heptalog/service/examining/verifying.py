"""Whether a game of a log is good: its events, and what the log keeps beside them. Knows no gRPC."""

from collections.abc import Generator
from contextlib import closing
from itertools import islice
from typing import Final

from heptalog.replay.errors import Code, Corrupt, HeptalogError, NotFound, Unavailable
from heptalog.replay.events import Event, GameStarted
from heptalog.replay.fold import Fold
from heptalog.replay.sentences import sentence
from heptalog.replay.verify import Examiner, Report, concluded, fault_in
from heptalog.service.examining.records import check_endings, decoded
from heptalog.service.examining.told import Examined, Finding, GameReport, Progress
from heptalog.service.store import GameEntry, LogStore, Reading, Stored
from heptalog.service.store.batches import rules_version_of, ruleset_of
from heptalog.service.store.kept import columns_differ, ending_columns

# Examined in one go; in between whoever asked may go away.
PIECE_EVENTS: Final = 512


def examination(store: LogStore, game_id: str) -> Generator[Examined, None, None]:
    """Examine a game piece by piece; the report is the last.

    Raises NotFound where it is not there, Corrupt where the store cannot read it, and Unavailable or Refused where a
    newer version has recorded it: then it is not known whether it is good.
    """
    of = events_of(store, game_id)
    examiner = Examiner()
    first: Event | None = None
    report: Report | None = None
    with closing(pieces_of(store, game_id)) as pieces:
        for piece in pieces:
            entries = (decoded(stored, game_id) for stored in piece)
            if (report := fault_in(entries, examiner)) is not None:
                break
            first = first or decoded(piece[0], game_id)[0]
            yield Progress(piece[-1].sequence + 1, max(of, piece[-1].sequence + 1))
    report = report or concluded(examiner)
    check_known(report, game_id)
    finding = finding_of(report)
    fold = examiner.fold
    if finding is None:
        assert fold is not None, "a good game has a beginning"
        assert first is not None, "and it was read"
        finding = _finding_beside(store, first, fold)
    # What the rules have accepted is as long as the fold, also where the last event has another fault.
    yield GameReport(report.events, None if fold is None else fold.standing(), finding)


def events_of(store: LogStore, game_id: str) -> int:
    """How many events a game has. Raises NotFound."""
    head = store.head(game_id)
    if head is None:
        raise NotFound(Code.GAME_NOT_FOUND, rule="api", game_id=game_id)
    return head.sequence + 1


def pieces_of(store: LogStore, game_id: str) -> Reading[list[Stored]]:
    """The records of a game, a piece at a time, all of one moment."""
    with closing(store.read_game(game_id)) as records:
        while piece := list(islice(records, PIECE_EVENTS)):
            yield piece


def finding_of(report: Report) -> Finding | None:
    """What is wrong by a report, as it is told."""
    return None if report.error is None else _finding(report.error, report.sequence)


def check_known(report: Report, game_id: str) -> None:
    """Raise what ended an examination where it is not the game's fault: it was recorded by a newer version."""
    error = report.error
    if isinstance(error, Unavailable) or (error is not None and error.code is Code.RULESET_UNKNOWN):
        error.facts.pop("sequence", None)
        error.facts.update(game_id=game_id, at_sequence=report.sequence)
        raise error


def _finding(error: HeptalogError, sequence: int) -> Finding:
    return Finding(error.code, error.rule, sentence(error), sequence if sequence >= 0 else None)


def _finding_beside(store: LogStore, first: Event, fold: Fold) -> Finding | None:
    """What is wrong with what is kept beside a game of good events: its place in the list of games, and its endings."""
    try:
        entry = store.game(first.game_id)
        with closing(store.endings(first.game_id)) as endings:
            kept = [ending_columns(ending, 0)[:-1] for ending in endings]
        if entry is not None:
            _check_listed(entry, first)
        if any(sequence > fold.sequence for sequence, *_ in kept):
            # What was recorded in the meantime is not of this examination.
            meanwhile = range(fold.sequence + 1, events_of(store, first.game_id))
            kept = [columns for columns in kept if columns[0] not in meanwhile]
        check_endings(kept, fold)
    except Corrupt as error:
        if is_unreadable(error):
            raise
        sequence = error.facts.get("sequence")
        return _finding(error, sequence if isinstance(sequence, int) else -1)
    return None


def is_unreadable(error: Corrupt) -> bool:
    """Whether it is the store that could not be read: its engine names the file."""
    return "path" in error.facts


def _check_listed(entry: GameEntry, first: Event) -> None:
    """Raise Corrupt where the list of games says something else of a game than its first event."""
    started = first.body
    assert isinstance(started, GameStarted), "a good game begins with its start"
    derived = {
        "ruleset": (entry.ruleset, ruleset_of(started)),
        "rules_version": (entry.rules_version, rules_version_of(started)),
        "created_at": (entry.created_at, first.recorded_at),
        "started": (entry.started, started),
    }
    for column, (kept, true) in derived.items():
        if kept != true:
            raise columns_differ("games", column, sequence=0)
