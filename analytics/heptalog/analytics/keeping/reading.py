"""The tables as they lie there, for who keeps them not."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from heptalog.analytics.keeping.manifest import Manifest, boot_id, moment_of
from heptalog.analytics.keeping.opening import manifest_for
from heptalog.analytics.keeping.place import current, is_misread, read
from heptalog.analytics.snapshots import Snapshot
from heptalog.analytics.sources import Source


class Lying(Struct, frozen=True):
    """A moment that lies there, and the games that are in it only as far as they could be read."""

    snapshot: Snapshot
    unread: tuple[str, ...]


@contextmanager
def kept_now(folder: Path, source: Source) -> Iterator[Lying | None]:
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
        manifest = manifest_for(generation, source, boot=boot_id())
        if manifest is not None and _is_all(manifest, source):
            yield Lying(moment_of(generation, manifest), manifest.unread)
            return
    yield None


def _is_all(manifest: Manifest, source: Source) -> bool:
    return (manifest.position, manifest.refusals) == (source.position(), source.refusal_count())
