"""A proof as the service gives it; light, for clients load it too."""

from msgspec import Struct

from heptalog.service.store import Checkpoint


class Proof(Struct, frozen=True):
    """The hashes of a proof, the size of the log that it leads to, and the checkpoint of that size, where there is one.

    Of a proof of consistency the size is the second one. `heptalog.replay.evidence.merkle` checks both.
    """

    size: int
    hashes: tuple[bytes, ...]
    checkpoint: Checkpoint | None = None
