"""The messages that carry events as bytes are those of the API on the wire, field by field."""

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from heptalog.internal.v1 import bytes_pb2
from heptalog.v1 import event_pb2, log_pb2

TWINS = list(bytes_pb2.DESCRIPTOR.message_types_by_name.values())


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_a_twin_has_the_fields_of_its_message(twin: Descriptor) -> None:
    ours = log_pb2.DESCRIPTOR.message_types_by_name[twin.name]
    assert [shape(field) for field in twin.fields] == [shape(field) for field in ours.fields]


def test_an_event_in_either_is_the_same_bytes() -> None:
    event = event_pb2.Event(game_id="g", sequence=7, event_id="e")
    ours = log_pb2.ReadEventsResponse(events=[log_pb2.RecordedEvent(position=300, event=event)])
    twin = bytes_pb2.ReadEventsResponse.FromString(ours.SerializeToString())
    assert [message.event for message in twin.events] == [event.SerializeToString()]
    assert twin.SerializeToString() == ours.SerializeToString()


def shape(field: FieldDescriptor) -> tuple[object, ...]:
    """What a field is on the wire; an event counts as its bytes, any other message as its name."""
    is_event = field.message_type is event_pb2.Event.DESCRIPTOR
    kind = FieldDescriptor.TYPE_BYTES if is_event else field.type
    inner = "" if is_event or field.message_type is None else field.message_type.name
    oneof = "" if field.containing_oneof is None else field.containing_oneof.name
    return field.number, field.name, kind, inner, field.is_repeated, oneof
