"""Between protobuf and the structs that rules fold; the one module of replay that knows `heptalog.v1`.

Both directions are derived once, at import, from the fields of the structs, so that a new event needs no line here.
A record is the canonical protobuf of a whole event: fields in number order, defaults omitted, nothing unknown. The two
chain fields have the lowest numbers, so a record is

    0A 20 | previous hash | 12 20 | hash | content

and the content of an event without seals is, byte for byte, its public form (see `heptalog.replay.evidence.chain`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from google.protobuf.message import DecodeError, Message
from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.unknown_fields import UnknownFieldSet
from msgspec import UNSET, Struct
from msgspec.structs import fields, replace

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Unavailable
from heptalog.replay.events import RULINGS, Body, Event, GameStarted, snake_name
from heptalog.replay.evidence.chain import link
from heptalog.replay.mapping import Reader, Writer, getter_of, message_at, reader, setter_of, writer
from heptalog.replay.registry import GAMES, OPTIONS
from heptalog.v1 import event_pb2 as pb

# Every body there is, each once; also those that are only read any more.
BODIES: Final[tuple[type[Body], ...]] = tuple(
    dict.fromkeys((GameStarted, *RULINGS, *(body for rules in GAMES for body in (*rules.bodies, *rules.upcasts))))
)
SECOND: Final = 1_000_000_000
TIME_END: Final = 253_402_300_800  # the year 10000 in seconds, which no text can say

_PREVIOUS_TAG: Final = b"\x0a\x20"
_HASH_TAG: Final = b"\x12\x20"
CONTENT_START: Final = 68  # of a record, after its two links


def event_of(message: pb.Event) -> Event:
    """The event in a message. Raises Malformed for a missing body, a missing or unknown enum value, a bad time."""
    name = message.WhichOneof("body")
    if name is None:
        raise Malformed(Code.BODY_MISSING, rule="game-file")
    return Event(
        message.sequence,
        _READERS[name](getattr(message, name)),
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
    name, write = _WRITERS[type(event.body)]
    try:
        message = pb.Event(
            previous_hash=event.previous_hash,
            hash=event.hash,
            game_id=event.game_id,
            sequence=event.sequence,
            event_id=event.event_id,
            recorded_by=event.recorded_by,
            **{name: write(event.body)},
        )
    except (TypeError, ValueError) as error:
        raise Malformed(Code.FIELD_INVALID, rule="game-file", field=name, problem=str(error)) from error
    # Set where they stand: to make a time of its own and copy it costs as much as all other fields.
    if event.occurred_at:
        time = message.occurred_at
        time.seconds, time.nanos = divmod(event.occurred_at, SECOND)
    if event.recorded_at:
        time = message.recorded_at
        time.seconds, time.nanos = divmod(event.recorded_at, SECOND)
    return message


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
    return _content(message_of(event))


def public_form(event: Event) -> bytes:
    """The bytes that the chain covers: the content without sealed values and salts."""
    return _public(message_of(event), event.body)


def chained(event: Event, previous: bytes) -> tuple[Event, bytes]:
    """The event linked to the one before it, and its record."""
    message = message_of(event)
    content = _content(message)
    digest = link(previous, _public(message, event.body) if event.body.sealed else content)
    record = _PREVIOUS_TAG + previous + _HASH_TAG + digest + content
    return replace(event, previous_hash=previous, hash=digest), record


def encode(event: Event) -> bytes:
    """The canonical bytes of a whole event, with its chain fields as they are."""
    return message_of(event).SerializeToString(deterministic=True)


def record_of(message: pb.Event) -> bytes:
    """The record that was parsed into a message, byte for byte."""
    data = message.SerializeToString(deterministic=True)
    # Python writes what is unknown to it last; a record has the fields of the envelope in the order of their numbers.
    return _in_order(data) if len(UnknownFieldSet(message)) else data


def decode(record: bytes) -> tuple[Event, bytes]:
    """The event in a record and its public form. Raises Malformed or Corrupt where the bytes are no record.

    Raises Unavailable (RECORD_NEWER) where they are whole and a newer version has written them: that is no damage.
    """
    if record[:2] != _PREVIOUS_TAG or record[34:36] != _HASH_TAG:
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


def hash_in(record: bytes) -> bytes:
    """The hash that a record carries."""
    return record[36:CONTENT_START]


def _newer_or_damaged(record: bytes) -> HeptalogError:
    """What to say of a record with something in it that is not known here.

    Its hash tells: where it is that of what stands there, nothing is damaged, and a newer version knows what it means.
    Only where that version has sealed a value, what it hashed cannot be told from here, and both look alike.
    """
    message = pb.Event.FromString(record)
    if not _has_unknown_fields(message) and not _has_unknown_values(message):
        return Corrupt(Code.RECORD_DAMAGED, rule="evidence")
    if link(record[2:34], record[CONTENT_START:]) == hash_in(record) or _is_whole(message):
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
    inner = getattr(message, _WRITERS[type(body)][0])
    for name in body.sealed:
        hidden = getattr(inner, name) if name else inner
        parts = getattr(body, name) if name else body
        pairs: Any = [(hidden, parts)] if isinstance(parts, Struct) else zip(hidden, parts, strict=True)
        for sealed, part in pairs:
            if part.seal is not UNSET:
                sealed.ClearField(part.value_field)
                sealed.seal.ClearField("salt")
    return _content(message)


def _nanoseconds(time: Timestamp, name: str) -> int:
    seconds = time.seconds
    nanos = time.nanos
    if not (0 < seconds < TIME_END and 0 <= nanos < SECOND):
        raise Malformed(Code.FIELD_INVALID, rule="game-file", field=name, problem="a time after 1970, before 10000")
    return seconds * SECOND + nanos


def _started_reader() -> Reader:
    """Read gameStarted, whose rules stand under the name of their game."""
    descriptor = pb.GameStarted.DESCRIPTOR
    options = {name: reader(kind, message_at(descriptor, name)) for kind in OPTIONS for name in [snake_name(kind)]}
    getters = {info.name: getter_of(info, descriptor) for info in fields(GameStarted) if info.name != "rules"}

    def read(message: pb.GameStarted) -> GameStarted:
        name = message.WhichOneof("rules")
        if name is None:
            raise Malformed(Code.FIELD_INVALID, rule="game-file", field="game_started", problem="the rules are missing")
        given = {field: getter(message) for field, getter in getters.items()}
        try:
            return GameStarted(rules=options[name](getattr(message, name)), **given)
        except Malformed as error:
            error.facts["field"] = f"game_started.{error.facts['field']}"
            raise

    return read


def _started_writer() -> Writer:
    descriptor = pb.GameStarted.DESCRIPTOR
    options = {
        kind: (name, writer(kind, message_at(descriptor, name))) for kind in OPTIONS for name in [snake_name(kind)]
    }
    setters = {info.name: setter_of(info, descriptor) for info in fields(GameStarted) if info.name != "rules"}

    def write(started: GameStarted) -> dict[str, Any]:
        given = {name: set_(value) for name, set_ in setters.items() if (value := getattr(started, name)) is not UNSET}
        name, write_options = options[type(started.rules)]
        given[name] = write_options(started.rules)
        return given

    return write


_READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        name: _started_reader() if body is GameStarted else reader(body, message_at(pb.Event.DESCRIPTOR, name))
        for body in BODIES
        for name in [snake_name(body)]
    }
)
_WRITERS: Final[Mapping[type[Body], tuple[str, Writer]]] = MappingProxyType(
    {
        body: (
            name,
            _started_writer() if body is GameStarted else writer(body, message_at(pb.Event.DESCRIPTOR, name)),
        )
        for body in BODIES
        for name in [snake_name(body)]
    }
)
