"""Whether what is kept can be gone on with: it is of this log, and the log has all that it was made of."""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from heptalog.analytics.keeping.games import projected, whole_games
from heptalog.analytics.keeping.manifest import Manifest, load
from heptalog.analytics.keeping.place import current
from heptalog.analytics.sources import Log, Refused, Source
from heptalog.replay.codec import hash_in
from heptalog.replay.errors import Corrupt, NotFound
from heptalog.replay.evidence.merkle import Frontier, frontier_at, nodes_from_tiles

# So many games that could not be read are tried again.
_RETRIED_MAX: Final = 1_000
# So many events are taken by one process in a few seconds.
_FAR: Final = 200_000


class Found(Struct, frozen=True):
    """The generation that counts and its manifest, and why a log cannot go on with them, where it cannot."""

    generation: Path | None = None
    manifest: Manifest | None = None
    why_anew: str = ""

    @property
    def usable(self) -> tuple[Path, Manifest] | None:
        """Both, where a log can go on with them."""
        if self.generation is None or self.manifest is None or self.why_anew:
            return None
        return self.generation, self.manifest


def opened(folder: Path, source: Log, *, boot: str, known: Found | None = None) -> Found:
    """What is in a folder for a log. Files from before this `boot` are read whole, but not again what is `known`."""
    generation = current(folder)
    return Found() if generation is None else looked_at(generation, source, boot=boot, known=known)


def looked_at(generation: Path, source: Log, *, boot: str, known: Found | None = None) -> Found:
    """The same for a generation, which is taken for the one that counts."""
    were_read = known.manifest if known is not None and known.generation == generation else None
    manifest = load(generation, boot=boot, were_read=were_read)
    if manifest is None:
        return Found(generation, None, "they are damaged, or of another form")
    return Found(generation, manifest, _why_anew(manifest, source))


def due(found: Found, source: Log) -> int:
    """How many events are to be taken that are not in the tables yet; all of them where they are to be made anew.

    Where it is many, `build` makes all of them faster than a follower takes these.
    """
    usable = found.usable
    return source.position() - (0 if usable is None else usable[1].position)


def is_far(due: int, head: int) -> bool:
    """Whether so many events of a log are taken sooner by making all tables anew, on all cores."""
    return due > max(_FAR, head // 2)


def is_of(manifest: Manifest, source: Log) -> bool:
    """Whether a log begins with all that these tables were made of, and no more of it can be read here than could.

    Raises Corrupt where the log lacks events.
    """
    position, refusals = manifest.position, manifest.refusals
    if position > source.position() or refusals > source.refusal_count():
        return False
    if refusals and manifest.refused_last != "".join(
        hash_of(refused) for refused in islice(source.refusals(after=refusals - 1), 1)
    ):
        return False
    if not position:
        return True
    return manifest.tree == in_hex(tree_at(source, position)) and _is_still_unread(manifest.unread, source, position)


def tree_at(source: Log, position: int) -> Frontier:
    """The tree over all events up to a position, as the log has it. Raises Corrupt where the log lacks events."""
    return frontier_at(position, nodes_from_tiles(source.tile, size=position))


def tree_if_whole(source: Log, position: int) -> Frontier | None:
    """The same; None where the log cannot tell."""
    with suppress(Corrupt, NotFound):
        return tree_at(source, position)
    return None


def in_hex(tree: Frontier | None) -> tuple[str, ...]:
    """A tree as a manifest has it."""
    return () if tree is None else tuple(subtree.hex() for subtree in tree.hashes)


def from_hex(position: int, subtrees: Sequence[str]) -> Frontier | None:
    """The tree over so many events that a manifest has; None where it has none."""
    return Frontier(position, map(bytes.fromhex, subtrees)) if len(subtrees) == position.bit_count() else None


def hash_of(refused: Refused) -> str:
    """The hash of a refusal, in hex. Its time, to the nanosecond, makes it one of its kind."""
    who = (refused.game_id, refused.sequence, refused.refused_at, refused.recorded_by)
    return sha256(msgspec.msgpack.encode((who, refused.kind, refused.code, refused.rule, refused.content))).hexdigest()


def hash_at(source: Source, position: int) -> str:
    """The hash of the record at a position, in hex; empty where there is none."""
    return "".join(hash_in(record.record).hex() for record in source.read_all(start=position, limit=1))


def _why_anew(manifest: Manifest, source: Log) -> str:
    if manifest.position > (head := source.position()):
        return f"they go as far as position {manifest.position}, and the log only as far as {head}"
    # A log that cannot say what it is may be any.
    with suppress(Corrupt):
        if is_of(manifest, source):
            return ""
    return "they are of another log, or a newer program can read more of it"


def _is_still_unread(names: Sequence[str], source: Source, until: int) -> bool:
    """Whether none of these games can be read to its end: a newer program knows more than the one before it."""
    games = whole_games(source, names[:_RETRIED_MAX], until=until)
    return all(projected(records)[1] is not None for _, records in games)
