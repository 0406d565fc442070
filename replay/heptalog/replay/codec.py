"""Between protobuf and the structs that rules fold; the one module of replay that knows `heptalog.v1`.

Both directions are derived once, at import, from the fields of the structs, so that a new event needs no line here.
A record is the canonical protobuf of a whole event: fields in number order, defaults omitted, nothing unknown. The two
chain fields have the lowest numbers, so a record is

    0A 20 | previous hash | 12 20 | hash | content

and the content of an event without seals is, byte for byte, its public form (see `heptalog.replay.chain`).
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, TypeAlias, get_args, get_origin

from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import FieldInfo, fields, replace

from heptalog.replay.chain import link
from heptalog.replay.errors import Code, Corrupt, Malformed
from heptalog.replay.events import RULINGS, Body, Event, GameStarted, snake_name
from heptalog.replay.registry import GAMES
from heptalog.replay.seals import is_sealed, redact
from heptalog.v1 import event_pb2 as pb

# Every body there is, each once.
BODIES: Final[tuple[type[Body], ...]] = tuple(
    dict.fromkeys((GameStarted, *RULINGS, *(body for rules in GAMES for body in rules.bodies)))
)
SECOND: Final = 1_000_000_000

_PREVIOUS_TAG: Final = b"\x0a\x20"
_HASH_TAG: Final = b"\x12\x20"
_CONTENT_START: Final = 68

Reader: TypeAlias = Callable[[Any], Any]
Writer: TypeAlias = Callable[[Any], Message]


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
        _nanoseconds(message, "occurred_at") if message.HasField("occurred_at") else 0,
        _nanoseconds(message, "recorded_at") if message.HasField("recorded_at") else 0,
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
            **{name: write(event.body)},  # type: ignore[arg-type]  # the name is the body's own
        )
    except (TypeError, ValueError) as error:
        raise Malformed(Code.FIELD_INVALID, rule="game-file", field=name, problem=str(error)) from error
    if event.occurred_at:
        message.occurred_at.CopyFrom(timestamp(event.occurred_at))
    if event.recorded_at:
        message.recorded_at.CopyFrom(timestamp(event.recorded_at))
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
    return message_of(replace(event, previous_hash=b"", hash=b"")).SerializeToString(deterministic=True)


def public_form(event: Event) -> bytes:
    """The bytes that the chain covers: the content without sealed values and salts."""
    return content_of(replace(event, body=redact(event.body)))


def public_content(event: Event, content: bytes) -> bytes:
    """The public form of an event whose content is at hand, which mostly is the same."""
    return public_form(event) if is_sealed(event.body) else content


def chained(event: Event, previous: bytes) -> tuple[Event, bytes]:
    """The event linked to the one before it, and its record."""
    content = content_of(event)
    digest = link(previous, public_content(event, content))
    record = _PREVIOUS_TAG + previous + _HASH_TAG + digest + content
    return replace(event, previous_hash=previous, hash=digest), record


def encode(event: Event) -> bytes:
    """The canonical bytes of a whole event, with its chain fields as they are."""
    return message_of(event).SerializeToString(deterministic=True)


def decode(record: bytes) -> tuple[Event, bytes]:
    """The event in a record and its public form. Raises Malformed or Corrupt where the bytes are no record."""
    if record[:2] != _PREVIOUS_TAG or record[34:36] != _HASH_TAG:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence")
    message = parse_trusted(record)
    event = event_of(message)
    content = record[_CONTENT_START:]
    return event, public_form(event) if event.body.sealed and is_sealed(event.body) else content


def parse_trusted(record: bytes) -> pb.Event:
    """The message in a record; damaged where it does not read back to the very same bytes."""
    try:
        message = pb.Event.FromString(record)
    except DecodeError as error:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence") from error
    if message.SerializeToString(deterministic=True) != record:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence")
    return message


def hash_in(record: bytes) -> bytes:
    """The hash that a record carries."""
    return record[36:_CONTENT_START]


def _nanoseconds(message: pb.Event, name: str) -> int:
    time: Timestamp = getattr(message, name)
    if not (time.seconds > 0 and 0 <= time.nanos < SECOND):
        raise Malformed(Code.FIELD_INVALID, rule="game-file", field=name, problem="a time after 1970")
    return time.seconds * SECOND + time.nanos


# How a struct is read from its message and written to it.


def _reader(part: type[Struct], descriptor: Descriptor) -> Reader:
    """Read a message into `part`, whose fields have the same names."""
    infos = fields(part)
    if not infos:
        return lambda _: part()
    getters = [_getter(info, descriptor) for info in infos]
    if all(isinstance(getter, attrgetter) for getter in getters):
        # The common, small events: one call fetches all fields.
        if len(infos) == 1:
            (only,) = getters
            return lambda message: part(only(message))
        every = attrgetter(*(info.name for info in infos))
        return lambda message: part(*every(message))
    return lambda message: part(*[getter(message) for getter in getters])


def _getter(info: FieldInfo, descriptor: Descriptor) -> Reader:
    name = info.name
    plain: Reader = attrgetter(name)
    kind, is_many, is_optional = _shape(info.type)
    field = descriptor.fields_by_name[name]
    if issubclass(kind, Struct):
        read = _reader(kind, field.message_type)
        if is_many:
            return lambda message: tuple([read(item) for item in plain(message)])
        if is_optional:
            return lambda message: read(plain(message)) if message.HasField(name) else UNSET
        return lambda message: read(plain(message))
    if issubclass(kind, StrEnum):
        return _enum_getter(name, kind, field.enum_type, is_optional=is_optional)
    if is_many:
        return lambda message: tuple(plain(message))
    if is_optional:
        return lambda message: plain(message) if message.HasField(name) else UNSET
    return plain


def _enum_getter(name: str, kind: type[StrEnum], enum: EnumDescriptor, *, is_optional: bool) -> Reader:
    plain = attrgetter(name)
    members: dict[int, object] = {value.number: kind(value.name) for value in enum.values if value.number}
    if is_optional:
        members[0] = UNSET

    def read(message: Message) -> object:
        number = plain(message)
        try:
            return members[number]
        except KeyError:
            raise Malformed(
                Code.FIELD_INVALID, rule="game-file", field=f"{snake_name(kind)}.{name}", problem=f"no value {number}"
            ) from None

    return read


def _writer(part: type[Struct], descriptor: Descriptor) -> Writer:
    """Write `part` into a message of its own."""
    message_class = GetMessageClass(descriptor)
    setters = [(info.name, _setter(info, descriptor)) for info in fields(part)]

    def write(struct: Struct) -> Message:
        values = {name: getattr(struct, name) for name, _ in setters}
        return message_class(
            **{name: set_(values[name]) for name, set_ in setters if values[name] is not UNSET}
        )

    return write


def _setter(info: FieldInfo, descriptor: Descriptor) -> Callable[[Any], Any]:
    kind, is_many, _ = _shape(info.type)
    field = descriptor.fields_by_name[info.name]
    if issubclass(kind, Struct):
        write = _writer(kind, field.message_type)
        return (lambda items: [write(item) for item in items]) if is_many else write
    if issubclass(kind, StrEnum):
        numbers = {value.name: value.number for value in field.enum_type.values}
        return lambda value: numbers[value]
    return lambda value: value


def _shape(annotation: Any) -> tuple[type, bool, bool]:
    """What an annotation says: the type of one value, whether there are many, whether it may be absent."""
    is_optional = False
    if UnsetType in get_args(annotation):
        is_optional = True
        (annotation,) = (choice for choice in get_args(annotation) if choice is not UnsetType)
    is_many = get_origin(annotation) is tuple
    if is_many:
        annotation = get_args(annotation)[0]
    # Annotated[int, …] carries a range for the reader of game files; here it is an int.
    kind: type = getattr(annotation, "__origin__", annotation)
    return kind, is_many, is_optional


def _started_reader() -> Reader:
    """Read gameStarted, whose rules stand under the name of their game."""
    descriptor = pb.GameStarted.DESCRIPTOR
    options = {
        snake_name(rules.options): _reader(rules.options, descriptor.fields_by_name[snake_name(rules.options)].message_type)
        for rules in GAMES
    }
    getters = {info.name: _getter(info, descriptor) for info in fields(GameStarted) if info.name != "rules"}

    def read(message: pb.GameStarted) -> GameStarted:
        name = message.WhichOneof("rules")
        if name is None:
            raise Malformed(Code.FIELD_INVALID, rule="game-file", field="game_started", problem="the rules are missing")
        given = {field: getter(message) for field, getter in getters.items()}
        return GameStarted(rules=options[name](getattr(message, name)), **given)

    return read


def _started_writer() -> Writer:
    descriptor = pb.GameStarted.DESCRIPTOR
    options = {
        rules.options: _writer(rules.options, descriptor.fields_by_name[snake_name(rules.options)].message_type)
        for rules in GAMES
    }
    setters = {info.name: _setter(info, descriptor) for info in fields(GameStarted) if info.name != "rules"}

    def write(started: GameStarted) -> pb.GameStarted:
        given = {
            name: set_(value) for name, set_ in setters.items() if (value := getattr(started, name)) is not UNSET
        }
        return pb.GameStarted(**given, **{snake_name(type(started.rules)): options[type(started.rules)](started.rules)})

    return write


def _descriptor(body: type[Body]) -> Descriptor:
    descriptor: Descriptor = pb.Event.DESCRIPTOR.fields_by_name[snake_name(body)].message_type
    return descriptor


_READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        snake_name(body): _started_reader() if body is GameStarted else _reader(body, _descriptor(body))
        for body in BODIES
    }
)
_WRITERS: Final[Mapping[type[Body], tuple[str, Writer]]] = MappingProxyType(
    {
        body: (snake_name(body), _started_writer() if body is GameStarted else _writer(body, _descriptor(body)))
        for body in BODIES
    }
)
