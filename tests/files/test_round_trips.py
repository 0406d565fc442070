"""Random games through every form and back: lines, messages, records, and the JSON of protobuf itself."""

import msgspec
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay import codec
from heptalog.replay.gamefile import decode_line, encode_line, read_events
from heptalog.replay.rules import AnyRules
from heptalog.v1 import event_pb2 as pb
from tests.support.evidence import lines_of, recorded, redacted
from tests.support.play import EACH_GAME, Game, games


@EACH_GAME
@settings(max_examples=25)
@given(data=st.data())
def test_a_game_survives_every_form(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules, events_max=150))
    records = recorded(game.bodies, is_sealed=data.draw(st.booleans()), with_times=data.draw(st.booleans()))
    events = [event for event, _ in records]
    if data.draw(st.booleans()):
        events = redacted(events)
    lines = lines_of(events)
    assert list(read_events(lines)) == events
    for event, line in zip(events, lines, strict=True):
        message = codec.message_of(event)
        assert codec.event_of(message) == event
        assert codec.event_of(codec.parse(codec.encode(event))) == event
        assert codec.decode(codec.encode(event))[0] == event
        assert b"\n" not in line
        # The second opinion reads our line as the same message, and we read what it writes.
        assert json_format.Parse(line, pb.Event()) == message
        other = json_format.MessageToJson(message, indent=None, ensure_ascii=False).encode()
        assert decode_line(other) == event
        assert _without_sequence(other) == _without_sequence(line)


def _without_sequence(line: bytes) -> object:
    """The tree of a line; a sequence of 0 is written by us, and names of players and tags are too."""
    tree = msgspec.json.decode(line)
    tree.pop("sequence", None)
    return tree


@EACH_GAME
@settings(max_examples=15)
@given(data=st.data())
def test_a_game_without_an_envelope_survives_too(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules, events_max=150))
    for sequence, body in enumerate(game.bodies):
        event = decode_line(encode_line(msgspec.structs.replace(EMPTY, sequence=sequence, body=body)))
        assert (event.sequence, event.body) == (sequence, body)
        assert codec.event_of(codec.message_of(event)) == event


EMPTY = decode_line(b'{"noteAdded":{}}')
