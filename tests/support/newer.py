"""Records as a newer version might write them, made by hand: whole, and with something in them that is unknown here."""

from collections.abc import Mapping
from random import Random
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from heptalog.replay.codec import chained, content_of
from heptalog.replay.events import Event, NoteAdded
from heptalog.replay.evidence.chain import GENESIS, link
from heptalog.replay.registry import GAMES
from heptalog.service.store import Entry, LogStore
from tests.support.recording import batch_of, entries_of, recorded_game


def field(number: int, value: bytes | int) -> bytes:
    """One field as protobuf writes it; numbers are small here, and lengths less than 16,384."""
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    return _number(number << 3 | 2) + _number(len(value)) + value


def _number(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128, value >> 7])


# What stands after the envelope, whose last field is 8; the last is the beginning of a game.
NEWER: Final[Mapping[str, bytes]] = MappingProxyType(
    {
        "a kind": field(54, field(1, 2) + field(2, b"7D")),
        "a field of the envelope": field(9, b"newer") + field(22, field(1, b"a remark")),
        "a field of a body": field(31, field(2, b"7D") + field(4, 1)),
        "a field far within": field(18, field(2, field(1, field(1, 1) + field(3, b"newer")))),
        "a value of an enum": field(50, field(1, 1) + field(2, 9)),
        "rules": field(16, field(1, field(1, b"ana")) + field(19, b"")),
    }
)


def newer(how: str, like: Event, previous: bytes) -> tuple[Event, bytes]:
    """A whole record with the envelope of an event and something newer in it, and the event with its links."""
    remark = content_of(replace(like, body=NoteAdded(), previous_hash=b"", hash=b""))
    start = remark.removesuffix(field(22, b""))
    assert start != remark
    content = start + NEWER[how]
    digest = link(previous, content)
    return replace(like, previous_hash=previous, hash=digest), field(1, previous) + field(2, digest) + content


def record_newer(store: LogStore, how: str) -> int:
    """Fill a log: `game` with an event that is newer, by default its last but one, between two good games.

    Gives the sequence of that event.
    """
    first, game, last = ([entry.event.body for entry in recorded_game(rules, 1, event_count_max=12)] for rules in GAMES)
    at = 0 if how == "rules" else len(game) - 2
    entries = entries_of(game, "game", Random(1))
    event, record = newer(how, entries[at].event, entries[at - 1].event.hash if at else GENESIS)
    after, after_record = chained(entries[at + 1].event, event.hash)
    entries[at:] = [Entry(record, event), Entry(after_record, after)]
    for one in (entries_of(first, "first", Random(2)), entries, entries_of(last, "last", Random(3))):
        store.append([batch_of(one)])
    return at
