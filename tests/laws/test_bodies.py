"""Structs and protobuf messages are two spellings of one thing: the same fields, kinds, presence and enum values."""

from enum import StrEnum
from typing import Any, get_args, get_origin

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from msgspec import NODEFAULT, Meta, Struct, UnsetType
from msgspec.structs import FieldInfo, fields

from heptalog.replay.codec import BODIES
from heptalog.replay.events import RULINGS, Event, GameStarted, snake_name
from heptalog.replay.registry import GAMES
from heptalog.v1 import event_pb2 as pb

CHAIN_FIELDS = {"previous_hash": 1, "hash": 2}
ENVELOPE_FIELDS = {
    **CHAIN_FIELDS,
    "game_id": 3,
    "sequence": 4,
    "event_id": 5,
    "occurred_at": 6,
    "recorded_at": 7,
    "recorded_by": 8,
}
RANGES = {
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
}
PLAIN = {
    FieldDescriptor.TYPE_STRING: str,
    FieldDescriptor.TYPE_BYTES: bytes,
    FieldDescriptor.TYPE_BOOL: bool,
    FieldDescriptor.TYPE_UINT32: int,
    FieldDescriptor.TYPE_INT32: int,
}


@pytest.mark.parametrize("body", BODIES, ids=snake_name)
def test_a_body_is_its_message(body: type[Struct]) -> None:
    descriptor: Any = pb.Event.DESCRIPTOR.fields_by_name[snake_name(body)].message_type
    assert descriptor.name == body.__name__
    if body is GameStarted:
        infos = {info.name: info for info in fields(body) if info.name != "rules"}
        options = {snake_name(rules.options) for rules in GAMES}
        assert {field.name for field in descriptor.oneofs_by_name["rules"].fields} == options
        for rules in GAMES:
            _compare(rules.options, descriptor.fields_by_name[snake_name(rules.options)].message_type)
        _compare_fields(infos, {field.name: field for field in descriptor.fields if field.name not in options})
    else:
        _compare(body, descriptor)


def test_every_body_of_the_record_is_a_struct_and_the_other_way_round() -> None:
    recorded = {field.name for field in pb.Event.DESCRIPTOR.oneofs_by_name["body"].fields}
    assert recorded == {snake_name(body) for body in BODIES}
    known = {GameStarted, *RULINGS, *(body for rules in GAMES for body in rules.bodies)}
    assert known == set(BODIES)


def test_the_envelope_is_the_rest_of_the_message() -> None:
    bodies = {snake_name(body) for body in BODIES}
    rest = {field.name: field.number for field in pb.Event.DESCRIPTOR.fields if field.name not in bodies}
    assert rest == ENVELOPE_FIELDS
    assert {info.name for info in fields(Event)} - {"body"} == set(rest)


@pytest.mark.parametrize("body", BODIES, ids=snake_name)
def test_what_is_sealed_can_be_sealed(body: Any) -> None:
    infos = {info.name: info for info in fields(body)}
    for name in body.sealed:
        part: Any = _kind(infos[name])[0] if name else body
        parts = {info.name for info in fields(part)}
        assert {"seal", part.value_field} <= parts
    holders = {info.name for info in infos.values() if "seal" in getattr(_kind(info)[0], "__struct_fields__", ())}
    assert holders == {name for name in body.sealed if name}, "every part with a seal is named as hidden"
    assert ("seal" in infos) == (body.sealed == ("",))


def _compare(part: type[Struct], descriptor: Descriptor) -> None:
    _compare_fields({info.name: info for info in fields(part)}, dict(descriptor.fields_by_name))


def _compare_fields(infos: dict[str, FieldInfo], messages: dict[str, Any]) -> None:
    assert set(infos) == set(messages)
    for name, info in infos.items():
        field = messages[name]
        kind, is_many, is_optional, limits = _kind(info)
        assert info.encode_name == field.json_name, "one name in JSON"
        assert is_many == field.is_repeated, name
        if issubclass(kind, StrEnum):
            zero, *values = field.enum_type.values
            assert [value.name for value in values] == [member.value for member in kind]
            assert zero.number == 0
            assert zero.name.endswith("_UNSPECIFIED")
            assert is_optional, "an enum that is not given is absent, never its zero"
        elif issubclass(kind, Struct):
            _compare(kind, field.message_type)
        else:
            assert kind is PLAIN[field.type], name
            assert limits == RANGES.get(field.type), name
            # A plain field's default is the zero of protobuf; one whose zero means something has presence instead.
            assert is_optional == field.has_presence, name
            if not (is_optional or is_many or info.default is NODEFAULT):
                assert info.default == kind(), name


def _kind(info: FieldInfo) -> tuple[type, bool, bool, tuple[int, int] | None]:
    """The type of one value; whether there are many; whether it may be absent; its range."""
    annotation: Any = info.type
    choices = [choice for choice in get_args(annotation) if choice is not UnsetType]
    is_optional = UnsetType in get_args(annotation)
    if is_optional:
        (annotation,) = choices
    is_many = get_origin(annotation) is tuple
    if is_many:
        annotation = get_args(annotation)[0]
    metas = [meta for meta in getattr(annotation, "__metadata__", ()) if isinstance(meta, Meta)]
    limits = (int(metas[0].ge or 0), int(metas[0].le or 0)) if metas else None
    return getattr(annotation, "__origin__", annotation), is_many, is_optional, limits
