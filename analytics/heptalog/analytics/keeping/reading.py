"""The tables as they lie there, for who keeps them not."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from heptalog.analytics.keeping.manifest import Manifest, boot_id, first_damaged, moment_of, written
from heptalog.analytics.keeping.opening import looked_at
from heptalog.analytics.keeping.place import current, is_misread, read
from heptalog.analytics.snapshots import Snapshot
from heptalog.analytics.sources import Log


class Lying(Struct, frozen=True):
    """A moment that lies there, and the games that are in it only as far as they could be read."""

    snapshot: Snapshot
    unread: tuple[str, ...]


@contextmanager
def kept_now(folder: Path, source: Log) -> Iterator[Lying | None]:
    """The tables where they are kept already and have all that the log has; otherwise None. Nothing is written."""
    try:
        generation = None if is_misread(folder) else current(folder)
        hold = None if generation is None else read(generation)
    except OSError:
        generation = hold = None
    if generation is None or hold is None:
        yield None
        return
    with closing(hold):
        # Who goes on with them looks at them as well: only where nobody will, all may have to be read here.
        manifest = written(generation)
        if manifest is not None and _is_all(manifest, source):
            usable = looked_at(generation, source, boot=boot_id()).usable
            if usable is not None and _is_all(usable[1], source):
                yield Lying(moment_of(*usable), usable[1].unread)
                return
    yield None


def is_whole(generation: Path) -> bool:
    """Whether every file of a generation is what was written; all of them are read."""
    manifest = written(generation)
    return manifest is not None and first_damaged(manifest, generation, is_read=True) is None


def _is_all(manifest: Manifest, source: Log) -> bool:
    return (manifest.position, manifest.refusals) == (source.position(), source.refusal_count())
