"""The shapes in which appends are measured, and what is appended: the same facts to every store."""

import base64
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple


class Shape(NamedTuple):
    """So many callers, each waiting for its answer before it sends the next batch; or one that does not wait."""

    callers: int
    size: int
    is_stream: bool = False


# By the name of the work.
SHAPES: Final = {
    "1 caller": Shape(1, 1),
    "4 callers": Shape(4, 1),
    "16 callers": Shape(16, 1),
    "64 callers": Shape(64, 1),
    "one stream": Shape(1, 1, is_stream=True),
    "100 × 1 caller": Shape(1, 100),
    "100 × 8 callers": Shape(8, 100),
    "1,000 × 1 caller": Shape(1, 1000),
}
WAITING: Final = tuple(name for name, shape in SHAPES.items() if not shape.is_stream)
ALONE: Final = tuple(name for name in WAITING if SHAPES[name].callers == 1)
READ_ALL: Final = "read all"
READ_ONE: Final = "read one game"
READS: Final = (READ_ALL, READ_ONE)
GAMES_READ: Final = 72  # of the material, the first: those that are not long


class Fact(NamedTuple):
    """An event as every store is given it: its kind, its canonical bytes, and the same as JSON."""

    kind: str
    data: bytes
    json: str


@dataclass(frozen=True)
class Batch:
    """What is appended to one stream, after what is there."""

    stream: uuid.UUID
    first: int  # how many events the stream has before
    after: int  # what the append before this one gave, -1 for the first
    facts: Sequence[Fact]


def games_in(material: Path) -> list[list[Fact]]:
    """The games that the runner has made, each a stream of facts."""
    games = json.loads((material / "facts.json").read_text())
    return [[Fact(kind, base64.b64decode(data), text) for kind, data, text in game] for game in games]
