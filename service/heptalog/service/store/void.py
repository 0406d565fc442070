"""Which checkpoints hold no longer when a log goes on without what they were signed over.

They stay in the database, as what was said once, but nothing is built on them any more; and the names under which they
were signed sign no more either: who holds one of them would see one name under two logs, which is what a forger does.
"""

from bisect import bisect_left
from pathlib import Path
from typing import Final

from msgspec import Struct

from heptalog.replay.errors import HeptalogError
from heptalog.replay.evidence.checkpoints import checkpoint_in
from heptalog.replay.evidence.merkle import Nodes, nodes_from_tiles, root_at
from heptalog.service.store.duck_tree import Ask, tile
from heptalog.service.store.tree import Tree

# Those that have held so far, and all names under which each was signed: what was void before says nothing of others.
_HOLDING: Final = """
    SELECT kept.size, arg_max(kept.note, kept.checkpoint_number), list(DISTINCT split_part(kept.note, chr(10), 1))
    FROM log.checkpoints AS kept
    WHERE NOT EXISTS (
        FROM log.incidents AS incident
        WHERE incident.void_after < kept.size AND kept.checkpoint_number <= incident.checkpoints_kept
    )
    GROUP BY kept.size ORDER BY kept.size
"""
_COUNT: Final = "SELECT coalesce(max(checkpoint_number), 0) FROM log.checkpoints"


class Void(Struct, frozen=True):
    """Of the first `kept` checkpoints those over more than `after` events hold no longer; None where all hold."""

    kept: int
    after: int | None
    names: tuple[str, ...]


def void(ask: Ask, tree: Tree, published: Path) -> Void:
    """What holds no longer of the checkpoints that were kept, and of the one in the file beside the database."""
    nodes = nodes_from_tiles(lambda level, index, width: tile(ask, tree, level, index, width), size=tree.head.size)
    rows = ask(_HOLDING, [])
    # Where one holds all smaller ones do: their logs are its beginning.
    place = bisect_left(rows, True, key=lambda row: not holds(row[1], tree.head.size, nodes))
    after = rows[place - 1][0] if place else 0
    names = {name for _, _, signed in rows[place:] for name in signed}
    if (name := _published_name(published, tree.head.size, nodes)) is not None:
        names.add(name)
    ((kept,),) = ask(_COUNT, [])
    return Void(kept, after if rows[place:] else None, tuple(sorted(names)))


def holds(note: str | bytes, size: int, nodes: Nodes) -> bool:
    """Whether a log of this size begins with the one that a checkpoint was signed over."""
    try:
        body = checkpoint_in(note)
    except HeptalogError:
        return False
    return body.size <= size and root_at(body.size, nodes) == body.root


def _published_name(path: Path, size: int, nodes: Nodes) -> str | None:
    """The name under which the checkpoint in a file was signed, where it holds no longer."""
    try:
        note = path.read_bytes()
        return None if holds(note, size, nodes) else checkpoint_in(note).origin
    except (OSError, HeptalogError):
        return None
