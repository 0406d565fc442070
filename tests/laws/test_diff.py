"""Laws of comparing: a game is the same as itself, and what differs is named as a game file names it."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from heptalog.replay.diff import Difference, FieldDifference, diff
from heptalog.replay.events import Body, Event, GameClosed, NoteAdded, camel_name
from heptalog.replay.gamefile import encode_line
from heptalog.replay.rules import AnyRules
from tests.support.evidence import recorded
from tests.support.play import EACH_GAME, play

# Nanoseconds: a second later.
LATER = 1_000_000_000


@EACH_GAME
@settings(max_examples=20)
@given(data=st.data())
def test_a_game_is_the_same_as_itself_with_or_without_its_evidence(rules: AnyRules, data: st.DataObject) -> None:
    bodies = play(rules, data.draw(st.integers(0, 1000)), events_max=60).bodies
    whole = [event for event, _ in recorded(bodies)]
    assert diff(whole, whole, with_envelope=True).is_same
    assert diff(whole, _bare(bodies)).is_same


@EACH_GAME
@settings(max_examples=20)
@given(data=st.data())
def test_every_difference_has_a_name_of_the_game_file(rules: AnyRules, data: st.DataObject) -> None:
    seeds = data.draw(st.tuples(st.integers(0, 1000), st.integers(0, 1000)))
    games = [_bare(play(rules, seed, events_max=60).bodies) for seed in seeds]
    assert not [field.field for field in _fields(diff(games[0], games[1])) if "_" in field.field]


@EACH_GAME
def test_what_an_envelope_says_is_named_and_written_as_in_the_file(rules: AnyRules) -> None:
    event = recorded(play(rules, 2, events_max=1).bodies)[0].event
    other = replace(
        event,
        game_id="other",
        event_id="another",
        occurred_at=event.occurred_at + LATER,
        recorded_at=event.recorded_at + LATER,
        recorded_by="somebody",
        previous_hash=bytes([1]) * 32,
        hash=bytes([2]) * 32,
    )
    parting = diff([event], [other], with_envelope=True).event
    assert parting is not None
    lines = [json.loads(encode_line(one)) for one in (event, other)]
    found = {field.field: (field.left, field.right) for field in parting.fields}
    hashes = {"previousHash": (event.previous_hash, other.previous_hash), "hash": (event.hash, other.hash)}
    for name, (left, right) in hashes.items():
        assert found.pop(name) == (left.hex(), right.hex())
    names = ("occurredAt", "gameId", "eventId", "recordedAt", "recordedBy")
    assert found == {name: (lines[0][name], lines[1][name]) for name in names}


@EACH_GAME
def test_a_time_that_only_one_has_is_nothing_in_the_other(rules: AnyRules) -> None:
    event = recorded(play(rules, 2, events_max=1).bodies)[0].event
    parting = diff([event], [replace(event, recorded_at=0)], with_envelope=True).event
    assert parting is not None
    assert parting.fields == (FieldDifference("recordedAt", json.loads(encode_line(event))["recordedAt"], None),)


@EACH_GAME
def test_events_of_two_kinds_and_a_missing_one_are_told_by_their_kind(rules: AnyRules) -> None:
    bodies = play(rules, 2, events_max=5, with_rulings=False).bodies
    longer = _bare([*bodies, NoteAdded("late")])
    shorter = _bare(bodies)
    parting = diff(longer, shorter).event
    assert parting is not None
    assert parting.fields == (FieldDifference("event", "noteAdded", None),)
    other = _bare([*bodies[:-1], NoteAdded("late")])
    parting = diff(shorter, other).event
    assert parting is not None
    assert parting.fields == (FieldDifference("event", camel_name(type(bodies[-1])), "noteAdded"),)


@EACH_GAME
def test_a_game_that_the_arbiter_ended_differs_in_how_it_stands(rules: AnyRules) -> None:
    bodies = play(rules, 2, events_max=5, with_rulings=False).bodies
    state = diff(_bare([*bodies, GameClosed("late")]), _bare([*bodies, NoteAdded("late")])).state
    assert state is not None
    assert state.sequence == len(bodies)
    assert FieldDifference("over", left=True, right=False) in state.fields


def _bare(bodies: list[Body]) -> list[Event]:
    return [Event(sequence, body) for sequence, body in enumerate(bodies)]


def _fields(difference: Difference) -> list[FieldDifference]:
    partings = [parting for parting in (difference.event, difference.state) if parting is not None]
    return [*(field for parting in partings for field in parting.fields), *difference.result]
