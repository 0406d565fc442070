"""The Merkle log over all events: RFC 9162 hashing, in the tiles that C2SP tlog-tiles cuts it into.

    leaf = SHA-256( 00 | chain hash of the event )      node = SHA-256( 01 | left | right )      nothing = SHA-256( )

A log of n leaves is a complete subtree of the largest power of two below n, and to the right of it a log of the rest.
So a log is known by the complete subtrees along its right edge, one for each bit of n that is set: its `Frontier`,
which takes one more leaf with one hash on average. Everything else is asked of `Nodes`: the hash of the complete
subtree of 2**level leaves with that index. A node never changes once its leaves are there, so a proof for any earlier
size comes out of the log as it is now.

A tile has height 8: entry i of tile (level, index) is the complete subtree of 256**level leaves number 256 * index + i.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

from heptalog.replay.errors import Code, Corrupt
from heptalog.replay.evidence.chain import HASH_SIZE

EMPTY_ROOT: Final = sha256().digest()
TILE_HEIGHT: Final = 8
TILE_WIDTH: Final = 1 << TILE_HEIGHT

Nodes: TypeAlias = Callable[[int, int], bytes]
Tile: TypeAlias = Callable[[int, int, int], Sequence[bytes]]


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf. In the log of events `data` is the event's chain hash."""
    return sha256(b"\0" + data).digest()


def leaf_hashes(data: Iterable[bytes]) -> list[bytes]:
    """The hashes of many leaves."""
    return list(map(leaf_hash, data))


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees side by side."""
    return sha256(b"\1" + left + right).digest()


class Frontier:
    """A log as it grows: its size, and the complete subtrees along its right edge, the largest first."""

    __slots__ = ("_hashes", "_size")

    def __init__(self, size: int = 0, hashes: Iterable[bytes] = ()) -> None:
        self._size = size
        self._hashes = list(hashes)
        assert len(self._hashes) == size.bit_count(), "one subtree for each bit of the size"

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return self._size

    @property
    def hashes(self) -> tuple[bytes, ...]:
        """The complete subtrees, the largest first."""
        return tuple(self._hashes)

    def append(self, leaf: bytes) -> None:
        """Take in the hash of one more leaf."""
        hashes = self._hashes
        size = self._size
        self._size = size + 1
        while size & 1:
            leaf = sha256(b"\1" + hashes.pop() + leaf).digest()
            size >>= 1
        hashes.append(leaf)

    def extend(self, leaves: Iterable[bytes]) -> list[list[bytes]]:
        """Take in the hashes of many leaves, which together cost two thirds of one by one.

        Gives the subtrees that they complete, by their sizes 1, 2, 4 …, as far as there are any; those of one size are
        in order, the first of all being `size >> level` with the size of before.
        """
        edge, size = self._hashes, self._size
        rows: list[list[bytes]] = []
        rest: list[bytes] = []
        row = list(leaves)
        self._size += len(row)
        while row:
            rows.append(row)
            # What stands alone at the edge is the left half of the first pair.
            halves = [edge.pop(), *row] if size & 1 else row
            if len(halves) & 1:
                rest.append(halves[-1])
            row = _parents(halves)
            size >>= 1
        edge.extend(reversed(rest))
        return rows

    def root(self) -> bytes:
        """The root over all leaves so far."""
        return _root_of(self._hashes)

    def copy(self) -> "Frontier":
        """The same log, to go another way."""
        return Frontier(self._size, self._hashes)


def nodes_from_tiles(tile: Tile, *, size: int = 0) -> Nodes:
    """The nodes of a log whose tiles can be asked for; the first `width` entries of one are enough.

    Every tile is remembered for as long as the answer is held, so make one for a few proofs, not for a whole log.
    Who says what `size` the log has at least is asked for each tile only once.
    """
    known: dict[tuple[int, int], Sequence[bytes]] = {}

    def node(level: int, index: int) -> bytes:
        tile_level, height = divmod(level, TILE_HEIGHT)
        tile_index, first = divmod(index << height, TILE_WIDTH)
        last = first + (1 << height)
        entries = known.get((tile_level, tile_index), ())
        if len(entries) < last:
            there = (size >> TILE_HEIGHT * tile_level) - TILE_WIDTH * tile_index
            width = max(last, min(there, TILE_WIDTH))
            entries = known[tile_level, tile_index] = tile(tile_level, tile_index, width)
            assert len(entries) == width, "a tile is as wide as it was asked for"
        return _complete(entries[first:last])

    return node


def root_at(size: int, nodes: Nodes) -> bytes:
    """The root over the first `size` leaves."""
    return _span(0, size, nodes)


def frontier_at(size: int, nodes: Nodes) -> Frontier:
    """The log of the first `size` leaves, ready to grow."""
    return Frontier(size, _edge(0, size, nodes))


def inclusion_proof(index: int, size: int, nodes: Nodes) -> tuple[bytes, ...]:
    """What shows that the leaf with this index, from 0, is in the log of this size: its sibling first."""
    assert 0 <= index < size, "the leaf is in the log"
    proof = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _left_size(end - start)
        if index < middle:
            proof.append(_span(middle, end, nodes))
            end = middle
        else:
            proof.append(_span(start, middle, nodes))
            start = middle
    return tuple(reversed(proof))


def consistency_proof(first: int, second: int, nodes: Nodes) -> tuple[bytes, ...]:
    """What shows that the log of the second size begins with the log of the first. Empty from the empty log."""
    assert 0 <= first <= second, "a log grows"
    if not first:
        return ()
    proof = []
    start, end = 0, second
    while first != end:
        middle = start + _left_size(end - start)
        if first <= middle:
            proof.append(_span(middle, end, nodes))
            end = middle
        else:
            proof.append(_span(start, middle, nodes))
            start = middle
    if start:
        # Otherwise it is the whole first log, whose root who checks has already.
        proof.append(_span(start, end, nodes))
    return tuple(reversed(proof))


def check_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Raise Corrupt unless the proof leads from this leaf hash at this index to the root of this size."""
    if not 0 <= index < size or not _are_hashes(proof):
        raise _broken()
    position, last = index, size - 1
    digest = leaf
    for sibling in proof:
        if not last:
            raise _broken()
        if position & 1 or position == last:
            digest = node_hash(sibling, digest)
            # Where the right edge is not complete, a leaf skips the levels at which nothing stands beside it.
            while position and not position & 1:
                position >>= 1
                last >>= 1
        else:
            digest = node_hash(digest, sibling)
        position >>= 1
        last >>= 1
    if last or digest != root:
        raise _broken()


def check_consistency(first: int, first_root: bytes, second: int, second_root: bytes, proof: Sequence[bytes]) -> None:
    """Raise Corrupt unless the proof shows that the second log begins with the first."""
    if not 0 <= first <= second or not _are_hashes(proof):
        raise _broken()
    if first in (0, second):
        is_right = first_root == (second_root if first else EMPTY_ROOT) and (second or second_root == EMPTY_ROOT)
        if proof or not is_right:
            raise _broken()
        return
    # A first log that is one complete subtree is not repeated in the proof.
    path = [first_root, *proof] if not first & (first - 1) else list(proof)
    if not path:
        raise _broken()
    position, last = first - 1, second - 1
    skipped = _trailing_ones(position)
    position >>= skipped
    last >>= skipped
    old = new = path[0]
    for sibling in path[1:]:
        if not last:
            raise _broken()
        if position & 1 or position == last:
            old = node_hash(sibling, old)
            new = node_hash(sibling, new)
            while position and not position & 1:
                position >>= 1
                last >>= 1
        else:
            new = node_hash(new, sibling)
        position >>= 1
        last >>= 1
    if last or old != first_root or new != second_root:
        raise _broken()


def _span(start: int, end: int, nodes: Nodes) -> bytes:
    """The root over the leaves from `start`, which is a multiple of a power of two not below their number."""
    return _root_of(_edge(start, end, nodes))


def _edge(start: int, end: int, nodes: Nodes) -> list[bytes]:
    """The complete subtrees that these leaves are made of, the largest first."""
    hashes = []
    for level in reversed(range((end - start).bit_length())):
        if (end - start) >> level & 1:
            hashes.append(nodes(level, start >> level))
            start += 1 << level
    return hashes


def _root_of(edge: Sequence[bytes]) -> bytes:
    if not edge:
        return EMPTY_ROOT
    root = edge[-1]
    for left in reversed(edge[:-1]):
        root = node_hash(left, root)
    return root


def _complete(hashes: Sequence[bytes]) -> bytes:
    """The hash over a power of two of subtrees."""
    while len(hashes) > 1:
        hashes = _parents(hashes)
    return hashes[0]


def _parents(hashes: Sequence[bytes]) -> list[bytes]:
    """The hashes over the subtrees, two by two; the last of an odd number has no parent yet."""
    return list(map(node_hash, hashes[::2], hashes[1::2]))


def _left_size(size: int) -> int:
    """The largest power of two below the size of a log of two leaves or more."""
    return 1 << ((size - 1).bit_length() - 1)


def _trailing_ones(number: int) -> int:
    return (~number & (number + 1)).bit_length() - 1


def _are_hashes(proof: Sequence[bytes]) -> bool:
    return all(len(digest) == HASH_SIZE for digest in proof)


def _broken() -> Corrupt:
    return Corrupt(Code.PROOF_BROKEN, rule="evidence")
