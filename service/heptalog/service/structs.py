"""What a google.protobuf.Struct or Value says, as plain values, and back."""

from collections.abc import Mapping
from typing import Any

from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct, Value


def plain_of(message: Struct) -> dict[str, Any]:
    """Its fields, with their numbers whole, as the rules have them, and in order: in protobuf neither is kept.

    Raises ValueError for a number that is none.
    """
    plain: dict[str, Any] = _whole(json_format.MessageToDict(message))
    return plain


def plain_value(message: Value) -> Any:
    """The same of one value."""
    return _whole(json_format.MessageToDict(message))


def struct_of(fields: Mapping[str, Any]) -> Struct:
    """These fields as a message."""
    message = Struct()
    message.update(fields)
    return message


def value_of(plain: Any) -> Value:
    """A plain value, None too, as a message."""
    return json_format.ParseDict(plain, Value())


def _whole(value: Any) -> Any:
    match value:
        case dict():
            return {name: _whole(value[name]) for name in sorted(value)}
        case list():
            return [_whole(item) for item in value]
        case float():
            return int(value) if value.is_integer() else value
        case _:
            return value
