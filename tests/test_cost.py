"""What reading, checking and writing an event cost, counted and not timed: no step of it becomes dear in silence.

What is counted are the instructions of Python, which are the same in every run, and that the quick ways are taken. The
limits are half as much again as what was needed when they were set; who needs more raises one, and says why.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from bench.games import TABLES, Recorded, recorded_games
from heptalog.replay import codec, envelope, fold
from heptalog.replay.bodies import KINDS, SMALL, field_of
from heptalog.replay.fold import fold_all
from heptalog.replay.verify import verify, verify_records

# Instructions an event, of the dearest game, as counted in Python 3.11 to 3.13.
LIMITS = {"decode": 620, "rules": 470, "verify": 770, "verify singly": 1_340, "content": 330, "chained": 460}

pytestmark = pytest.mark.skipif(
    any(not str(module.__file__).endswith(".py") for module in (envelope, fold)),
    reason="compiled code has no instructions of Python to count",
)


def instructions(work: Callable[[], object]) -> int:
    """How many instructions of Python a work takes."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.fixture(scope="module", params=TABLES)
def games(request: pytest.FixtureRequest) -> Recorded:
    """Games of one kind, all of whose bodies have been met before."""
    # What is counted first is nothing in Python 3.12.
    instructions(lambda: None)
    games = recorded_games(request.param, count=2)
    for record in (record for records in games.records for record in records):
        assert codec.encode(codec.decode(record)[0]) == record
    return games


def test_no_step_is_dear(games: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record for game in games.records for record in game]
    events = [codec.decode(record)[0] for record in records]
    works: dict[str, Callable[[], object]] = {
        "decode": lambda: [codec.decode(record) for record in records],
        "rules": lambda: [fold_all(bodies) for bodies in games.bodies],
        "verify": lambda: [verify_records(game) for game in games.records],
        "verify singly": lambda: [verify(map(codec.decode, game)) for game in games.records],
        "content": lambda: [codec.content_of(event) for event in events],
        "chained": lambda: [codec.chained(event, event.previous_hash) for event in events],
    }
    for exact in ("decode_exactly", "message_of"):
        monkeypatch.setattr(codec, exact, lambda *_: pytest.fail("a plain event went the exact way"))
    monkeypatch.setattr("heptalog.replay.verify.verify", lambda *_: pytest.fail("a plain game went event by event"))
    costs = {name: instructions(work) / len(records) for name, work in works.items()}
    assert all(costs[name] <= limit for name, limit in LIMITS.items()), costs
    assert all(costs[name] > limit / 4 for name, limit in LIMITS.items()), f"far below: set the limits anew: {costs}"


def test_what_is_small_is_remembered(games: Recorded) -> None:
    # A body that has been met before costs no protobuf at all; those that can hide a value do, each time.
    records = [record for game in games.records for record in game]
    calls = 0

    def counted(_: FrameType, event: str, what: Any) -> None:
        nonlocal calls
        calls += event == "c_call" and getattr(what, "__name__", "") in ("FromString", "SerializeToString")

    bodies = [codec.decode(record)[0].body for record in records]
    others = sum(not KINDS[type(body)].is_remembered or len(field_of(body)) > SMALL for body in bodies)
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        for record in records:
            codec.content_of(codec.decode(record)[0])
    finally:
        sys.setprofile(before)
    # Parsed, written to compare, written as public form, and written again.
    assert others <= calls <= 4 * others < len(records)
