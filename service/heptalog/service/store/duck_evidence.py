"""What a database that is written keeps to prove itself: the tree over its events, the head record, the checkpoint.

All of it follows COMMIT: the tree grows by what is durable, then the head record says so, and then the answer is given.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.evidence.merkle import leaf_hash
from heptalog.service.store import Checkpoint
from heptalog.service.store.files import replace_file
from heptalog.service.store.heads import HeadFile, HeadRecord, head_path
from heptalog.service.store.opening import checkpoint_path, read_checkpoint
from heptalog.service.store.tree import Tree


class Evidence:
    """The tree and the files beside one database, in the hands of its writer."""

    def __init__(self, database: Path, tree: Tree, head: HeadRecord, clock: Callable[[], int]) -> None:
        """Take over the head record, and bring it up to date. Raises Unavailable where that cannot be done."""
        self.tree = tree
        self._checkpoint_path: Final = checkpoint_path(database)
        published = read_checkpoint(self._checkpoint_path)
        self._published = 0 if published is None else published.size
        self._clock = clock
        path = head_path(database)
        try:
            self._file = HeadFile(path)
        except OSError as error:
            raise _failed(path, error) from error
        if head.tree != tree.head:
            self._write()

    def extend(self, hashes: Iterable[bytes]) -> None:
        """The events with these hashes are durable now. Raises Unavailable where nobody could be told so for sure."""
        self.tree.extend(map(leaf_hash, hashes))
        self._write()

    def replace(self, tree: Tree) -> None:
        """Go on with this tree, as the database has it. Raises Corrupt where it has less than was durable."""
        if tree.head.size < self.tree.head.size:
            raise Corrupt(Code.EVENTS_LOST, rule="evidence", first=tree.head.size + 1, last=self.tree.head.size)
        self.tree = tree
        self._write()

    def publish(self, checkpoint: Checkpoint) -> None:
        """Put a checkpoint beside the database, unless there is one of a longer log. Raises Unavailable."""
        if checkpoint.size < self._published:
            return
        try:
            replace_file(self._checkpoint_path, checkpoint.note.encode())
        except OSError as error:
            raise _failed(self._checkpoint_path, error) from error
        self._published = checkpoint.size

    def close(self) -> None:
        """Let go of the head record."""
        self._file.close()

    def _write(self) -> None:
        try:
            self._file.write(self.tree.head, self._clock())
        except OSError as error:
            raise _failed(self._file.path, error) from error


def _failed(path: Path, error: OSError) -> Unavailable:
    return Unavailable(Code.WRITE_FAILED, path=str(path), problem=error.strerror or "it could not be written")
