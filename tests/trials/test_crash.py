"""The crash trial, short: every moment of being stopped once, and a server that acknowledges too early is caught."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from heptalog.replay.events import Event, NoteAdded
from heptalog.service.appends import Append, Receipt
from heptalog.service.store import NO_GAME, Head, Stored
from tests.contract.given import game
from tests.trials.crash import Trial, run
from tests.trials.ledger import Ledger
from tests.trials.moments import MOMENTS, Moment


@pytest.fixture(autouse=True)
def switch_interval() -> Iterator[None]:
    """What a trial changes of the interpreter is put back."""
    interval = sys.getswitchinterval()
    yield
    sys.setswitchinterval(interval)


def test_no_crash_loses_what_was_acknowledged(tmp_path: Path) -> None:
    # The long trial keeps tables too: each start would start two processes more.
    asked = ("--no-tables",)
    trial: Trial = run(tmp_path / "log.duckdb", rounds=len(MOMENTS), seed=1, clients=2, arguments=asked)
    assert trial.ledger.violations == []
    assert trial.ledger.figures.wrong == 0
    assert {moment for moment, count in trial.moments.items() if count} == set(Moment)
    assert trial.ledger.figures.acknowledged > 100
    assert trial.kills_in_opening > 0


def test_the_ledger_finds_what_may_not_be() -> None:
    """Each fault that the trial looks for, as a log that has it would show it."""
    records = [entry.record for entry in game(1, length=6)]
    events = [entry.event for entry in game(1, length=6)]
    whole = [Stored(position, "game-1", position - 1, record) for position, record in enumerate(records, 1)]
    for name, found, kind in (
        ("nothing", whole, ""),
        ("the last acknowledged one", whole[:3], "lost"),
        ("half of a batch", whole[:5], "partial"),
        ("one twice", [*whole, Stored(7, "game-1", 5, records[5])], "duplicated"),
        ("a gap", [*whole[:4], *whole[5:]], "lost"),
        ("another event", [*whole[:5], Stored(6, "game-1", 5, game(2, length=6)[5].record)], "contradicted"),
        ("another game", [*whole, Stored(7, "game-2", 0, game(2)[0].record)], "foreign"),
        ("torn bytes", [*whole[:5], Stored(6, "game-1", 5, records[5][:-1])], "partial"),
    ):
        ledger = Ledger()
        first = Append("game-1", NO_GAME, tuple(events[:4]))
        ledger.sends(first)
        ledger.acknowledges(first, Receipt("game-1", Head(3, events[3].hash, 4), (0, 1, 2, 3)))
        ledger.sends(Append("game-1", 3, tuple(events[4:])))
        ledger.check(found)
        assert bool(ledger.violations) == bool(kind), name
        assert not kind or getattr(ledger.figures, kind) > 0, name


def test_the_ledger_finds_a_receipt_that_says_something_else_than_before() -> None:
    ledger = Ledger()
    events = [entry.event for entry in game(1, length=2)]
    append = Append("game-1", NO_GAME, tuple(events))
    ledger.sends(append)
    ledger.acknowledges(append, Receipt("game-1", Head(1, events[1].hash, 2), (0, 1)))
    assert not ledger.violations
    ledger.acknowledges(append, Receipt("game-1", Head(1, events[1].hash, 3), (0, 1), is_deduplicated=True))
    assert ledger.figures.contradicted > 0


def test_the_ledger_finds_a_refusal_that_is_gone() -> None:
    ledger = Ledger()
    ledger.refuses("foul")
    ledger.check_refusals(["foul", Event(0, NoteAdded(""), event_id="other").event_id])
    assert not ledger.violations
    ledger.check_refusals([])
    assert ledger.figures.lost == 1
