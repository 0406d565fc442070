"""Consecutive events of one game as records: what they have in common is written once."""

from collections.abc import Sequence

from heptalog.replay import bodies, codec, envelope
from heptalog.replay.bodies import NotPlain
from heptalog.replay.events import Body, Event
from heptalog.replay.evidence.chain import links


def recorded(events: Sequence[Event], game_id: str, previous: bytes) -> list[tuple[Event, bytes]]:
    """The events of a game linked one to the other, the first one to the hash `previous`, each with its record.

    The same as `codec.chained` one by one, in one pass after the other.
    """
    if len(events) == 1:
        return [codec.chained(events[0], previous)]
    try:
        fronts = envelope.fronts_of(events, game_id)
        forms = [_forms(front, event.body) for front, event in zip(fronts, events, strict=True)]
    except NotPlain:
        forms = [codec.forms_of(event) for event in events]
    digests = links(previous, [public for _, public in forms])
    return [
        (codec.linked(event, before, digest), codec.joined(before, digest, content))
        for event, (content, _), before, digest in zip(events, forms, [previous, *digests], digests, strict=False)
    ]


def _forms(front: bytes, body: Body) -> tuple[bytes, bytes]:
    """The content of an event with this front, and its public form."""
    if body.sealed:
        field, public_field = bodies.fields_of(body)
        return front + field, front + public_field
    content = front + bodies.field_of(body)
    return content, content
