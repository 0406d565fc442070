"""Requests made of what a caller gave: a value that does not fit its field is a fault of form, and is named."""

from typing import Final, TypeVar

from google.protobuf.message import Message

from heptalog.replay.errors import Code, Malformed

T = TypeVar("T", bound=Message)

_MISFITS: Final = (OverflowError, TypeError, ValueError)


def formed(kind: type[T], **fields: object) -> T:
    """A message with these fields. Raises Malformed where a value does not fit its own."""
    try:
        return kind(**fields)
    except _MISFITS:
        raise unfit(next((name for name, value in fields.items() if not _fits(kind, name, value)), "")) from None


def unfit(field: str) -> Malformed:
    """The fault of a value that this field cannot hold."""
    return Malformed(Code.FIELD_INVALID, rule="api", field=field, problem="a value that it cannot have")


def _fits(kind: type[Message], name: str, value: object) -> bool:
    try:
        kind(**{name: value})
    except _MISFITS:
        return False
    return True
