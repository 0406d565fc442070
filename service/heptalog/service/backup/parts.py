"""What a log gives to a backup: one moment of it, without what the backup has already, in parts of about a megabyte.

Whatever is durable never changes, so the moment is only a size, and no part needs the database any longer than it takes
to read it: who takes the parts slowly holds up nobody.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from heptalog.replay.evidence.merkle import nodes_from_tiles, root_at
from heptalog.service.store import Checkpoint, LogStore, Refusal

PART_BYTES: Final = 1 << 20
EVENTS_AT_ONCE: Final = 4_096
ROWS_AT_ONCE: Final = 1_024


class Have(Struct, frozen=True):
    """What a backup has already: so many events, so many refusals, and all checkpoints up to this size."""

    position: int = 0
    refusals: int = 0
    checkpoint: int = 0


class Moment(Struct, frozen=True):
    """What the log was when the backup began.

    `refusals` is how many there were just before; those of the very moment come with the next backup. `root_before` is
    the root at the position that the backup has; empty where the log does not reach so far, and then nothing follows.
    Under `void_names` the log signs no more.
    """

    size: int
    root: bytes
    refusals: int
    root_before: bytes
    void_names: tuple[str, ...] = ()


class CheckpointsPart(Struct, frozen=True):
    """Checkpoints of the moment, ascending by size."""

    checkpoints: tuple[Checkpoint, ...]


class EventsPart(Struct, frozen=True):
    """Consecutive records, byte for byte."""

    first_position: int
    records: tuple[bytes, ...]


class RefusalsPart(Struct, frozen=True):
    """Consecutive refusals."""

    refusals: tuple[Refusal, ...]


Part: TypeAlias = Moment | CheckpointsPart | EventsPart | RefusalsPart


def after(have: Have, part: Part) -> Have:
    """What is there with this part too."""
    match part:
        case CheckpointsPart(checkpoints) if checkpoints:
            return replace(have, checkpoint=checkpoints[-1].size)
        case EventsPart(first_position, records):
            return replace(have, position=first_position + len(records) - 1)
        case RefusalsPart(refusals):
            return replace(have, refusals=have.refusals + len(refusals))
        case _:
            return have


def parts_of(store: LogStore, have: Have) -> Iterator[Part]:
    """The moment, then the checkpoints, the events and the refusals that are not there yet."""
    refusal_count = store.refusal_count()
    head = store.tree_head()
    is_longer = have.position <= head.size
    nodes = nodes_from_tiles(store.tile, size=head.size)
    root_before = root_at(have.position, nodes) if is_longer else b""
    yield Moment(head.size, head.root, refusal_count, root_before, tuple(sorted(store.void_names())))
    if is_longer and have.refusals <= refusal_count:
        yield from _checkpoints(store, after=min(have.checkpoint, head.size), size_max=head.size)
        yield from _events(store, after=have.position, size=head.size)
        yield from _refusals(store, after=have.refusals, count=refusal_count)


def _checkpoints(store: LogStore, *, after: int, size_max: int) -> Iterator[CheckpointsPart]:
    while part := _some_checkpoints(store, after, size_max):
        yield CheckpointsPart(part)
        after = part[-1].size


def _some_checkpoints(store: LogStore, after: int, size_max: int) -> tuple[Checkpoint, ...]:
    part: list[Checkpoint] = []
    length = 0
    with closing(store.checkpoints(after=after)) as checkpoints:
        for checkpoint in checkpoints:
            if checkpoint.size > size_max or len(part) == ROWS_AT_ONCE or length >= PART_BYTES:
                break
            part.append(checkpoint)
            length += len(checkpoint.note.encode())
    return tuple(part)


def _events(store: LogStore, *, after: int, size: int) -> Iterator[EventsPart]:
    while after < size:
        part = _some_events(store, after + 1, min(EVENTS_AT_ONCE, size - after))
        assert part, "what is durable is there"
        yield EventsPart(after + 1, part)
        after += len(part)


def _some_events(store: LogStore, start: int, limit: int) -> tuple[bytes, ...]:
    part: list[bytes] = []
    length = 0
    with closing(store.read_all(start=start, limit=limit)) as records:
        for stored in records:
            part.append(stored.record)
            length += len(stored.record)
            if length >= PART_BYTES:
                break
    return tuple(part)


def _refusals(store: LogStore, *, after: int, count: int) -> Iterator[RefusalsPart]:
    while after < count:
        part = _some_refusals(store, after, count - after)
        assert part, "what is durable is there"
        yield RefusalsPart(part)
        after += len(part)


def _some_refusals(store: LogStore, after: int, limit: int) -> tuple[Refusal, ...]:
    part: list[Refusal] = []
    length = 0
    with closing(store.refusals(after=after)) as refusals:
        for refusal in refusals:
            part.append(refusal)
            length += len(refusal.content)
            if len(part) == min(limit, ROWS_AT_ONCE) or length >= PART_BYTES:
                break
    return tuple(part)
