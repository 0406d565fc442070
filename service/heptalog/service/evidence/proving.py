"""What a log can show of itself: its checkpoints, and the proofs that lead to them. Knows no gRPC."""

from heptalog.replay.errors import Code, Malformed, NotFound, Unavailable
from heptalog.replay.evidence.merkle import consistency_proof, inclusion_proof, nodes_from_tiles
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.proofs import Proof
from heptalog.service.evidence.signing import Signer
from heptalog.service.store import Checkpoint, LogStore, Reading


class Prover:
    """Answers who wants to be shown. Without a signer it shows what was signed before, and proofs."""

    def __init__(self, store: LogStore, checkpoints: Checkpoints, signer: Signer | None = None) -> None:
        self._store = store
        self._checkpoints = checkpoints
        self._signer = signer

    @property
    def is_broken(self) -> bool:
        """Whether something differed when it was to be signed."""
        return self._signer is not None and self._signer.is_broken

    @property
    def can_sign(self) -> bool:
        """Whether there is a key."""
        return self._signer is not None

    def sign(self) -> Checkpoint:
        """A checkpoint over all that is durable. Raises Unavailable without a key, NotFound, Corrupt."""
        if self._signer is None:
            raise Unavailable(Code.KEY_MISSING, rule="api")
        return self._signer.checkpoint()

    def checkpoint(self, size: int | None = None) -> Checkpoint:
        """The latest checkpoint, or that of a size. Raises NotFound."""
        return self._checkpoints.demanded(size)

    def checkpoints(self, *, after: int = 0) -> Reading[Checkpoint]:
        """Those of a greater size, ascending."""
        return self._store.checkpoints(after=after)

    def inclusion(self, position: int, size: int = 0) -> Proof:
        """What shows that the event at a position is in the log of this size, 0 being that of the latest checkpoint."""
        if position < 1:
            raise Malformed(Code.FIELD_INVALID, rule="api", field="position", problem="positions are counted from 1")
        size = self._size(size)
        if position > size:
            raise NotFound(Code.POSITION_AFTER_HEAD, rule="api", asked=position, head=size)
        hashes = inclusion_proof(position - 1, size, nodes_from_tiles(self._store.tile, size=size))
        return Proof(size, hashes, self._checkpoints.of_size(size))

    def consistency(self, first: int, second: int = 0) -> Proof:
        """What shows that the log of the second size begins with that of the first; 0 as above."""
        second = self._size(second)
        if first > second:
            raise NotFound(Code.POSITION_AFTER_HEAD, rule="api", asked=first, head=second)
        hashes = consistency_proof(first, second, nodes_from_tiles(self._store.tile, size=second))
        return Proof(second, hashes, self._checkpoints.of_size(second))

    def cosign(self, note: str) -> Checkpoint:
        """Keep the signatures that a note brings for a checkpoint. Raises Malformed, NotFound."""
        return self._checkpoints.cosign(note)

    def _size(self, asked: int) -> int:
        """The size that is meant. Raises NotFound where the log is not so large."""
        if not asked:
            return self._checkpoints.demanded().size
        # Not the last position: for a moment after a commit the tree has not taken in all that can be read.
        head = self._store.tree_head().size
        if asked > head:
            raise NotFound(Code.POSITION_AFTER_HEAD, rule="api", asked=asked, head=head)
        return asked
