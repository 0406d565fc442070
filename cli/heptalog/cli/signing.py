"""Checkpoints of a database that no server holds."""

from collections.abc import Sequence
from pathlib import Path

from heptalog.cli.connections import Connections, opening, shown
from heptalog.cli.databases import reading
from heptalog.replay.errors import Code, Unavailable
from heptalog.service.config import Surroundings
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import load_signing
from heptalog.service.evidence.signing import Signer
from heptalog.service.store import Checkpoint
from heptalog.service.store.duck import DuckStore


def kept_checkpoint(path: Path, size: int | None, connections: Connections) -> Checkpoint:
    """The latest checkpoint that a database keeps, or that of a size. Raises NotFound, Unavailable, Corrupt."""
    with opening(path):
        if (fault := connections.fault(path)) is not None:
            raise fault
    with reading(path):
        return Checkpoints(connections.store(path)).demanded(size)


def sign_database(path: Path, keys: Sequence[Path]) -> Checkpoint:
    """Sign all that a database has. Raises Unavailable, Malformed for the keys, Corrupt for the log."""
    ring = load_signing(keys)
    if not path.exists():
        # Opened for writing it would be made.
        raise Unavailable(Code.SOURCE_NOT_FOUND, path=shown(path))
    with opening(path):
        store = DuckStore(path)
    try:
        return Signer(store, Checkpoints(store), ring, Surroundings().clock).checkpoint()
    finally:
        store.close()
