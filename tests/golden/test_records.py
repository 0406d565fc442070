"""One record of every kind of event, with every field and every value of an enum, recorded once and for ever.

A line of `records.jsonl` is never changed: whatever the schema becomes, these bytes mean what they meant.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from msgspec.structs import replace

from heptalog.replay import codec
from heptalog.replay.codec import BODIES
from heptalog.replay.events import camel_name
from heptalog.replay.evidence.chain import GENESIS, link
from heptalog.replay.gamefile import decode_line, encode_line
from heptalog.v1 import event_pb2 as pb
from tests.support.evidence import redact

LINES = [json.loads(line) for line in (Path(__file__).parent / "records.jsonl").read_bytes().splitlines()]
ADD = "python -m tests.support.records KIND >> tests/golden/records.jsonl adds what is new"


@pytest.mark.parametrize("body", BODIES, ids=camel_name)
def test_a_record_means_what_it_meant(body: Any) -> None:
    lines = [line for line in LINES if line["kind"] == camel_name(body)]
    assert lines, ADD
    for line in lines:
        record = bytes.fromhex(line["record"])
        event, public = codec.decode(record)
        assert type(event.body) is body
        assert json.loads(encode_line(event)) == line["event"]
        assert decode_line(json.dumps(line["event"]).encode()) == event
        assert codec.encode(event) == record
        assert event.hash == link(GENESIS, public)
        assert codec.public_form(event) == codec.public_form(replace(event, body=redact(event.body))) == public


def test_every_field_and_every_value_of_an_enum_has_its_record() -> None:
    found: set[tuple[str, int, int]] = set()
    for line in LINES:
        found.update(_said(pb.Event.FromString(bytes.fromhex(line["record"]))))
    missing = {place for place in _there_are(pb.Event.DESCRIPTOR, set()) if place not in found}
    assert not missing, ADD


def _said(message: Message) -> Iterator[tuple[str, int, int]]:
    """The fields that are set in a message and all inside it, each with the number of its enum value or 0."""
    for field, value in message.ListFields():
        for item in value if field.is_repeated else [value]:
            yield message.DESCRIPTOR.full_name, field.number, item if field.enum_type is not None else 0
            if isinstance(item, Message):
                yield from _said(item)


def _there_are(descriptor: Descriptor, seen: set[str]) -> Iterator[tuple[str, int, int]]:
    """The same of all that could be set."""
    if descriptor.full_name in seen:
        return
    seen.add(descriptor.full_name)
    for field in descriptor.fields:
        values = [0] if field.enum_type is None else [value.number for value in field.enum_type.values if value.number]
        yield from ((descriptor.full_name, field.number, number) for number in values)
        if field.message_type is not None:
            yield from _there_are(field.message_type, seen)
