"""The body of an event between its field in a record and the struct that rules fold.

Both directions are derived once, at import, from the fields of the structs, so that a new event needs no line here.

Most of what is played are a few thousand small bodies, again and again, and what the bytes of one mean never changes:
so it is remembered. What could hide a value, with or without its seal, is never kept.
"""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from msgspec import UNSET, Struct, msgpack
from msgspec.structs import fields

from heptalog.replay.errors import Code, Malformed
from heptalog.replay.events import RULINGS, Body, GameStarted, snake_name
from heptalog.replay.mapping import Reader, Writer, getter_of, message_at, reader, setter_of, writer
from heptalog.replay.registry import GAMES, OPTIONS
from heptalog.v1 import event_pb2 as pb

# Every body there is, each once; also those that are only read any more.
BODIES: Final[tuple[type[Body], ...]] = tuple(
    dict.fromkeys((GameStarted, *RULINGS, *(body for rules in GAMES for body in (*rules.bodies, *rules.upcasts))))
)
# Bytes of a field that is worth remembering: no move of any game needs more.
SMALL: Final = 24
REMEMBERED_MAX: Final = 4096
_SMALL_PACKED: Final = 128
_pack: Final = msgpack.Encoder().encode


class NotPlain(Exception):
    """These bytes are not plainly canonical and known: what they are is for the exact way to say."""


class Kind(NamedTuple):
    """How bodies of one kind are read and written."""

    body: type[Body]
    name: str
    tag: bytes
    message: type[Message]
    read: Reader
    write: Writer
    is_remembered: bool


@lru_cache(maxsize=REMEMBERED_MAX)
def small_body(field: bytes) -> Body:
    """The body in its field, if it is small. Raises NotPlain, also for all that is not remembered."""
    kind = _kind_in(field)
    if not kind.is_remembered or len(field) > SMALL:
        raise NotPlain
    return _read(kind, _message_in(kind, field))


def body_in(field: bytes) -> tuple[Body, bytes]:
    """The body in its field, and the field as the public form has it. Raises NotPlain."""
    kind = _kind_in(field)
    message = _message_in(kind, field)
    body = _read(kind, message)
    return body, _public(kind, message, body) if body.sealed else field


def field_of(body: Body) -> bytes:
    """The canonical field of a body. Raises NotPlain where a value does not fit its field."""
    try:
        kind = KINDS[type(body)]
        if kind.is_remembered and len(packed := _pack(body)) <= _SMALL_PACKED:
            return _small_field(body, packed)
        return _field(kind, kind.message(**kind.write(body)))
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError):
        raise NotPlain from None


def fields_of(body: Body) -> tuple[bytes, bytes]:
    """The canonical field of a body that can be sealed, and the same in the public form. Raises NotPlain."""
    kind = KINDS[type(body)]
    try:
        message = kind.message(**kind.write(body))
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError):
        raise NotPlain from None
    return _field(kind, message), _public(kind, message, body)


@lru_cache(maxsize=REMEMBERED_MAX)
def _small_field(body: Body, _: bytes) -> bytes:
    """The field of a body, with its MessagePack beside it.

    Structs are equal where their values are, and 1.0 is equal to 1; packed they are not, so neither answers for the
    other.
    """
    kind = KINDS[type(body)]
    return _field(kind, kind.message(**kind.write(body)))


def hide(message: Any, body: Body) -> None:
    """Take the sealed values and the salts out of the message of a body."""
    for name in body.sealed:
        hidden = getattr(message, name) if name else message
        parts = getattr(body, name) if name else body
        pairs: Any = [(hidden, parts)] if isinstance(parts, Struct) else zip(hidden, parts, strict=True)
        for sealed, part in pairs:
            if part.seal is not UNSET:
                sealed.ClearField(part.value_field)
                sealed.seal.ClearField("salt")


def _kind_in(field: bytes) -> Kind:
    kind = _BY_TAG.get(field[:2])
    if kind is None:
        raise NotPlain
    return kind


def _message_in(kind: Kind, field: bytes) -> Message:
    """The message in a field that ends where it should, is canonical, and has nothing in it that is unknown."""
    start = 3 if len(field) < 3 + 128 else 4 if len(field) < 4 + 16_384 else 5
    data = field[start:]
    if field[2:start] != varint(len(data)):
        raise NotPlain
    try:
        message = kind.message.FromString(data)
    except DecodeError:
        raise NotPlain from None
    # There are no maps, so plain serialisation is the canonical one.
    # Fields unknown here would be kept and written again where they stood, so they go first.
    message.DiscardUnknownFields()
    if message.SerializeToString() != data:
        raise NotPlain
    return message


def _read(kind: Kind, message: Message) -> Body:
    try:
        body: Body = kind.read(message)
    except Malformed:
        raise NotPlain from None
    return body


def _public(kind: Kind, message: Message, body: Body) -> bytes:
    """The field in its public form; the message is used up."""
    hide(message, body)
    return _field(kind, message)


def _field(kind: Kind, message: Message) -> bytes:
    data = message.SerializeToString(deterministic=True)
    return kind.tag + varint(len(data)) + data


def varint(number: int) -> bytes:
    """A number of at least 0 in its shortest form."""
    if number < 128:
        return bytes((number,))
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes((*digits, number))


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


def _kind(body: type[Body]) -> Kind:
    name = snake_name(body)
    field = pb.Event.DESCRIPTOR.fields_by_name[name]
    tag = varint(field.number << 3 | 2)
    assert len(tag) == 2, "the fields of bodies have numbers from 16 to 2047"
    descriptor = message_at(pb.Event.DESCRIPTOR, name)
    is_started = body is GameStarted
    return Kind(
        body,
        name,
        tag,
        GetMessageClass(descriptor),
        _started_reader() if is_started else reader(body, descriptor),
        _started_writer() if is_started else writer(body, descriptor),
        is_remembered=not body.sealed and not is_started,
    )


KINDS: Final[Mapping[type[Body], Kind]] = MappingProxyType({body: _kind(body) for body in BODIES})
_BY_TAG: Final[Mapping[bytes, Kind]] = MappingProxyType({kind.tag: kind for kind in KINDS.values()})
