"""How the Merkle tree lies in the database: its leaves in the records of log.events, the tiles above them in log.tree.

No promise rests on log.tree alone: what it lacks is made of the tile below it, and `heptalog audit` makes all of it
anew.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final, TypeAlias

import duckdb

from heptalog.replay.codec import hash_in
from heptalog.replay.errors import Code, Corrupt
from heptalog.replay.evidence.merkle import (
    TILE_WIDTH,
    Frontier,
    frontier_at,
    leaf_hashes,
    nodes_from_tiles,
)
from heptalog.service.store.tree import Node, Tree

# The answer to a question, whole.
Ask: TypeAlias = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]

_PIECE: Final = 16_384
_RECORDS: Final = "SELECT position, event FROM log.events WHERE position BETWEEN ? AND ? ORDER BY position"
_NODES: Final = "SELECT index, hash FROM log.tree WHERE level = ? AND index BETWEEN ? AND ? ORDER BY index"
_COUNTS: Final = "SELECT level, count(*), max(index) FROM log.tree GROUP BY level ORDER BY level"
_INSERT: Final = "INSERT INTO log.tree SELECT unnest($1::BIGINT[]), unnest($2::BIGINT[]), unnest($3::BLOB[])"


def load(ask: Ask, position: int, *, has_nodes: bool = True) -> Tree:
    """The tree over all events up to a position, of which those are read that no stored node covers.

    Without `has_nodes` that is all of them. Raises Corrupt where events are missing, or the stored nodes cannot be
    those of this log.
    """
    tree = Tree(_stored(ask, position) if has_nodes else Frontier())
    catch_up(tree, ask, position)
    return tree


def catch_up(tree: Tree, ask: Ask, position: int) -> None:
    """Take in what has come after the end of the tree, up to a position. Raises Corrupt where events are missing."""
    for leaves in leaves_at(ask, tree.head.size + 1, position):
        tree.extend(leaves)


def leaves_at(ask: Ask, first: int, last: int) -> Iterator[list[bytes]]:
    """The hashes of the leaves at these positions, in pieces. Raises Corrupt where an event is missing."""
    for low in range(first, last + 1, _PIECE):
        high = min(low + _PIECE - 1, last)
        rows = ask(_RECORDS, [low, high])
        for wanted, found in zip_longest(range(low, high + 1), [position for position, _ in rows]):
            if wanted != found:
                # One that is missing, or stands twice.
                raise Corrupt(Code.POSITION_DAMAGED, rule="evidence", position=found if wanted is None else wanted)
        yield leaf_hashes(hash_in(record) for _, record in rows)


def tile(ask: Ask, tree: Tree, level: int, index: int, width: int) -> list[bytes]:
    """The first entries of a tile, which are all complete. Raises Corrupt where events are missing."""
    first = TILE_WIDTH * index
    if level == 0:
        return [leaf for leaves in leaves_at(ask, first + 1, first + width) for leaf in leaves]
    numbers = range(first, first + width)
    # First those in memory: what is not there any more is in the database already.
    entries = dict(tree.waiting_in(level, numbers))
    if len(entries) < width:
        entries |= ask(_NODES, [level, numbers[0], numbers[-1]])
    return [
        entries[number] if number in entries else _root_of(tile(ask, tree, level - 1, number, TILE_WIDTH))
        for number in numbers
    ]


def write_nodes(connection: duckdb.DuckDBPyConnection, nodes: Sequence[Node]) -> None:
    """Insert these, in the transaction of the caller."""
    columns = ([node.level for node in nodes], [node.index for node in nodes], [node.hash for node in nodes])
    connection.execute(_INSERT, columns)


def _stored(ask: Ask, position: int) -> Frontier:
    """The tree over the events that stored nodes cover."""
    rows = ask(_COUNTS, [])
    count = rows[0][1] if rows else 0
    size = TILE_WIDTH * count
    # All nodes that wait are stored together, so each level has as many as the one below makes complete.
    expected: list[tuple[int, int, int]] = []
    while count:
        expected.append((len(expected) + 1, count, count - 1))
        count //= TILE_WIDTH
    if rows != expected or size > position:
        raise Corrupt(Code.TREE_DIFFERS, rule="evidence", size=size, last=position)

    def stored_tile(level: int, index: int, width: int) -> list[bytes]:
        first = TILE_WIDTH * index
        return [digest for _, digest in ask(_NODES, [level, first, first + width - 1])]

    return frontier_at(size, nodes_from_tiles(stored_tile, size=size))


def _root_of(entries: Sequence[bytes]) -> bytes:
    whole = Frontier()
    for entry in entries:
        whole.append(entry)
    return whole.root()
