"""What is asked of the log, and what is given for it; the same for the service and its clients."""

from msgspec import Struct

from heptalog.replay.errors import HeptalogError, Malformed
from heptalog.replay.events import Event
from heptalog.service.store import Head


class Append(Struct, frozen=True, gc=False):
    """What a caller asks to record: events of one game, after the sequence it believes to be the last."""

    game_id: str
    expected: int
    events: tuple[Event, ...]
    expected_hash: bytes = b""
    is_imported: bool = False


class Receipt(Struct, frozen=True, gc=False):
    """What a caller gets once it is durable."""

    game_id: str
    head: Head
    sequences: tuple[int, ...]
    is_deduplicated: bool = False


def placed(error: HeptalogError, index: int) -> HeptalogError:
    """The error with the place of its event in the request."""
    error.facts.setdefault("index", index)
    field = str(error.facts.get("field", ""))
    if isinstance(error, Malformed) and not field.startswith("events["):
        error.facts["field"] = f"events[{index}].{field}" if field else f"events[{index}]"
    return error
