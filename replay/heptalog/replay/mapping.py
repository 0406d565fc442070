"""How structs are read from their messages and written to them, derived from the fields that the two share by name."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, TypeAlias, get_args, get_origin

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import FieldInfo, fields

from heptalog.replay.errors import Code, Malformed
from heptalog.replay.events import snake_case

Reader: TypeAlias = Callable[[Any], Any]
Writer: TypeAlias = Callable[[Any], Any]

# What is wrong with a value of another form; all other fields are whole numbers.
_NEEDS: Final[Mapping[int, str]] = MappingProxyType(
    {
        FieldDescriptor.TYPE_BOOL: "neither true nor false",
        FieldDescriptor.TYPE_BYTES: "not bytes",
        FieldDescriptor.TYPE_ENUM: "not one of its values",
        FieldDescriptor.TYPE_MESSAGE: "not of its kind",
        FieldDescriptor.TYPE_STRING: "not text",
    }
)


def reader(part: type[Struct], descriptor: Descriptor) -> Reader:
    """Read a message into `part`, whose fields have the same names."""
    infos = fields(part)
    if not infos:
        return lambda _: part()
    getters = [getter_of(info, descriptor) for info in infos]
    if all(isinstance(getter, attrgetter) for getter in getters):
        # The common, small events: one call fetches all fields.
        if len(infos) == 1:
            (only,) = getters
            return lambda message: part(only(message))
        every = attrgetter(*(info.name for info in infos))
        return lambda message: part(*every(message))
    if len(getters) == 2:
        # Hands, of which there are most.
        first, second = getters
        return lambda message: part(first(message), second(message))
    return lambda message: part(*[getter(message) for getter in getters])


def getter_of(info: FieldInfo, descriptor: Descriptor) -> Reader:
    """Read one field of a message."""
    name = info.name
    plain: Reader = attrgetter(name)
    kind, is_many, is_optional = _shape(info.type)
    if issubclass(kind, Struct):
        read = reader(kind, message_at(descriptor, name))
        if is_many:
            return lambda message: tuple([read(item) for item in plain(message)[:]])
        if is_optional:
            return lambda message: read(plain(message)) if message.HasField(name) else UNSET
        return lambda message: read(plain(message))
    if issubclass(kind, StrEnum):
        return _enum_getter(descriptor.fields_by_name[name], kind, is_optional=is_optional)
    if is_many:
        # A slice is made in one go; to iterate asks for each item by itself.
        return lambda message: tuple(plain(message)[:])
    if is_optional:
        return lambda message: plain(message) if message.HasField(name) else UNSET
    return plain


def _enum_getter(field: FieldDescriptor, kind: type[StrEnum], *, is_optional: bool) -> Reader:
    plain = attrgetter(field.name)
    members: dict[int, object] = {number: kind(name) for name, number in _numbers(field).items() if number}
    assert field.containing_type is not None, "a field of a message"
    path = f"{snake_case(field.containing_type.name)}.{field.name}"
    if is_optional:
        members[0] = UNSET

    def read(message: Message) -> object:
        number = plain(message)
        try:
            return members[number]
        except KeyError:
            raise Malformed(Code.FIELD_INVALID, rule="game-file", field=path, problem=f"no value {number}") from None

    return read


def writer(part: type[Struct], descriptor: Descriptor) -> Writer:
    """Write `part` as the constructor of the message around it takes it: its fields by name."""
    infos = fields(part)
    names = [info.name for info in infos]
    if len(names) > 1 and all(map(_is_plain, infos)):
        # The common, small events: one call fetches all fields.
        every = attrgetter(*names)
        return lambda struct: dict(zip(names, every(struct), strict=True))

    setters = [(info.name, setter_of(info, descriptor)) for info in infos]

    def write(struct: Struct) -> dict[str, Any]:
        given = {}
        for name, set_ in setters:
            value = getattr(struct, name)
            if value is not UNSET:
                given[name] = set_(value)
        return given

    return write


def setter_of(info: FieldInfo, descriptor: Descriptor) -> Writer:
    """What the constructor of a message takes for one field."""
    kind, is_many, _ = _shape(info.type)
    if issubclass(kind, Struct):
        write = writer(kind, message_at(descriptor, info.name))
        return (lambda items: [write(item) for item in items]) if is_many else write
    if issubclass(kind, StrEnum):
        numbers = _numbers(descriptor.fields_by_name[info.name])
        return lambda value: numbers[value]
    return lambda value: value


def misfit(descriptor: Descriptor, values: Iterable[tuple[str, Any]]) -> tuple[str, str] | None:
    """The path of the first value that does not fit its field, and why; None where each does by itself."""
    for name, value in values:
        field = descriptor.fields_by_name.get(name)
        if field is None or value is UNSET or value is None:
            continue
        is_many = field.is_repeated
        if is_many and not isinstance(value, tuple | list):
            return name, "not a list"
        for index, item in enumerate(value if is_many else [value]):
            path = f"{name}[{index}]" if is_many else name
            if field.message_type is not None and isinstance(item, Struct):
                parts = ((info.name, getattr(item, info.name)) for info in fields(type(item)))
                if inner := misfit(field.message_type, parts):
                    return f"{path}.{inner[0]}", inner[1]
            elif not _fits(field, item):
                return path, _NEEDS.get(field.type, "not a whole number in its range")
    return None


def _fits(field: FieldDescriptor, value: Any) -> bool:
    if field.message_type is not None:
        return False
    if field.enum_type is not None:
        return isinstance(value, str) and value in _numbers(field)
    assert field.containing_type is not None, "a field of a message"
    try:
        GetMessageClass(field.containing_type)(**{field.name: [value] if field.is_repeated else value})
    except (OverflowError, TypeError, ValueError):
        return False
    return True


def message_at(descriptor: Descriptor, name: str) -> Descriptor:
    """The type of a field that holds a message."""
    message_type = descriptor.fields_by_name[name].message_type
    assert message_type is not None, f"{name} holds a message"
    return message_type


def _numbers(field: FieldDescriptor) -> dict[str, int]:
    assert field.enum_type is not None, f"{field.name} holds an enum"
    return {value.name: value.number for value in field.enum_type.values}


def _is_plain(info: FieldInfo) -> bool:
    """Whether a field is always there, and the same in the struct and in the message."""
    kind, _, is_optional = _shape(info.type)
    return not is_optional and not issubclass(kind, Struct | StrEnum)


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
