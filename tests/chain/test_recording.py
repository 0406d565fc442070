"""Events recorded together are what they are one by one: the same links, the same bytes, the same failure."""

from typing import Any

import pytest
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.events import CardPlayed, Event, MovesRetracted, NoteAdded
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.form import IS_COMPILED
from heptalog.replay.recording import recorded
from heptalog.replay.rules import AnyRules
from tests.chain.test_two_ways import ODD, outcome
from tests.support.evidence import recorded as recorded_one_by_one
from tests.support.play import EACH_GAME, play

TIME = 1_796_061_234_500_000_000
FIRST = Event(3, CardPlayed(1, "7D"), "game", "e3", TIME - 5, TIME, "table")
EVENTS = (
    FIRST,
    replace(FIRST, sequence=4, event_id="e4", body=NoteAdded("a")),
    replace(FIRST, sequence=5, event_id="e5", occurred_at=0),
    replace(FIRST, sequence=6, event_id="e6", recorded_by="other"),
    replace(FIRST, sequence=7, event_id="e7", recorded_by="other", body=MovesRetracted(2, "b")),
)


def one_by_one(events: tuple[Event, ...], previous: bytes) -> list[tuple[Event, bytes]]:
    """The same without anything in common."""
    found = []
    for event in events:
        event, record = codec.chained(event, previous)
        previous = event.hash
        found.append((event, record))
    return found


@EACH_GAME
def test_a_whole_game_is_recorded_alike(rules: AnyRules) -> None:
    entries = recorded_one_by_one(play(rules, 3, events_max=300).bodies)
    bare = [replace(event, previous_hash=b"", hash=b"") for event, _ in entries]
    assert recorded(bare, bare[0].game_id, GENESIS) == entries
    half = len(entries) // 2
    assert recorded(bare[half:], bare[0].game_id, entries[half - 1][0].hash) == entries[half:]


@pytest.mark.parametrize("count", range(1, len(EVENTS) + 1))
def test_what_they_have_in_common_is_as_it_is_in_each(count: int) -> None:
    assert recorded(EVENTS[:count], "game", GENESIS) == one_by_one(EVENTS[:count], GENESIS)


@pytest.mark.parametrize("place", range(len(EVENTS)))
@pytest.mark.parametrize("name", ["sequence", "event_id", "occurred_at", "recorded_at", "recorded_by"])
@pytest.mark.parametrize("value", [*ODD, float(TIME)], ids=repr)
def test_odd_values_are_recorded_alike(place: int, name: str, value: Any) -> None:
    # A time that is equal to the one before it, and is no whole number, must not be taken for it.
    if IS_COMPILED and name == "sequence" and value is True:
        pytest.skip("where types are compiled, True is a number before it can be asked what it is")
    events = (*EVENTS[:place], replace(EVENTS[place], **{name: value}), *EVENTS[place + 1 :])
    assert outcome(lambda: recorded(events, "game", GENESIS)) == outcome(lambda: one_by_one(events, GENESIS))


@pytest.mark.parametrize("game_id", ["", "é", "\ud800", "x" * 127, "x" * 128])
def test_odd_games_are_recorded_alike(game_id: str) -> None:
    events = tuple(replace(event, game_id=game_id) for event in EVENTS)
    assert outcome(lambda: recorded(events, game_id, GENESIS)) == outcome(lambda: one_by_one(events, GENESIS))
