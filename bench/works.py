"""What is measured: the floor, and the parts of the core above it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from bench.games import Recorded
from heptalog.replay import codec, gamefile
from heptalog.replay.bodies import field_of
from heptalog.replay.events import Body
from heptalog.replay.evidence.chain import GENESIS, link
from heptalog.replay.fold import fold_all
from heptalog.replay.plainfile import plain_file
from heptalog.replay.verify import verify, verify_records
from heptalog.v1 import event_pb2


class Material:
    """The games of one kind in every form that a work starts from; making them is not measured."""

    # Where the bodies of records begin is given to the quick floor, as is what they mean.
    places: list[list[tuple[bytes, int]]]
    meanings: dict[bytes, Body]

    def __init__(self, games: Recorded) -> None:
        self.bodies = games.bodies
        self.records = games.records
        self.lines = [
            [gamefile.encode_line(codec.decode(record)[0]) for record in records] for records in games.records
        ]
        self.decoded = [[codec.decode(record)[0] for record in records] for records in games.records]
        self.places = []
        self.meanings = {}
        for records, events in zip(self.records, self.decoded, strict=True):
            sizes = [len(field_of(event.body)) for event in events]
            self.places.append([(record, len(record) - size) for record, size in zip(records, sizes, strict=True)])
            for (record, place), event in zip(self.places[-1], events, strict=True):
                self.meanings[record[place:]] = event.body
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


def quick_floor(material: Material) -> None:
    """The least that reading by hand has to do where it is told every place: cut, look the body up, hash.

    Nothing is checked here, of no field is asked what it says but of the two ids, and no event is made.
    """
    meanings = material.meanings
    for places in material.places:
        previous = GENESIS
        for record, place in places:
            _ = (
                record[70:106].decode(),
                record[110:146].decode(errors="replace"),
                record[36:68],
                meanings[record[place:]],
            )
            previous = link(previous, record[codec.CONTENT_START :])


def decode(material: Material) -> None:
    """Records to events, checked to be canonical, with their public forms."""
    for records in material.records:
        for record in records:
            codec.decode(record)


def decode_exactly(material: Material) -> None:
    """The same through protobuf alone, which is what decides wherever bytes are not plain."""
    for records in material.records:
        for record in records:
            codec.decode_exactly(record)


def encode(material: Material) -> None:
    """Events to their canonical content."""
    for events in material.decoded:
        for event in events:
            codec.content_of(event)


def chained(material: Material) -> None:
    """Events to records: content, public form, hash."""
    for events in material.decoded:
        previous = GENESIS
        for event in events:
            previous = codec.chained(event, previous)[0].hash


def rules(material: Material) -> None:
    """Check and apply, on decoded events."""
    for bodies in material.bodies:
        fold_all(bodies)


def whole(material: Material) -> None:
    """Decode, chain, seals, check and apply: what verify does with a database, a whole game at once."""
    for records in material.records:
        report, _ = verify_records(records)
        assert report.ok, report


def singly(material: Material) -> None:
    """The same event by event, with a struct made of each: what decides wherever a game is not plain, or not right."""
    for records in material.records:
        report = verify(map(codec.decode, records))
        assert report.ok, report


def files(material: Material) -> None:
    """Read lines, chain, seals, check and apply: what verify does with game files, a whole game at once."""
    for lines in material.lines:
        assert plain_file(lines) is not None


WORKS: Final[Mapping[str, Callable[[Material], None]]] = MappingProxyType(
    {
        "floor": floor,
        "quick floor": quick_floor,
        "decode": decode,
        "exactly": decode_exactly,
        "rules": rules,
        "verify": whole,
        "verify singly": singly,
        "verify file": files,
        "encode": encode,
        "chained": chained,
    }
)
