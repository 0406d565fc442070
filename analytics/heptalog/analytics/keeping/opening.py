"""Whether what is kept can be gone on with: it is of this log, and the log has all that it was made of."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from heptalog.analytics.keeping.games import projected, whole_games
from heptalog.analytics.keeping.manifest import Manifest, boot_id, load
from heptalog.analytics.keeping.place import current
from heptalog.analytics.sources import Source
from heptalog.replay.codec import hash_in

# So many games that could not be read are tried again.
_RETRIED_MAX: Final = 1_000


def opened(folder: Path, source: Source, *, boot: str) -> tuple[Path, Manifest] | None:
    """The generation that counts and its manifest; None where there is none that this log can go on with."""
    generation = current(folder)
    manifest = None if generation is None else manifest_for(generation, source, boot=boot)
    return None if generation is None or manifest is None else (generation, manifest)


def manifest_for(generation: Path, source: Source, *, boot: str) -> Manifest | None:
    """The manifest of a generation; None where it is damaged, or this log cannot go on with it."""
    manifest = load(generation, boot=boot)
    return None if manifest is None or not is_of(manifest, source) else manifest


def behind(folder: Path, source: Source) -> int:
    """How many events are to be taken that are not in the tables yet; all of them where they are to be made anew.

    Where it is many, `build` makes all of them faster than a follower takes these.
    """
    found = opened(folder, source, boot=boot_id())
    return source.position() - (0 if found is None else found[1].position)


def is_of(manifest: Manifest, source: Source) -> bool:
    """Whether a log begins with all that these tables were made of, and no more of it can be read here than could."""
    if manifest.position > source.position() or manifest.refusals > source.refusal_count():
        return False
    if not manifest.position:
        return True
    ends = (hash_at(source, 1), hash_at(source, manifest.position))
    return ends == (manifest.log, manifest.head) and _is_still_unread(manifest.unread, source, manifest.position)


def hash_at(source: Source, position: int) -> str:
    """The hash of the record at a position, in hex; empty where there is none."""
    return "".join(hash_in(record.record).hex() for record in source.read_all(start=position, limit=1))


def _is_still_unread(names: Sequence[str], source: Source, until: int) -> bool:
    """Whether none of these games can be read to its end: a newer program knows more than the one before it."""
    games = whole_games(source, names[:_RETRIED_MAX], until=until)
    return all(projected(records)[1] is not None for _, records in games)
