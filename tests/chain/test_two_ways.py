"""The quick way to read and write an event is the exact way: the same event, the same bytes, the same failure.

The quick way takes plain bytes apart by hand and remembers small bodies; the exact way is protobuf's. Whatever the
quick way takes, the exact way must take with the very same meaning; what it leaves is the exact way's by construction.
"""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Struct
from msgspec.structs import fields, replace

from heptalog.replay import codec, envelope
from heptalog.replay.bodies import BODIES, KINDS, REMEMBERED_MAX, SMALL, field_of, small_body, varint
from heptalog.replay.codec import CONTENT_START
from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Body, CardPlayed, Event, GameStarted, MovesRetracted, NoteAdded
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.form import IS_COMPILED
from heptalog.replay.rules import AnyRules
from heptalog.replay.seven_rocks.events import TileHand, TilePlayed, TilesDealt
from heptalog.replay.seven_up.events import CardsDiscarded
from heptalog.replay.times import SECOND
from tests.support.evidence import recorded, redact, redacted
from tests.support.play import EACH_GAME, play

GOLDEN = [
    bytes.fromhex(json.loads(line)["record"])
    for line in (Path(__file__).parent.parent / "golden" / "records.jsonl").read_bytes().splitlines()
]
# The same in an envelope as people have them; of each kind the one that says most.
RECORDS = [codec.chained(replace(codec.decode_exactly(record)[0], sequence=300), GENESIS)[1] for record in GOLDEN]
LARGEST = list({type(codec.decode_exactly(record)[0].body): record for record in sorted(RECORDS, key=len)}.values())


def outcome(what: Callable[[], object]) -> object:
    """What a call gives, to the last type in it, or how it fails."""
    try:
        return repr(what())
    except HeptalogError as error:
        return type(error), error.code, error.rule, error.facts
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        return type(error), str(error)


def agree(record: bytes) -> bool:
    """Compare both ways of reading a record, and of reading it as a client sends it; whether the quick one took it."""
    exact = outcome(lambda: codec.decode_exactly(record))
    assert outcome(lambda: codec.decode(record)) == exact, record.hex()
    for data in (record, record[CONTENT_START:]):
        event = codec.read_event(data)
        if event is not None:
            assert repr(event) == repr(codec.event_of(codec.parse(data))), data.hex()
            assert codec.parse(data).SerializeToString() == data, "what is read quickly is canonical"
    is_quick = envelope.read(record, CONTENT_START) is not None
    return is_quick and record[:2] == b"\x0a\x20" and record[34:36] == b"\x12\x20"


@EACH_GAME
def test_a_whole_game_is_read_the_quick_way(rules: AnyRules) -> None:
    entries = recorded(play(rules, 3, events_max=300).bodies)
    for _, record in entries:
        assert agree(record)
    # A redacted copy has no values, and the same public form.
    for copy in redacted(event for event, _ in entries):
        assert agree(codec.encode(copy))


def test_golden_records_are_read_alike() -> None:
    for record in GOLDEN:
        agree(record)
    for record in RECORDS:
        assert agree(record)


@pytest.mark.parametrize("record", LARGEST, ids=lambda record: str(len(record)))
def test_every_change_of_one_byte_is_read_alike(record: bytes) -> None:
    for place, byte in enumerate(record):
        if 2 <= place < 34 or 36 <= place < CONTENT_START:
            # Every byte of a link is as good as another here.
            continue
        for other in {0, 127, 255, byte ^ 1, byte ^ 8, byte ^ 128} - {byte}:
            agree(record[:place] + bytes((other,)) + record[place + 1 :])
        agree(record[:place])
        agree(record[:place] + record[place + 1 :])
        for added in (0, byte | 128):
            agree(record[:place] + bytes((added,)) + record[place:])


# A record taken apart into fields, so that it can be put together wrongly.


def split(data: bytes) -> list[tuple[int, bytes | int]]:
    """The fields of a message: each tag, and its bytes or number."""
    found: list[tuple[int, bytes | int]] = []
    at = 0
    while at < len(data):
        tag, at = number_at(data, at)
        value, at = number_at(data, at)
        if tag & 7 == 2:
            found.append((tag, data[at : at + value]))
            at += value
        else:
            found.append((tag, value))
    return found


def number_at(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def joined(parts: list[tuple[int, bytes | int]], draw: Random, *, padding: float) -> bytes:
    """Fields as bytes; some numbers in more bytes than they need."""

    def number(value: int) -> bytes:
        shortest = varint(value)
        if draw.random() >= padding:
            return shortest
        return shortest[:-1] + bytes((shortest[-1] | 128,)) + b"\x80" * draw.randrange(2) + b"\0"

    return b"".join(
        number(tag) + (number(value) if isinstance(value, int) else number(len(value)) + value) for tag, value in parts
    )


STRANGE = (0, 1, 127, 128, *(2**bits - less for bits in (14, 28, 32, 35, 63) for less in (0, 1)), SECOND - 1, SECOND)
TEXTS = (b"", b"a", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"x" * 127, b"x" * 128, b"\0")


def changed(parts: list[tuple[int, bytes | int]], draw: Random, depth: int = 0) -> list[tuple[int, bytes | int]]:
    """The fields of a message with one thing wrong, in it or in a part of it."""
    parts = list(parts)
    place = draw.randrange(len(parts)) if parts else 0
    how = draw.randrange(9)
    if not parts or how == 0:
        # A field that is known somewhere, or nowhere.
        unknown = draw.randrange(1, 64) << 3
        parts.insert(place, draw.choice([(unknown, draw.choice(STRANGE)), (unknown | 2, draw.choice(TEXTS))]))
    elif how == 1:
        parts.insert(draw.randrange(len(parts) + 1), parts[place])
    elif how == 2:
        del parts[place]
    elif how == 3:
        draw.shuffle(parts)
    elif how == 4:
        tag, value = parts[place]
        parts[place] = (tag ^ 2, draw.choice(STRANGE) if isinstance(value, bytes) else draw.choice(TEXTS))
    elif isinstance(parts[place][1], int):
        parts[place] = (parts[place][0], draw.choice(STRANGE))
    elif how == 5 or depth > 3:
        parts[place] = (parts[place][0], draw.choice(TEXTS))
    else:
        tag, value = parts[place]
        assert isinstance(value, bytes)
        try:
            inner = split(value)
        except IndexError:
            inner = []
        parts[place] = (tag, joined(changed(inner, draw, depth + 1), draw, padding=draw.choice((0, 0, 0.2))))
    return parts


@given(st.randoms(use_true_random=False), st.sampled_from(RECORDS), st.integers(1, 3))
def test_fields_put_together_wrongly_are_read_alike(draw: Random, record: bytes, times: int) -> None:
    parts = split(record[CONTENT_START:])
    for _ in range(times):
        parts = changed(parts, draw)
    agree(record[:CONTENT_START] + joined(parts, draw, padding=draw.choice((0, 0, 0.1))))


@given(
    st.integers(-2, 2**33) | st.sampled_from(STRANGE),
    st.integers(-2, 2**31) | st.sampled_from(STRANGE),
    st.sampled_from((0x32, 0x3A)),
)
def test_times_are_read_alike(seconds: int, nanos: int, tag: int) -> None:
    time = b"".join(bytes((tag,)) + varint(value & 2**64 - 1) for tag, value in ((8, seconds), (16, nanos)) if value)
    agree(b"\x0a\x20" + GENESIS + b"\x12\x20" + GENESIS + bytes((tag, len(time))) + time + b"\xb2\x01\0")


# Writing.


def test_the_envelope_has_the_fields_that_are_written_by_hand() -> None:
    # One more is read the exact way, and would not be written: it needs a line in `read` and in `front_of`.
    front = ["game_id", "sequence", "event_id", "occurred_at", "recorded_at", "recorded_by"]
    assert {info.name for info in fields(Event)} == {*front, "body", "previous_hash", "hash"}


NUMBERS = (0, 1, True, 1.0, -1, 2**21, 2**32 - 1, 2**32)
ODD: list[Any] = [*NUMBERS, None, b"a", "a", "", "é", "\ud800", "x" * 127, "x" * 128]
PLAIN = Event(3, CardPlayed(1, "7D"), "game", "e3", 0, 1_796_061_234 * SECOND + 500_000_000, "table")
HAND = ("6-4", "3-3")


def written(event: Event) -> None:
    """Compare both ways of writing an event."""
    bare = replace(event, previous_hash=b"", hash=b"")
    exact = outcome(lambda: codec.encode(bare))
    assert outcome(lambda: codec.content_of(event)) == exact, event
    assert outcome(lambda: codec.chained(event, GENESIS)[1][CONTENT_START:]) == exact, event


@pytest.mark.parametrize("name", ["sequence", "game_id", "event_id", "occurred_at", "recorded_at", "recorded_by"])
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_odd_values_are_written_alike(name: str, value: Any) -> None:
    if IS_COMPILED and name == "sequence" and value is True:
        pytest.skip("where types are compiled, True is a number before it can be asked what it is")
    written(replace(PLAIN, **{name: value}))


@pytest.mark.parametrize("body", [CardPlayed(1, "7D"), TilePlayed(1, "6-4"), MovesRetracted(1, "a"), NoteAdded("a")])
def test_what_is_equal_is_not_always_the_same(body: Body) -> None:
    # 1.0 and True are equal to 1: what is remembered of one must not answer for the other.
    for _ in range(2):
        written(replace(PLAIN, body=body))
        for info in fields(body):
            for value in (*ODD, UNSET, "LEFT", [1], (1,)):
                written(replace(PLAIN, body=replace(body, **{info.name: value})))


@given(st.integers(0, 2**36 * SECOND), st.integers(0, 2**36 * SECOND), st.integers(0, 2**33))
def test_times_and_sequences_are_written_and_read_alike(occurred_at: int, recorded_at: int, sequence: int) -> None:
    event = replace(PLAIN, occurred_at=occurred_at, recorded_at=recorded_at, sequence=sequence)
    written(event)
    if sequence < 2**32:
        agree(codec.chained(event, GENESIS)[1])


@EACH_GAME
def test_a_whole_game_is_written_alike(rules: AnyRules) -> None:
    for event, record in recorded(play(rules, 5, events_max=300).bodies):
        written(event)
        assert codec.encode(event) == record
        bare = replace(event, body=redact(event.body), previous_hash=b"", hash=b"")
        assert codec.public_form(event) == codec.encode(bare)


# What is remembered.


def _has_seal(part: Any) -> bool:
    """Whether a struct has a seal, at any depth."""
    found = [part, *get_args(part)]
    if isinstance(part, type) and issubclass(part, Struct):
        return any(info.name == "seal" or _has_seal(info.type) for info in fields(part))
    return any(_has_seal(inner) for inner in found[1:])


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_no_kind_that_can_hide_a_value_is_remembered(body: type[Body]) -> None:
    assert KINDS[body].is_remembered == (not _has_seal(body) and body is not GameStarted)


def test_nothing_hidden_is_remembered() -> None:
    sizes = small_body.cache_info().currsize, _remembered_fields()
    for body in (CardsDiscarded(1, ("7D",)), TilesDealt((TileHand(HAND),)), TilesDealt((TileHand(),))):
        event = replace(PLAIN, body=body)
        _, record = codec.chained(event, GENESIS)
        assert len(field_of(body)) <= SMALL, "small enough, were it not for what it is"
        assert agree(record)
    assert (small_body.cache_info().currsize, _remembered_fields()) == sizes


def _remembered_fields() -> int:
    from heptalog.replay.bodies import _small_field

    return _small_field.cache_info().currsize


def test_what_is_remembered_is_bounded() -> None:
    for number in range(REMEMBERED_MAX + 100):
        _, record = codec.chained(replace(PLAIN, body=MovesRetracted(number)), GENESIS)
        assert envelope.read(record, CONTENT_START) is not None
    long = replace(PLAIN, body=NoteAdded("x" * 100))
    size = small_body.cache_info().currsize
    assert agree(codec.chained(long, GENESIS)[1])
    assert size == small_body.cache_info().currsize == REMEMBERED_MAX
    assert _remembered_fields() == REMEMBERED_MAX
