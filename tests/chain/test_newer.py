"""What a newer version has recorded is neither good nor damaged: it is told apart wherever bytes and hash agree."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Unavailable
from heptalog.replay.events import CardHand, CardsDealt, Event, NoteAdded
from heptalog.replay.evidence.chain import GENESIS, link
from heptalog.replay.evidence.seals import sealed
from heptalog.replay.sentences import sentence
from heptalog.v1 import event_pb2 as pb
from tests.support.evidence import counted_salts
from tests.support.newer import NEWER, field, newer

ENVELOPE = Event(3, NoteAdded(), game_id="game", event_id="e3", occurred_at=5_000_000_000, recorded_by="table")
PREVIOUS = bytes(range(32))
HAND = CardHand(("7D", "TS"))
DEALT = sealed(CardsDealt((HAND, HAND), "AC"), counted_salts("newer"))


def refused(record: bytes) -> HeptalogError:
    """Why a record is not taken."""
    with pytest.raises(HeptalogError) as error:
        codec.decode(record)
    return error.value


@pytest.mark.parametrize("how", NEWER)
def test_a_whole_record_of_a_newer_version_is_newer(how: str) -> None:
    _, record = newer(how, ENVELOPE, PREVIOUS)
    error = refused(record)
    assert isinstance(error, Unavailable)
    assert error.code is Code.RECORD_NEWER
    assert sentence(error) == "this was recorded by a newer version of Heptalog"


@pytest.mark.parametrize("how", NEWER)
def test_every_change_of_a_byte_of_it_is_damage(how: str) -> None:
    _, record = newer(how, ENVELOPE, PREVIOUS)
    for place, byte in enumerate(record):
        for other in {0, 255, byte ^ 1, byte ^ 8, byte ^ 128} - {byte}:
            wrong = record[:place] + bytes([other]) + record[place + 1 :]
            assert is_found(wrong), (place, other)
        assert is_found(record[:place])
    assert is_found(record + b"\0")


def is_found(record: bytes) -> bool:
    """Whether a changed record is damage: by its form, or because its hash is not its own."""
    try:
        event, public = codec.decode(record)
    except (Corrupt, Malformed):
        return True
    return link(event.previous_hash, public) != event.hash


def test_what_is_sealed_in_a_known_way_is_newer_too() -> None:
    # A field is added to a deal, to a hand and to a seal; what is hidden and how is as it was.
    linked, record = codec.chained(replace(ENVELOPE, body=DEALT), PREVIOUS)
    parts: tuple[tuple[Callable[[pb.Event], Any], bytes], ...] = (
        (lambda message: message.cards_dealt, field(3, b"newer")),
        (lambda message: message.cards_dealt.hands[1], field(3, 1)),
        (lambda message: message.cards_dealt.hands[0].seal, field(4, 1)),
    )
    for part_of, added in parts:
        message = pb.Event.FromString(record)
        part_of(message).MergeFromString(added)
        content = _content(message)
        for hand in message.cards_dealt.hands:
            hand.ClearField("cards")
            hand.seal.ClearField("salt")
        digest = link(PREVIOUS, _content(message))
        assert digest != linked.hash
        error = refused(field(1, PREVIOUS) + field(2, digest) + content)
        assert (type(error), error.code) == (Unavailable, Code.RECORD_NEWER)
        assert refused(field(1, PREVIOUS) + field(2, linked.hash) + content).code is Code.RECORD_DAMAGED


def _content(message: Any) -> bytes:
    copy = pb.Event()
    copy.CopyFrom(message)
    copy.ClearField("previous_hash")
    copy.ClearField("hash")
    return copy.SerializeToString(deterministic=True)


def test_what_a_newer_version_has_sealed_cannot_be_told_from_damage_and_that_is_said() -> None:
    # Of a new kind only the version that knows it knows what its hash does not cover.
    start = codec.content_of(ENVELOPE).removesuffix(field(22, b""))
    public, whole = (start + field(55, field(1, 2) + value) for value in (b"", field(2, b"7D")))
    error = refused(field(1, GENESIS) + field(2, link(GENESIS, public)) + whole)
    assert (type(error), error.code) == (Corrupt, Code.RECORD_DAMAGED)
    assert "or a newer version has sealed something in them" in sentence(error)


def test_what_is_wrong_in_any_version_is_damage() -> None:
    start = codec.content_of(ENVELOPE).removesuffix(field(22, b""))
    for body in (b"", field(22, field(1, b"one")) + field(22, b""), field(50, field(1, 1) + field(2, 0))):
        content = start + body
        error = refused(field(1, PREVIOUS) + field(2, link(PREVIOUS, content)) + content)
        assert isinstance(error, Corrupt | Malformed)
