"""What is measured: the floor, and the parts of the core above it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from bench.games import Recorded
from heptalog.replay import codec, gamefile
from heptalog.replay.evidence.chain import GENESIS, link
from heptalog.replay.fold import fold_all
from heptalog.replay.verify import verify
from heptalog.v1 import event_pb2


class Material:
    """The games of one kind in every form that a work starts from; making them is not measured."""

    def __init__(self, games: Recorded) -> None:
        self.bodies = games.bodies
        self.records = games.records
        self.lines = [
            [gamefile.encode_line(codec.decode(record)[0]) for record in records] for records in games.records
        ]
        self.events = games.events
        self.bytes_an_event = sum(len(record) for records in games.records for record in records) / games.events


def floor(material: Material) -> None:
    """Parse the bytes, read fields, hash: what any verification of them has to do."""
    for records in material.records:
        previous = GENESIS
        for record in records:
            event = event_pb2.Event.FromString(record)
            _ = (event.sequence, event.game_id, event.event_id, event.hash, event.WhichOneof("body"))
            previous = link(previous, record[codec.CONTENT_START :])


def decode(material: Material) -> None:
    """Records to events, checked to be canonical, with their public forms."""
    for records in material.records:
        for record in records:
            codec.decode(record)


def rules(material: Material) -> None:
    """Check and apply, on decoded events."""
    for bodies in material.bodies:
        fold_all(bodies)


def whole(material: Material) -> None:
    """Decode, chain, seals, check and apply: what verify does with a database."""
    for records in material.records:
        report = verify(map(codec.decode, records))
        assert report.ok, report


def files(material: Material) -> None:
    """Read lines, chain, seals, check and apply: what verify does with game files."""
    for lines in material.lines:
        report = verify((event, None) for event in gamefile.read_events(lines))
        assert report.ok, report


WORKS: Final[Mapping[str, Callable[[Material], None]]] = MappingProxyType(
    {"floor": floor, "decode": decode, "rules": rules, "verify": whole, "verify file": files}
)
