"""What a database that is written keeps to prove itself: the tree over its events, the head record, the checkpoint.

All of it follows COMMIT: the tree grows by what is durable, then the head record says so, and then the answer is given.
"""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.evidence.merkle import Nodes, leaf_hashes
from heptalog.service.store import Checkpoint
from heptalog.service.store.files import replace_file
from heptalog.service.store.heads import HeadFile, HeadRecord, head_path
from heptalog.service.store.opening import checkpoint_path, read_checkpoint
from heptalog.service.store.tree import Tree
from heptalog.service.store.void import holds


class Evidence:
    """The tree and the files beside one database, in the hands of its writer."""

    def __init__(self, database: Path, tree: Tree, head: HeadRecord, clock: Callable[[], int]) -> None:
        """Take over the head record, and bring it up to date. Raises Unavailable where that cannot be done."""
        self.tree = tree
        self._checkpoint_path: Final = checkpoint_path(database)
        published = read_checkpoint(self._checkpoint_path)
        self.published = 0 if published is None else published.size
        self._waiting: Checkpoint | None = None  # is kept, and could not be put beside the database yet
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
        self.tree.extend(leaf_hashes(hashes))
        self._write()
        self.publish_waiting()

    def replace(self, tree: Tree) -> None:
        """Go on with this tree, as the database has it. Raises Corrupt where it has less than was durable."""
        if tree.head.size < self.tree.head.size:
            raise Corrupt(Code.EVENTS_LOST, rule="evidence", first=tree.head.size + 1, last=self.tree.head.size)
        self.tree = tree
        self._write()

    def publish(self, checkpoint: Checkpoint) -> None:
        """Put a checkpoint that is kept beside the database, unless there is one of a longer log.

        Raises Unavailable; it is then put there when something is written the next time, or the database is opened.
        """
        if checkpoint.size < self.published:
            return
        if self._waiting is not None and self._waiting.size > checkpoint.size:
            checkpoint = self._waiting
        self._waiting = checkpoint
        try:
            replace_file(self._checkpoint_path, checkpoint.note.encode())
        except OSError as error:
            raise _failed(self._checkpoint_path, error) from error
        self.published = checkpoint.size
        self._waiting = None

    def publish_waiting(self) -> None:
        """Try again what could not be put beside the database; nothing is raised where it still cannot."""
        if self._waiting is not None:
            with suppress(Unavailable):
                self.publish(self._waiting)

    def publish_latest(self, kept: Iterable[Checkpoint], nodes: Nodes) -> None:
        """Put the last of those that are kept beside the database, where a failure or a crash has kept it from that.

        One that does not hold is left alone: nobody could open the log again after it.
        """
        for checkpoint in deque(kept, maxlen=1):
            if checkpoint.size > self.published and holds(checkpoint.note, self.tree.head.size, nodes):
                self._waiting = checkpoint
                self.publish_waiting()

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
