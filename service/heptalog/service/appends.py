"""What is asked of the log, and what is given for it; the same for the service and its clients."""

from msgspec import Struct

from heptalog.replay.events import Event
from heptalog.service.store import Head


class Append(Struct, frozen=True):
    """What a caller asks to record: events of one game, after the sequence it believes to be the last."""

    game_id: str
    expected: int
    events: tuple[Event, ...]
    expected_hash: bytes = b""
    is_imported: bool = False


class Receipt(Struct, frozen=True):
    """What a caller gets once it is durable."""

    game_id: str
    head: Head
    sequences: tuple[int, ...]
    is_deduplicated: bool = False
