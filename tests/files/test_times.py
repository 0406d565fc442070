"""Times in a game file: RFC 3339 as proto3 JSON has it, to the nanosecond."""

import pytest
from google.protobuf import json_format
from hypothesis import example, given
from hypothesis import strategies as st

from heptalog.replay import codec
from heptalog.replay.errors import Code, Malformed
from heptalog.replay.events import Event, NoteAdded
from heptalog.replay.gamefile import decode_line, encode_line
from heptalog.replay.times import nanoseconds_in, rfc3339
from heptalog.v1 import event_pb2 as pb
from tests.files.reading import NOTE, refusal

SECOND = 1_000_000_000
NOON = 1_769_860_800 * SECOND
LAST = 253_402_300_799 * SECOND + 999_999_999


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("2026-01-31T12:00:00Z", NOON),
        ("2026-01-31T12:00:00.0Z", NOON),
        ("2026-01-31T12:00:00.5Z", NOON + 500_000_000),
        ("2026-01-31T12:00:00.000000001Z", NOON + 1),
        ("2026-01-31T12:00:00.123456789Z", NOON + 123_456_789),
        ("2026-01-31T14:00:00+02:00", NOON),
        ("2026-01-31T06:15:00-05:45", NOON),
        ("2026-02-01T11:59:00+23:59", NOON),
        ("2026-01-31T12:00:00-00:00", NOON),
        ("2024-02-29T00:00:00Z", 1_709_164_800 * SECOND),
        ("1970-01-01T00:00:01Z", SECOND),
        ("1970-01-01T00:00:01.000000001Z", SECOND + 1),
        ("9999-12-31T23:59:59.999999999Z", LAST),
    ],
)
def test_accepted(text: str, nanoseconds: int) -> None:
    line = NOTE % f',"occurredAt":"{text}"'
    event = decode_line(line.encode())
    assert event.occurred_at == nanoseconds
    opinion = json_format.Parse(line, pb.Event())
    assert codec.event_of(opinion) == event
    assert decode_line(encode_line(event)) == event
    assert decode_line((NOTE % f',"recordedAt":"{text}"').encode()).recorded_at == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-31",
        "2026-01-31T12:00Z",
        "2026-01-31T12:00:00",
        "2026-01-31 12:00:00Z",
        "2026-01-31t12:00:00z",
        "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00.1234567890Z",
        "2026-01-31T12:00:00,5Z",
        "2026-01-31T12:00:00+1:00",
        "2026-01-31T12:00:00+24:00",
        "2026-01-31T12:00:00+00:60",
        "2026-01-31T12:00:00 Z",
        "2026-01-31T12:00:00Z ",
        "2026-01-31T12:00:00Z\\n",
        "2026-02-29T12:00:00Z",
        "2026-13-01T12:00:00Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T23:60:00Z",
        "2026-01-31T23:59:60Z",
        "2026-W05-6T12:00:00Z",
        "\\u0662026-01-31T12:00:00Z",
        "-2026-01-31T12:00:00Z",
        "10000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-01:00",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "0001-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:00.999999999Z",
        "1970-01-01T01:00:00+01:00",
        "now",
    ],
)
def test_refused(text: str) -> None:
    for name in ("occurredAt", "recordedAt"):
        error = refusal(NOTE % f',"{name}":"{text}"')
        assert (error.code, error.facts["field"], error.facts["sequence"]) == (Code.FIELD_INVALID, name, 5)


@pytest.mark.parametrize("value", ["null", "0", "1769860800", "{}", "[]", "true"])
def test_a_time_is_a_text(value: str) -> None:
    assert refusal(NOTE % f',"occurredAt":{value}').facts["field"] == "occurredAt"


@given(st.integers(SECOND, LAST))
@example(SECOND)
@example(LAST)
@example(NOON + 1_000)
@example(NOON + 1_000_000)
def test_every_time_is_written_as_protobuf_writes_it(nanoseconds: int) -> None:
    event = Event(0, NoteAdded(), occurred_at=nanoseconds)
    assert decode_line(encode_line(event)) == event
    assert codec.event_of(codec.message_of(event)) == event
    assert rfc3339(nanoseconds) == codec.timestamp(nanoseconds).ToJsonString()


@pytest.mark.parametrize(
    ("seconds", "nanos"),
    [(253_402_300_800, 0), (2**62, 0), (2**63 - 1, 0), (0, 0), (0, 5), (-1, 0), (5, -1), (5, SECOND), (5, 2**31 - 1)],
)
def test_a_message_can_hold_no_time_that_a_file_cannot(seconds: int, nanos: int) -> None:
    message = pb.Event(note_added=pb.NoteAdded())
    message.occurred_at.seconds, message.occurred_at.nanos = seconds, nanos
    with pytest.raises(Malformed) as refused:
        codec.event_of(message)
    assert (refused.value.code, refused.value.facts["field"]) == (Code.FIELD_INVALID, "occurred_at")


@given(
    st.from_regex(r"(19|20|99)\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-6]\d:[0-6]\d(\.\d{0,10})?Z", fullmatch=True),
    st.integers(0, 40),
    st.sampled_from(["", "0", "9", "+", "-", ".", " ", "_", ":", "T", "Z", "\u0662"]),
)
@example("2026-01-31T12:00:00.5Z", 40, "")
def test_the_quick_way_says_what_the_other_says(text: str, place: int, letter: str) -> None:
    text = text[:place] + letter + text[place + len(letter) :]
    # Not in UTC by its letter, a time is read the long way; both are the same moment.
    assert nanoseconds_in(text) == nanoseconds_in(text.replace("Z", "+00:00"))


@given(st.integers(SECOND, LAST))
def test_a_time_is_what_its_text_says(nanoseconds: int) -> None:
    assert nanoseconds_in(rfc3339(nanoseconds)) == nanoseconds
