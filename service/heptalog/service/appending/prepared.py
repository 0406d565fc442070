"""An append between the rules, which have taken it, and the disk."""

from msgspec import Struct

from heptalog.service.live import LiveGame
from heptalog.service.store import Batch


class Prepared(Struct, frozen=True, gc=False):
    """An append that is ready for the disk; `batch` is absent where all of it is there already."""

    game: LiveGame
    sequences: tuple[int, ...]
    batch: Batch | None = None
