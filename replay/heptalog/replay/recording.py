"""Consecutive events of one game as records: what they have in common is written once."""

from collections.abc import Sequence

from heptalog.replay import codec
from heptalog.replay.bodies import NotPlain
from heptalog.replay.envelope import fronts_of
from heptalog.replay.events import Event
from heptalog.replay.evidence.chain import links


def recorded(events: Sequence[Event], game_id: str, previous: bytes) -> list[tuple[Event, bytes]]:
    """The events of a game linked one to the other, the first one to the hash `previous`, each with its record.

    The same as `codec.chained` one by one, in one pass after the other.
    """
    if len(events) == 1:
        return [codec.chained(events[0], previous)]
    try:
        forms = list(map(codec.forms_with, fronts_of(events, game_id), [event.body for event in events]))
    except NotPlain:
        forms = list(map(codec.forms_of, events))
    digests = links(previous, [public for _, public in forms])
    records = codec.records_from([content for content, _ in forms], digests, previous)
    return list(zip(map(codec.linked, events, (previous, *digests), digests), records, strict=True))
