"""The Merkle log: published vectors, every small size against the recursive definition, and nothing foul passes."""

from collections.abc import Iterable, Sequence
from functools import cache
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heptalog.replay.errors import Code
from heptalog.replay.evidence.merkle import (
    EMPTY_ROOT,
    TILE_WIDTH,
    Frontier,
    check_consistency,
    check_inclusion,
    consistency_proof,
    frontier_at,
    inclusion_proof,
    leaf_hash,
    leaf_hashes,
    node_hash,
    nodes_from_tiles,
    root_at,
)
from tests.evidence.given import code_of

SIZE_MAX: Final = 70
LEAVES: Final = tuple(leaf_hash(number.to_bytes(4, "big")) for number in range(3 * TILE_WIDTH))
SIZES: Final = range(SIZE_MAX + 1)

# The leaves that implementations of RFC 6962 are tried with everywhere, and the roots of their first 1 to 8.
TRIED: Final = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
ROOTS: Final = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


@cache
def root_of(start: int, end: int) -> bytes:
    """The root over these leaves, word for word as RFC 9162 section 2.1.1 defines it."""
    if start == end:
        return EMPTY_ROOT
    if end - start == 1:
        return LEAVES[start]
    left = 1
    while 2 * left < end - start:
        left *= 2
    return node_hash(root_of(start, start + left), root_of(start + left, end))


def node(level: int, index: int) -> bytes:
    """A complete subtree of the log of `LEAVES`."""
    return root_of(index << level, (index + 1) << level)


def is_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    code = code_of(lambda: check_inclusion(leaf, index, size, proof, root))
    assert code in (None, Code.PROOF_BROKEN)
    return code is None


def is_consistency(first: int, first_root: bytes, second: int, second_root: bytes, proof: Sequence[bytes]) -> bool:
    code = code_of(lambda: check_consistency(first, first_root, second, second_root, proof))
    assert code in (None, Code.PROOF_BROKEN)
    return code is None


def foul_proofs(proof: Sequence[bytes]) -> Iterable[tuple[bytes, ...]]:
    """The proof with one element changed, left out, repeated, exchanged with the next, or added; or none at all."""
    other = leaf_hash(b"other")
    for place, digest in enumerate(proof):
        before, after = tuple(proof[:place]), tuple(proof[place + 1 :])
        for changed in (other, bytes([digest[0] ^ 1]) + digest[1:], digest[:-1], digest + b"\0", b""):
            yield (*before, changed, *after)
        yield (*before, *after)
        yield (*before, digest, digest, *after)
        yield (*before, other, digest, *after)
        if after and after[0] != digest:
            yield (*before, after[0], digest, *after[1:])
    yield (*proof, other)
    yield (*proof, EMPTY_ROOT)
    if proof:
        yield ()


def test_the_published_roots() -> None:
    frontier = Frontier()
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert frontier.root() == EMPTY_ROOT
    for data, root in zip(TRIED, ROOTS, strict=True):
        frontier.append(leaf_hash(bytes.fromhex(data)))
        assert frontier.root().hex() == root


def test_the_example_of_the_rfc() -> None:
    """RFC 9162 sections 2.1.3.3 and 2.1.4.3, the tree of seven leaves with its nodes by their letters."""
    a, b, c, d, e, f, j = LEAVES[:7]
    g, h, i = node_hash(a, b), node_hash(c, d), node_hash(e, f)
    k, l = node_hash(g, h), node_hash(i, j)  # noqa: E741  # as it is called there
    root = node_hash(k, l)
    assert root_at(7, node) == root
    assert inclusion_proof(0, 7, node) == (b, h, l)
    assert inclusion_proof(3, 7, node) == (c, g, l)
    assert inclusion_proof(4, 7, node) == (f, j, k)
    assert inclusion_proof(6, 7, node) == (i, k)
    assert consistency_proof(3, 7, node) == (c, d, g, l)
    assert consistency_proof(4, 7, node) == (l,)
    assert consistency_proof(6, 7, node) == (i, j, k)


def test_every_small_log_is_what_the_definition_says() -> None:
    frontier = Frontier()
    for size in SIZES:
        root = root_of(0, size)
        assert frontier.size == size
        assert frontier.root() == root_at(size, node) == root
        assert frontier.hashes == frontier_at(size, node).hashes
        assert Frontier(size, frontier.hashes).root() == root
        frontier.append(LEAVES[size])


@given(st.integers(0, 3 * TILE_WIDTH), st.lists(st.integers(0, 2 * TILE_WIDTH), max_size=8))
def test_many_leaves_are_taken_in_like_one_by_one(start: int, counts: list[int]) -> None:
    many, singly = frontier_at(start, node), frontier_at(start, node)
    for count in counts:
        size = many.size
        leaves = [leaf_hash(number.to_bytes(4, "big")) for number in range(size, size + count)]
        rows = many.extend(iter(leaves))
        for leaf in leaves:
            singly.append(leaf)
        assert (many.size, many.hashes, many.root()) == (singly.size, singly.hashes, singly.root())
        # By level, how many subtrees there are now and were not before.
        added = [(many.size >> level) - (size >> level) for level in range(many.size.bit_length())]
        assert [len(row) for row in rows] == [count for count in added if count]
        assert rows[:1] == [leaves][: len(rows)]


@given(st.integers(0, 2 * TILE_WIDTH), st.integers(0, TILE_WIDTH))
def test_leaves_tell_which_subtrees_they_complete(start: int, count: int) -> None:
    rows = frontier_at(start, node).extend(LEAVES[start : start + count])
    for level, row in enumerate(rows):
        first = start >> level
        assert row == [node(level, index) for index in range(first, (start + count) >> level)]


def test_the_hashes_of_many_leaves_are_those_of_each() -> None:
    data = [bytes([number]) * number for number in range(40)]
    assert leaf_hashes(data) == [leaf_hash(item) for item in data]


def test_a_copy_goes_its_own_way() -> None:
    frontier = frontier_at(5, node)
    other = frontier.copy()
    other.append(LEAVES[5])
    assert (frontier.root(), other.root()) == (root_of(0, 5), root_of(0, 6))


def test_every_leaf_of_every_small_log_is_proved_and_only_it() -> None:
    for size in SIZES:
        root = root_of(0, size)
        for index in range(size):
            proof = inclusion_proof(index, size, node)
            assert is_inclusion(LEAVES[index], index, size, proof, root)
            assert len(proof) <= (size - 1).bit_length()
            assert not is_inclusion(LEAVES[index + 1], index, size, proof, root)
            assert not is_inclusion(LEAVES[index], index, size, proof, root_of(0, size + 1))
            assert not is_inclusion(root, index, size, (), root) or size == 1


def test_no_other_place_passes_with_the_proof_of_one() -> None:
    for size in range(1, 20):
        root = root_of(0, size)
        for index in range(size):
            proof = inclusion_proof(index, size, node)
            fitting = [
                (other, end)
                for end in range(-1, 40)
                for other in range(-1, 40)
                if is_inclusion(LEAVES[index], other, end, proof, root)
            ]
            # The size itself is not in a proof, it is signed with the root: sizes of the same shape pass.
            assert (index, size) in fitting
            assert [place for place in fitting if place[1] == size] == [(index, size)]


def test_no_proof_of_inclusion_can_be_altered() -> None:
    count = 0
    for size in range(1, 34):
        root = root_of(0, size)
        for index in range(size):
            for foul in foul_proofs(inclusion_proof(index, size, node)):
                count += 1
                assert not is_inclusion(LEAVES[index], index, size, foul, root)
    assert count > 10_000


def test_every_two_small_logs_are_shown_to_be_one() -> None:
    for second in SIZES:
        for first in range(second + 1):
            proof = consistency_proof(first, second, node)
            assert is_consistency(first, root_of(0, first), second, root_of(0, second), proof)
            assert not is_consistency(first, leaf_hash(b"other"), second, root_of(0, second), proof)
            assert not is_consistency(first, root_of(0, first), second, leaf_hash(b"other"), proof) or not first
            assert first == second or not is_consistency(second, root_of(0, second), first, root_of(0, first), proof)


def test_no_proof_of_consistency_can_be_altered() -> None:
    count = 0
    for second in range(34):
        for first in range(second + 1):
            proof = consistency_proof(first, second, node)
            for foul in foul_proofs(proof):
                count += 1
                assert not is_consistency(first, root_of(0, first), second, root_of(0, second), foul)
    assert count > 10_000


def test_a_log_that_was_written_anew_is_not_consistent() -> None:
    changed = list(LEAVES[:SIZE_MAX])
    changed[3] = leaf_hash(b"other")
    forged = Frontier()
    for leaf in changed:
        forged.append(leaf)
    for first in range(1, SIZE_MAX):
        proof = consistency_proof(first, SIZE_MAX, node)
        assert not is_consistency(first, root_of(0, first), SIZE_MAX, forged.root(), proof)


def test_the_empty_log_is_the_beginning_of_every_other() -> None:
    assert is_consistency(0, EMPTY_ROOT, 0, EMPTY_ROOT, ())
    assert is_consistency(0, EMPTY_ROOT, 5, root_of(0, 5), ())
    assert not is_consistency(0, root_of(0, 5), 5, root_of(0, 5), ())
    assert not is_consistency(0, EMPTY_ROOT, 0, root_of(0, 5), ())
    assert not is_consistency(0, EMPTY_ROOT, 5, root_of(0, 5), (LEAVES[0],))


class Tiles:
    """The tiles of a log, which are asked for."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.asked: list[tuple[int, int, int]] = []

    def __call__(self, level: int, index: int, width: int) -> list[bytes]:
        self.asked.append((level, index, width))
        first = index * TILE_WIDTH
        assert (first + width) * TILE_WIDTH**level <= self.size, "only complete subtrees are in a tile"
        return [node(8 * level, first + entry) for entry in range(width)]


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 300, 511, 512, 513, 700])
def test_nodes_come_out_of_tiles(size: int) -> None:
    random = Random(size)
    for end in {size, *(random.randrange(1, size + 1) for _ in range(20))}:
        tiles = Tiles(size)
        nodes = nodes_from_tiles(tiles, size=size)
        assert root_at(end, nodes) == root_of(0, end)
        assert frontier_at(end, nodes).hashes == frontier_at(end, node).hashes
        for index in {0, end - 1, random.randrange(end)}:
            assert inclusion_proof(index, end, nodes) == inclusion_proof(index, end, node)
            assert consistency_proof(index, end, nodes) == consistency_proof(index, end, node)
        places = [(level, index) for level, index, _ in tiles.asked]
        assert len(places) == len(set(places)), "a tile is asked for once"
        narrow = nodes_from_tiles(Tiles(size))
        assert inclusion_proof(end - 1, end, narrow) == inclusion_proof(end - 1, end, node)


@given(st.lists(st.binary(max_size=4), max_size=600), st.data())
def test_whatever_was_logged_is_proved(data: list[bytes], draw: st.DataObject) -> None:
    leaves = [leaf_hash(item) for item in data]
    levels = [leaves]
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append([node_hash(below[i], below[i + 1]) for i in range(0, len(below) - 1, 2)])

    def nodes(level: int, index: int) -> bytes:
        return levels[level][index]

    frontier = Frontier()
    first = draw.draw(st.integers(0, len(leaves)))
    roots = {0: frontier.root()}
    for leaf in leaves:
        frontier.append(leaf)
        roots[frontier.size] = frontier.root()
    size = len(leaves)
    check_consistency(first, roots[first], size, roots[size], consistency_proof(first, size, nodes))
    if leaves:
        index = draw.draw(st.integers(0, size - 1))
        check_inclusion(leaves[index], index, size, inclusion_proof(index, size, nodes), roots[size])
