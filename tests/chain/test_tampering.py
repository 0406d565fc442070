"""Whatever is changed in a record is found: a byte, an event, a seal; and nothing unknown is taken in."""

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
from google.protobuf.message import Message
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Redacted
from heptalog.replay.events import UNSET, Body, CardHand, CardsDealt, Event, NoteAdded, Seal
from heptalog.replay.evidence.chain import GENESIS, link
from heptalog.replay.evidence.seals import check_seals, commitment, sealable_parts, unsealed
from heptalog.replay.gamefile import read_events
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import AnyRules
from heptalog.replay.seven_rocks import SEVEN_ROCKS
from heptalog.replay.seven_up import SEVEN_UP
from heptalog.replay.verify import Examiner, Report, verify
from heptalog.v1 import event_pb2 as pb
from tests.support.evidence import Recorded, lines_of, recorded, redacted
from tests.support.play import EACH_GAME, play


def short_game(rules: AnyRules, length: int, seed: int = 3) -> list[Recorded]:
    """The beginning of a game, chained and sealed."""
    return recorded(play(rules, seed, events_max=length, with_rulings=False).bodies)


def verify_records(records: Iterable[bytes]) -> Report:
    """Verify as a store does: what cannot be read is a finding as well."""
    try:
        return verify([codec.decode(record) for record in records])
    except HeptalogError as error:
        return Report(0, error)


@pytest.mark.parametrize(("rules", "length"), [(SEVEN_ROCKS, 6), (SEVEN_UP, 6)], ids=["seven_rocks", "seven_up"])
def test_every_change_of_one_byte_is_found(rules: AnyRules, length: int) -> None:
    records = [record for _, record in short_game(rules, length)]
    assert verify_records(records).ok
    changed = 0
    for index, record in enumerate(records):
        # What stands before the changed event is as it was, so its examination is not repeated.
        before = Examiner()
        for earlier in records[:index]:
            before.advance(*codec.decode(earlier))
        for place, byte in enumerate(record):
            for other in set(range(256)) - {byte}:
                wrong = record[:place] + bytes([other]) + record[place + 1 :]
                assert not _is_accepted(before, wrong), (index, place, other)
                changed += 1
    assert changed > 150_000


def _is_accepted(before: Examiner, record: bytes) -> bool:
    """Whether this record passes after the others, by its bytes, its chain and its seals."""
    try:
        event, public = codec.decode(record)
        # Few come so far: only they need an examiner that may be changed.
        examiner = Examiner()
        for name in dir(before):
            value = getattr(before, name)
            if not name.startswith("__") and not callable(value):
                setattr(examiner, name, set(value) if isinstance(value, set) else value)
        if before.fold is None:
            examiner.advance(event, public)
        else:
            examiner._check_chain(event, public)
            check_seals(event.body)
    except HeptalogError:
        return False
    return True


@EACH_GAME
def test_bytes_cut_off_put_in_or_taken_out_are_found(rules: AnyRules) -> None:
    records = [record for _, record in short_game(rules, 12)]
    random = Random(1)
    for index, record in enumerate(records):
        for _ in range(60):
            place = random.randrange(len(record) + 1)
            wrong = random.choice(
                (
                    record[:place] + bytes([random.randrange(256)]) + record[place:],
                    record[:place] + record[place + 1 :],
                    record[:place],
                    record + record[place:],
                    record + bytes([random.randrange(256)]),
                )
            )
            if wrong != record:
                assert not verify_records([*records[:index], wrong, *records[index + 1 :]]).ok


@EACH_GAME
def test_events_swapped_dropped_or_doubled_are_found(rules: AnyRules) -> None:
    records = [record for _, record in short_game(rules, 30)]
    for index in range(len(records) - 1):
        swapped = [*records[:index], records[index + 1], records[index], *records[index + 2 :]]
        dropped = [*records[:index], *records[index + 1 :]]
        doubled = [*records[: index + 1], *records[index:]]
        for wrong in (swapped, dropped, doubled):
            report = verify_records(wrong)
            assert report.error is not None
            assert report.error.code in (Code.SEQUENCE_GAP, Code.CHAIN_BROKEN)
            assert report.events == index + (wrong is doubled)


@EACH_GAME
def test_the_same_game_told_otherwise_has_another_chain(rules: AnyRules) -> None:
    bodies = play(rules, 3, events_max=20, with_rulings=False).bodies
    records = recorded(bodies)
    for index in range(1, len(bodies)):
        for event in (
            replace(records[index].event, body=NoteAdded("another")),
            replace(records[index].event, event_id="another"),
            replace(records[index].event, game_id="another"),
            replace(records[index].event, occurred_at=1_000_000_001),
            replace(records[index].event, recorded_by=""),
        ):
            # Numbered and linked anew, so that only the next event can tell.
            linked, record = codec.chained(event, records[index - 1].event.hash)
            assert linked.hash != records[index].event.hash
            after = [later for _, later in records[index + 1 :]]
            if after:
                assert not verify_records([*(one for _, one in records[:index]), record, *after]).ok


@EACH_GAME
def test_a_redacted_copy_has_the_same_chain(rules: AnyRules) -> None:
    records = recorded(play(rules, 3, events_max=60).bodies)
    copies = redacted(event for event, _ in records)
    previous = GENESIS
    for copy, (event, _) in zip(copies, records, strict=True):
        assert codec.public_form(copy) == codec.public_form(event)
        previous = link(previous, codec.public_form(copy))
        assert copy.hash == event.hash == previous
    first_hidden = next(event.sequence for event, _ in records if event.body.sealed)
    for entries in (
        [(event, None) for event in copies],
        [codec.decode(codec.encode(event)) for event in copies],
        [(event, None) for event in read_events(lines_of(copies))],
    ):
        report = verify(entries)
        assert isinstance(report.error, Redacted)
        assert (report.error.code, report.sequence, report.events) == (Code.VALUE_SEALED, first_hidden, first_hidden)
    # Past the first redaction the chain is still checked to its end.
    last = replace(copies[-1], recorded_by="somebody else")
    report = verify((event, None) for event in [*copies[:-1], last])
    assert report.error is not None
    assert (report.error.code, report.sequence) == (Code.CHAIN_BROKEN, len(copies) - 1)


@EACH_GAME
def test_no_secret_is_in_the_public_form(rules: AnyRules) -> None:
    for event, _ in recorded(play(rules, 5, events_max=80).bodies):
        public = codec.public_form(event)
        for _, part in sealable_parts(event.body):
            if part.seal is not UNSET:
                assert part.seal.salt not in public
                assert " ".join(getattr(part, part.value_field)).encode() not in public


@EACH_GAME
def test_games_without_seals_and_games_without_chains_are_valid(rules: AnyRules) -> None:
    bodies = play(rules, 4).bodies
    assert verify([codec.decode(record) for _, record in recorded(bodies, is_sealed=False)]).ok
    assert verify((Event(sequence, body), None) for sequence, body in enumerate(bodies)).ok
    for event, _ in recorded(bodies):
        assert unsealed(event.body) == bodies[event.sequence]


HAND = ("7D", "TS")
SALT = bytes(range(16))
GOOD = Seal(SALT, commitment(SALT, HAND), 2)


@pytest.mark.parametrize(
    ("hand", "error", "code"),
    [
        (CardHand(HAND, replace(GOOD, count=3)), Corrupt, Code.SEAL_BROKEN),
        (CardHand(HAND, replace(GOOD, count=0)), Corrupt, Code.SEAL_BROKEN),
        (CardHand(HAND[::-1], GOOD), Corrupt, Code.SEAL_BROKEN),
        (CardHand(("7D", "TC"), GOOD), Corrupt, Code.SEAL_BROKEN),
        (CardHand(("7D TS",), replace(GOOD, count=1)), None, None),
        (CardHand(HAND, replace(GOOD, salt=SALT[::-1])), Corrupt, Code.SEAL_BROKEN),
        (CardHand(HAND, replace(GOOD, salt=SALT[:15])), Malformed, Code.FIELD_INVALID),
        (CardHand(HAND, replace(GOOD, salt=b"")), Malformed, Code.FIELD_INVALID),
        (CardHand(HAND, replace(GOOD, commitment=b"")), Malformed, Code.FIELD_INVALID),
        (CardHand(HAND, replace(GOOD, commitment=GOOD.commitment[:31])), Malformed, Code.FIELD_INVALID),
        (CardHand(HAND, replace(GOOD, commitment=bytes(32))), Corrupt, Code.SEAL_BROKEN),
        (CardHand(HAND, Seal()), Malformed, Code.FIELD_INVALID),
        (CardHand((), GOOD), Malformed, Code.FIELD_INVALID),
        (CardHand((), replace(GOOD, salt=b"")), None, None),
        (CardHand(HAND, GOOD), None, None),
    ],
)
def test_a_seal_that_does_not_fit_is_found(
    hand: CardHand, error: type[HeptalogError] | None, code: Code | None
) -> None:
    body = CardsDealt((CardHand(("AC",)), hand))
    if error is None:
        check_seals(body)
        return
    with pytest.raises(error) as found:
        check_seals(body)
    assert found.value.code is code
    assert "hands[1]" in str(found.value.facts["field"])
    assert "7D" not in str(found.value), "an error reveals no hidden card"


@EACH_GAME
def test_a_changed_card_or_salt_is_found_although_the_chain_does_not_cover_it(rules: AnyRules) -> None:
    records = short_game(rules, 4)
    index = next(event.sequence for event, _ in records if event.body.sealed)
    event = records[index].event
    body: Any = event.body
    hand = body.hands[0]
    values = getattr(hand, hand.value_field)
    for wrong in (
        replace(hand, **{hand.value_field: (values[1], values[0], *values[2:])}),
        replace(hand, seal=replace(hand.seal, salt=bytes(16))),
    ):
        changed: Body = replace(body, hands=(wrong, *body.hands[1:]))
        record = codec.encode(replace(event, body=changed))
        report = verify_records([*(one for _, one in records[:index]), record])
        assert report.error is not None
        assert (report.error.code, report.sequence) == (Code.SEAL_BROKEN, index)


def _messages_in(message: Message) -> list[Message]:
    """A message and every one inside it."""
    found = [message]
    for field, value in message.ListFields():
        if field.message_type is not None:
            for item in value if field.is_repeated else [value]:
                found += _messages_in(item)
    return found


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_unknown_fields_are_refused_at_every_depth(rules: AnyRules) -> None:
    # Field 1000, a number; field 15, a text: neither is in any message.
    for data in (b"\xc0\x3e\x01", b"\x7a\x01a", b"\xc0\x3e\x00"):
        for event, record in short_game(rules, 8):
            for depth in range(len(_messages_in(pb.Event.FromString(record)))):
                unknown = pb.Event.FromString(record)
                _messages_in(unknown)[depth].MergeFromString(data)
                changed = unknown.SerializeToString()
                assert changed != record
                with pytest.raises(Malformed) as refused:
                    codec.parse(changed)
                assert refused.value.code is Code.FIELD_UNKNOWN
                with pytest.raises(HeptalogError):
                    codec.decode(changed)
            assert codec.event_of(codec.parse(record)) == event
