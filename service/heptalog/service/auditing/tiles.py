"""The Merkle tree as an audit makes it anew: tile by tile, from any height, holding no more than its right edge."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from heptalog.replay.evidence.merkle import TILE_WIDTH, Frontier

SPAN_LEVEL: Final = 2
# The positions that are looked at together: one entry of a tile two levels up.
SPAN_WIDTH: Final = TILE_WIDTH**SPAN_LEVEL


class Tiles:
    """Subtrees of one size as they come, and the larger ones that they make."""

    def __init__(self, level: int, edges: Iterable[tuple[int, Sequence[bytes]]] = ()) -> None:
        """What comes are entries of tiles of this level; `edges` go on where another one stopped."""
        self._level = level
        self._groups = [Frontier(size, hashes) for size, hashes in edges]

    def add(self, digest: bytes) -> Iterator[tuple[int, bytes]]:
        """Take in the next; the entries of higher levels that it completes, each with its level."""
        for height, group in enumerate(self._groups):
            group.append(digest)
            if group.size < TILE_WIDTH:
                return
            digest = group.root()
            self._groups[height] = Frontier()
            yield self._level + height + 1, digest
        self._groups.append(Frontier(1, [digest]))

    @property
    def edges(self) -> list[tuple[int, tuple[bytes, ...]]]:
        """What is needed to go on later: of each level its size and its edge."""
        return [(group.size, group.hashes) for group in self._groups]

    @property
    def edge(self) -> tuple[bytes, ...]:
        """The complete subtrees along the right edge, the largest first."""
        return tuple(digest for group in reversed(self._groups) for digest in group.hashes)
