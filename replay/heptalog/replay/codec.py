"""Events between their bytes and the structs that rules fold.

A record is the canonical protobuf of a whole event: fields in number order, defaults omitted, nothing unknown. The two
chain fields have the lowest numbers, so a record is

    0A 20 | previous hash | 12 20 | hash | content

and the content of an event without seals is, byte for byte, its public form (see `heptalog.replay.evidence.chain`).

There are two ways to read. The quick one (`heptalog.replay.envelope`) takes what is plainly canonical apart by hand.
Everything else takes the exact one, through protobuf, which alone decides what is wrong with it.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from google.protobuf.message import DecodeError, Message
from google.protobuf.timestamp_pb2 import Timestamp

from heptalog.replay import bodies, envelope
from heptalog.replay.bodies import BODIES, KINDS, NotPlain
from heptalog.replay.envelope import CONTENT_START
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Unavailable
from heptalog.replay.events import Body, Event
from heptalog.replay.evidence.chain import link
from heptalog.replay.mapping import misfit
from heptalog.replay.times import SECOND, TIME_END
from heptalog.v1 import event_pb2 as pb

__all__ = ["BODIES", "CONTENT_START"]

PREVIOUS_TAG: Final = b"\x0a\x20"
HASH_TAG: Final = b"\x12\x20"
# The fields of an event that are the same in its message.
_PLAIN: Final = ("game_id", "sequence", "event_id", "recorded_by", "previous_hash", "hash")
_KINDS_BY_NAME: Final = {kind.name: kind for kind in KINDS.values()}


def event_of(message: pb.Event) -> Event:
    """The event in a message. Raises Malformed for a missing body, a missing or unknown enum value, a bad time."""
    name = message.WhichOneof("body")
    if name is None:
        raise Malformed(Code.BODY_MISSING, rule="game-file")
    return Event(
        message.sequence,
        _KINDS_BY_NAME[name].read(getattr(message, name)),
        message.game_id,
        message.event_id,
        _nanoseconds(message.occurred_at, "occurred_at") if message.HasField("occurred_at") else 0,
        _nanoseconds(message.recorded_at, "recorded_at") if message.HasField("recorded_at") else 0,
        message.recorded_by,
        message.previous_hash,
        message.hash,
    )


def message_of(event: Event) -> pb.Event:
    """The message of an event. Raises Malformed where a value does not fit its field."""
    kind = KINDS[type(event.body)]
    try:
        message = pb.Event(
            previous_hash=event.previous_hash,
            hash=event.hash,
            game_id=event.game_id,
            sequence=event.sequence,
            event_id=event.event_id,
            recorded_by=event.recorded_by,
            **{kind.name: kind.write(event.body)},
        )
        # Set where they stand: to make a time of its own and copy it costs as much as all other fields.
        if event.occurred_at:
            time = message.occurred_at
            time.seconds, time.nanos = divmod(event.occurred_at, SECOND)
        if event.recorded_at:
            time = message.recorded_at
            time.seconds, time.nanos = divmod(event.recorded_at, SECOND)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError):
        raise _misfit(event, kind) from None
    return message


def _misfit(event: Event, kind: bodies.Kind) -> Malformed:
    """What does not fit into the message of an event, after it has not."""
    values = [(name, getattr(event, name)) for name in _PLAIN]
    found = misfit(pb.Event.DESCRIPTOR, [*values, (kind.name, event.body)])
    if found is None:
        times = [name for name in ("occurred_at", "recorded_at") if not _is_time(getattr(event, name))]
        found = (times[0], "not a time in nanoseconds since 1970 UTC") if times else (kind.name, "not of its form")
    path, problem = found
    return Malformed(Code.FIELD_INVALID, rule="game-file", field=path, problem=problem)


def _is_time(value: object) -> bool:
    return isinstance(value, int) and -1 << 63 <= value // SECOND < 1 << 63


def timestamp(nanoseconds: int) -> Timestamp:
    """A protobuf time from nanoseconds since 1970 UTC."""
    return Timestamp(seconds=nanoseconds // SECOND, nanos=nanoseconds % SECOND)


def parse(data: bytes) -> pb.Event:
    """The message in these bytes. Raises Malformed where they are not an Event, or have fields unknown here."""
    try:
        message = pb.Event.FromString(data)
    except DecodeError as error:
        raise Malformed(Code.NOT_PROTOBUF, rule="evidence") from error
    check_known(message)
    return message


def check_known(message: Message) -> None:
    """Raise Malformed where a message, at any depth, has fields unknown here: Python would keep them silently."""
    size = message.ByteSize()
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    if known.ByteSize() != size:
        raise Malformed(Code.FIELD_UNKNOWN, rule="evidence", field="")


def content_of(event: Event) -> bytes:
    """The canonical bytes of an event without its chain fields."""
    try:
        return envelope.front_of(event) + bodies.field_of(event.body)
    except NotPlain:
        return _content(message_of(event))


def public_form(event: Event) -> bytes:
    """The bytes that the chain covers: the content without sealed values and salts."""
    return forms_of(event)[1]


def forms_of(event: Event) -> tuple[bytes, bytes]:
    """The content of an event and its public form."""
    try:
        return forms_with(envelope.front_of(event), event.body)
    except NotPlain:
        message = message_of(event)
        content = _content(message)
        return content, _public(message, event.body) if event.body.sealed else content


def forms_with(front: bytes, body: Body) -> tuple[bytes, bytes]:
    """The same of the fields before its body, and that. Raises NotPlain where a value does not fit its field."""
    if not body.sealed:
        content = front + bodies.field_of(body)
        return content, content
    field, public = bodies.fields_of(body)
    return front + field, front + public


def chained(event: Event, previous: bytes) -> tuple[Event, bytes]:
    """The event linked to the one before it, and its record."""
    content, public = forms_of(event)
    digest, record = record_from(content, previous, public)
    return linked(event, previous, digest), record


def linked(event: Event, previous: bytes, digest: bytes) -> Event:
    """The event with these two links."""
    # By hand: `replace` costs four times as much.
    return Event(
        event.sequence,
        event.body,
        event.game_id,
        event.event_id,
        event.occurred_at,
        event.recorded_at,
        event.recorded_by,
        previous,
        digest,
    )


def record_from(content: bytes, previous: bytes, public: bytes | None = None) -> tuple[bytes, bytes]:
    """The hash and the record of an event with this content, after the event with the hash `previous`.

    The public form is that of `public_form`; where nothing in the event is sealed that is the content, and may be left
    out.
    """
    digest = link(previous, content if public is None else public)
    return digest, joined(previous, digest, content)


def joined(previous: bytes, digest: bytes, content: bytes) -> bytes:
    """The record of an event with this content and these two links."""
    return PREVIOUS_TAG + previous + HASH_TAG + digest + content


def records_from(contents: Iterable[bytes], digests: Sequence[bytes], previous: bytes) -> list[bytes]:
    """The records of consecutive events with these contents and hashes, the first after the hash `previous`."""
    return list(map(joined, (previous, *digests[:-1]), digests, contents))


def encode(event: Event) -> bytes:
    """The canonical bytes of a whole event, with its chain fields as they are."""
    if not event.hash and not event.previous_hash:
        return content_of(event)
    return message_of(event).SerializeToString(deterministic=True)


def decode(record: bytes) -> tuple[Event, bytes]:
    """The event in a record and its public form. Raises Malformed or Corrupt where the bytes are no record.

    Raises Unavailable (RECORD_NEWER) where they are whole and a newer version has written them: that is no damage.
    """
    if record[:2] == PREVIOUS_TAG and record[34:36] == HASH_TAG:
        read = envelope.read(record, CONTENT_START)
        if read is not None:
            return read
    return decode_exactly(record)


def decode_exactly(record: bytes) -> tuple[Event, bytes]:
    """The same through protobuf alone."""
    if record[:2] != PREVIOUS_TAG or record[34:36] != HASH_TAG:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence")
    try:
        message = pb.Event.FromString(record)
    except DecodeError as error:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence") from error
    # A record reads back to the very same bytes. There are no maps, so plain serialisation is the canonical one.
    # Fields unknown here would be kept and written again where they stood, so they go first.
    message.DiscardUnknownFields()
    if message.SerializeToString() != record:
        raise _newer_or_damaged(record)
    try:
        event = event_of(message)
    except Malformed as error:
        if _has_unknown_values(message):
            raise _newer_or_damaged(record) from error
        raise
    return event, _public(message, event.body) if event.body.sealed else record[CONTENT_START:]


def read_event(data: bytes) -> Event | None:
    """The event in canonical bytes, with or without links, as `event_of` reads it from their message.

    None where they are not plainly canonical: then it is for `parse` and `event_of` to say what they are.
    """
    if data[:2] == PREVIOUS_TAG:
        read = envelope.read(data, CONTENT_START) if data[34:36] == HASH_TAG else None
    else:
        read = envelope.read(data, 0)
    return None if read is None else read[0]


def hash_in(record: bytes) -> bytes:
    """The hash that a record carries."""
    return record[36:CONTENT_START]


def previous_in(record: bytes) -> bytes:
    """The hash of the event before it, as a record carries it."""
    return record[2:34]


def _newer_or_damaged(record: bytes) -> HeptalogError:
    """What to say of a record with something in it that is not known here.

    Its hash tells: where it is that of what stands there, nothing is damaged, and a newer version knows what it means.
    Only where that version has sealed a value, what it hashed cannot be told from here, and both look alike.
    """
    message = pb.Event.FromString(record)
    if not _has_unknown_fields(message) and not _has_unknown_values(message):
        return Corrupt(Code.RECORD_DAMAGED, rule="evidence")
    if link(previous_in(record), record[CONTENT_START:]) == hash_in(record) or _is_whole(message):
        return Unavailable(Code.RECORD_NEWER)
    problem = "or a newer version has sealed something in them, which looks the same from here"
    return Corrupt(Code.RECORD_DAMAGED, rule="evidence", problem=problem)


def _is_whole(message: pb.Event) -> bool:
    """Whether the hash of a message is that of its public form, what is unknown in it included and taken as public."""
    previous, digest = message.previous_hash, message.hash
    known = pb.Event()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    try:
        public = _public(message, event_of(known).body)
    except Malformed:
        return False
    return link(previous, _in_order(public)) == digest


def _in_order(data: bytes) -> bytes:
    """The fields of a message in the order of their numbers; those within its parts stay where they are."""
    fields: list[tuple[int, bytes]] = []
    start = 0
    while start < len(data):
        tag, at = _varint(data, start)
        value, after = _varint(data, at)
        ends = {0: after, 1: at + 8, 2: after + value, 5: at + 4}
        if tag & 7 not in ends:
            # A group, which no version writes.
            return data
        end = ends[tag & 7]
        fields.append((tag >> 3, data[start:end]))
        start = end
    return b"".join(field for _, field in sorted(fields, key=lambda field: field[0]))


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins here and where it ends; past the end it is 0."""
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        shift += 7
        if byte < 128:
            break
    return value, at


def _has_unknown_fields(message: Message) -> bool:
    try:
        check_known(message)
    except Malformed:
        return True
    return False


def _has_unknown_values(message: Message) -> bool:
    """Whether a message, at any depth, has a value of an enum that is unknown here."""
    for field, value in message.ListFields():
        for item in value if field.is_repeated else (value,):
            if field.enum_type is not None and item not in field.enum_type.values_by_number:
                return True
            if isinstance(item, Message) and _has_unknown_values(item):
                return True
    return False


def _content(message: pb.Event) -> bytes:
    message.ClearField("previous_hash")
    message.ClearField("hash")
    return message.SerializeToString(deterministic=True)


def _public(message: pb.Event, body: Body) -> bytes:
    """The public form of a message, which is used up: its sealed values and salts are taken out in place."""
    bodies.hide(getattr(message, KINDS[type(body)].name), body)
    return _content(message)


def _nanoseconds(time: Timestamp, name: str) -> int:
    seconds = time.seconds
    nanos = time.nanos
    if not (0 < seconds < TIME_END and 0 <= nanos < SECOND):
        raise Malformed(Code.FIELD_INVALID, rule="game-file", field=name, problem="a time after 1970, before 10000")
    return seconds * SECOND + nanos
