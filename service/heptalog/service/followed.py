"""What followed from events by the rules, for who knows no rules: plain, and as messages, both ways side by side."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from heptalog.replay.events import camel_name
from heptalog.replay.outcomes import Outcome, fields_of
from heptalog.service.structs import plain_of, struct_of
from heptalog.v1 import log_pb2


class Followed(Struct, frozen=True):
    """Something that followed from an event, such as `roundEnded`, and what it says, named as in JSON."""

    kind: str
    fields: dict[str, Any]


def followed_by(outcomes: Iterable[Outcome]) -> tuple[Followed, ...]:
    """Outcomes as they are told."""
    return tuple(Followed(camel_name(type(outcome)), fields_of(outcome)) for outcome in outcomes)


def outcome_messages(followed: Iterable[Followed]) -> list[log_pb2.Outcome]:
    """The same as messages."""
    return [log_pb2.Outcome(kind=each.kind, fields=struct_of(each.fields)) for each in followed]


def followed_in(messages: Iterable[log_pb2.Outcome]) -> tuple[Followed, ...]:
    """What followed, from messages."""
    return tuple(Followed(message.kind, plain_of(message.fields)) for message in messages)
