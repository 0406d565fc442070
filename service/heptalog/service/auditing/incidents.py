"""What somebody has accepted after a loss, which the log itself records: held against the log, and told in its verdict.

A log that goes on after a loss is in order; that it did is part of what it is.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from heptalog.replay.errors import Code
from heptalog.replay.times import rfc3339
from heptalog.service.auditing.findings import Finding, found
from heptalog.service.auditing.sources import Claim
from heptalog.service.store.duck_kept import KeptIncident

_ROOT_SIZE: Final = 32
# The end of the year 9999, beyond which a time cannot be written.
_TIME_MAX: Final = 253_402_300_799_999_999  # microseconds


class Incident(Struct, frozen=True, rename="camel"):
    """A loss that was accepted: when, what was wrong, and with how many events the log goes on."""

    accepted_at: str
    finding: str
    size: int


def incident_of(kept: KeptIncident) -> Incident:
    """What is told of one; a time that is none is left empty."""
    is_time = kept.accepted_at is not None and 0 < kept.accepted_at <= _TIME_MAX
    return Incident(rfc3339((kept.accepted_at or 0) * 1000) if is_time else "", kept.finding, kept.size)


def strange_incidents(incidents: Sequence[KeptIncident], last: int, checkpoint_count: int) -> Iterator[Finding]:
    """What in these nobody would have put on record."""
    for number, kept in enumerate(incidents, start=1):
        for column in _wrong_columns(kept, _size_max(incidents, number, last), checkpoint_count):
            yield found(Code.COLUMNS_DIFFER, table="incidents", column=column, number=number)


def incident_claims(incidents: Sequence[KeptIncident], last: int) -> Iterator[Claim]:
    """What the last of these says of the root; the earlier ones are of a log that another loss may have taken away."""
    if incidents and 0 <= incidents[-1].size <= last:
        kept = incidents[-1]
        place: dict[str, Any] = {"table": "incidents", "column": "root", "number": len(incidents)}
        yield Claim(kept.size, kept.root, Code.COLUMNS_DIFFER, **place)


def _size_max(incidents: Sequence[KeptIncident], number: int, last: int) -> int | None:
    return last if number == len(incidents) else None


def _wrong_columns(kept: KeptIncident, size_max: int | None, checkpoint_count: int) -> Iterator[str]:
    names = kept.void_names
    is_right = {
        "accepted_at": kept.accepted_at is not None and 0 < kept.accepted_at <= _TIME_MAX,
        "finding": bool(kept.finding),
        "head_size": (kept.head_size is None) == (kept.head_root is None) and (kept.head_size or 0) >= 0,
        "head_root": kept.head_root is None or len(kept.head_root) == _ROOT_SIZE,
        "size": kept.size >= 0 and (size_max is None or kept.size <= size_max),
        "checkpoints_kept": 0 <= kept.checkpoints_kept <= checkpoint_count,
        "void_after": kept.void_after is None or 0 <= kept.void_after <= max(kept.size, 0),
        "void_names": names is not None and all(names),
    }
    yield from (column for column, is_so in is_right.items() if not is_so)
