"""Whether an event sent again is the one that was recorded: compared as it was sent, before it was completed."""

from msgspec.structs import replace

from heptalog.replay.events import UNSET, Body, Event
from heptalog.replay.evidence.seals import Sealable, map_parts, sealable_parts


def is_same(sent: Event, recorded: Event) -> bool:
    """Whether `recorded` is `sent` with nothing changed, only the server's parts filled in."""
    return (
        sent.occurred_at == recorded.occurred_at
        and _is_absent_or(sent.recorded_at, recorded.recorded_at)
        and sent.recorded_by == recorded.recorded_by
        and _is_absent_or(sent.hash, recorded.hash)
        and _is_absent_or(sent.previous_hash, recorded.previous_hash)
        and type(sent.body) is type(recorded.body)
        and sent.body == _as_sent(sent.body, recorded.body)
    )


def _is_absent_or(sent: object, recorded: object) -> bool:
    return not sent or sent == recorded


def _as_sent(sent: Body, recorded: Body) -> Body:
    """The recorded body without the seals that the server made where the sender had none."""
    parts = [part for _, part in sealable_parts(sent)]
    if len(parts) != sum(1 for _ in sealable_parts(recorded)):
        return recorded
    own = iter(parts)

    def strip(part: Sealable) -> Sealable:
        return replace(part, seal=UNSET) if next(own).seal is UNSET else part

    return map_parts(recorded, strip) if parts else recorded
