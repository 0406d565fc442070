"""The Merkle tree over all events as who writes the log holds it: its right edge, and the nodes that wait to be stored.

The entries of tiles above the leaves are derived, so they may be stored some time after their events. Until then they
wait here; a node is taken out only after it is durable, so that a reader who looks here first and then into the
database always finds it.
"""

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Final

from msgspec import Struct

from heptalog.replay.evidence.merkle import TILE_HEIGHT, Frontier
from heptalog.service.store import TreeHead

# So many nodes are stored together: one statement more in every commit would cost more than all of the hashing.
NODES_AT_ONCE: Final = 64


class Node(Struct, frozen=True):
    """A complete subtree of 256**level leaves, the one with this number."""

    level: int
    index: int
    hash: bytes


class Tree:
    """The tree at its present size. One thread lets it grow; any thread may ask."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier: Final = frontier
        self._lock = Lock()
        self._waiting: dict[tuple[int, int], Node] = {}
        self._head = TreeHead(frontier.size, frontier.root())

    @property
    def head(self) -> TreeHead:
        """Its size and its root."""
        return self._head

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Take in the hashes of the next leaves."""
        size = self._frontier.size
        rows = self._frontier.extend(leaves)
        complete = [
            Node(level, index, digest)
            for level, row in enumerate(rows[TILE_HEIGHT::TILE_HEIGHT], start=1)
            for index, digest in enumerate(row, start=size >> TILE_HEIGHT * level)
        ]
        if complete:
            with self._lock:
                self._waiting.update(((node.level, node.index), node) for node in complete)
        self._head = TreeHead(self._frontier.size, self._frontier.root())

    @property
    def waiting(self) -> tuple[Node, ...]:
        """The nodes that are to be stored, those of one level in order."""
        with self._lock:
            return tuple(self._waiting.values())

    @property
    def is_due(self) -> bool:
        """Whether so many nodes wait that they are worth a statement."""
        return len(self._waiting) >= NODES_AT_ONCE

    def stored(self, nodes: Iterable[Node]) -> None:
        """Forget these: they are durable."""
        with self._lock:
            for node in nodes:
                del self._waiting[node.level, node.index]

    def waiting_in(self, level: int, indexes: range) -> Mapping[int, bytes]:
        """Those of these nodes that wait."""
        with self._lock:
            found = (self._waiting.get((level, index)) for index in indexes)
            return {node.index: node.hash for node in found if node is not None}
