"""All tables from nothing, on all cores: a new generation beside the one that counts, which it follows at one moment.

The log is cut into spans of positions. Who takes a span looks for the games that began in it, reads each of them whole,
and writes their rows; so no two touch the same game, and none waits for another. Only ratings, which follow from the
games in the order in which they ended, are made at the end by one.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from heptalog.analytics.keeping.games import projected, whole_games
from heptalog.analytics.keeping.generation import Generation
from heptalog.analytics.keeping.manifest import FORM, FORMAT, Counted, Manifest, Segment, boot_id
from heptalog.analytics.keeping.opening import in_hex, tree_if_whole
from heptalog.analytics.keeping.piles import Piles
from heptalog.analytics.keeping.place import begin, read
from heptalog.analytics.keeping.shelf import Shelf
from heptalog.analytics.processes import Tally, in_order_tallied
from heptalog.analytics.sources import Log, Source
from heptalog.analytics.tables import RATING_CHANGES, REFUSALS, TABLES

# Opens the log, in any process; it is given to them, so it can be pickled.
OpenSource: TypeAlias = Callable[[], AbstractContextManager[Log]]
Tell: TypeAlias = Callable[[int, int], None]

# So many positions are one piece of work; about as much as is held in memory easily as rows.
_SPAN_MAX: Final = 1_000_000
_SPAN_MIN: Final = 20_000
# So that all end at about the same time.
_SPANS_A_PROCESS: Final = 4
# Of files; far more than one span has months.
_NUMBERS_A_SPAN: Final = 100_000


class Span(Struct, frozen=True):
    """The games that began at these positions, as they are at the position `until`."""

    open_source: OpenSource
    first: int
    last: int
    until: int
    generation: Path
    number: int


class Report(Struct, frozen=True):
    """What came of a span."""

    segments: tuple[Segment, ...]
    unread: tuple[str, ...]


def build(folder: Path, open_source: OpenSource, *, processes: int, tell: Tell) -> Counted:
    """Make all tables anew. What is there stays in use until they are whole; who keeps the folder goes on with them.

    `tell` is told now and then how many of how many events are read. Raises OSError where the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    generation = begin(folder)
    # Who keeps the folder must not take it for something that was left behind.
    with closing(read(generation)):
        try:
            with open_source() as source:
                return _build(generation, source, open_source, processes, tell)
        except BaseException:
            shutil.rmtree(generation, ignore_errors=True)
            raise


def build_span(span: Span, tally: Tally) -> Report:
    """Write the rows of all games of a span; in any process."""
    shelf = Shelf(span.generation, number=span.number)
    piles = Piles()
    unread = []
    with span.open_source() as source:
        for name, records in whole_games(source, names_of(source, span.first, span.last), until=span.until):
            projection, error = projected(records)
            if error is not None:
                unread.append(name)
            if projection is not None:
                piles.add(projection)
            tally.add(len(records))
    shelf.add(piles)
    return Report(shelf.segments, tuple(unread))


def names_of(source: Source, first: int, last: int) -> list[str]:
    """The games that began at these positions, in their order."""
    records = source.read_all(start=first, limit=last - first + 1)
    return [record.game_id for record in records if not record.sequence]


def spans_of(until: int, processes: int) -> Iterator[tuple[int, int]]:
    """The spans of a log of so many events, each as its first and last position."""
    size = min(max(until // (processes * _SPANS_A_PROCESS), _SPAN_MIN), _SPAN_MAX)
    for first in range(1, until + 1, size):
        yield first, min(first + size - 1, until)


def _build(generation: Path, source: Log, open_source: OpenSource, processes: int, tell: Tell) -> Counted:
    until = source.position()
    spans = [
        Span(open_source, first, last, until, generation, 1 + place * _NUMBERS_A_SPAN)
        for place, (first, last) in enumerate(spans_of(until, processes))
    ]
    reports = list(in_order_tallied(build_span, spans, jobs=processes, tell=lambda done: tell(done, until)))
    manifest = Manifest(
        FORMAT,
        FORM,
        position=until,
        tree=in_hex(tree_if_whole(source, until)),
        number=1 + len(spans) * _NUMBERS_A_SPAN,
        segments=tuple(segment for report in reports for segment in report.segments),
        unread=tuple(sorted(name for report in reports for name in report.unread)),
    )
    tables = Generation(generation, manifest, events_held_max=0, boot=boot_id(), is_whole=False)
    tables.complete(source)
    while tables.tidy(patience=0):
        pass
    for path in tables.retired():
        path.unlink(missing_ok=True)
    # From now on it is the one that counts.
    tables.store()
    tables.hold.close()
    return _counted(tables.manifest())


def _counted(manifest: Manifest) -> Counted:
    """How many rows there are, where every game is in one segment only."""
    rows = dict.fromkeys((table.name for table in TABLES), 0)
    for segment in manifest.segments:
        for table, kept in segment.files.items():
            rows[table] += kept.rows
    rows[REFUSALS.name] = sum(chunk.kept.rows for chunk in manifest.refused)
    rows[RATING_CHANGES.name] = sum(chunk.kept.rows for chunk in manifest.rated)
    return Counted(manifest.position, manifest.refusals, rows)
