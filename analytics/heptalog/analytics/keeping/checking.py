"""Whether the tables that are kept are those that follow from the log: every row is made again and compared."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from msgspec import Struct

from heptalog.analytics.keeping.building import OpenSource, Tell, names_of, spans_of
from heptalog.analytics.keeping.games import projected, whole_games
from heptalog.analytics.keeping.manifest import Chunk, Counted, Manifest, Segment, first_damaged, moment_of, written
from heptalog.analytics.keeping.opening import is_of
from heptalog.analytics.keeping.piles import Piles
from heptalog.analytics.keeping.place import current, read
from heptalog.analytics.keeping.rated import rated_anew
from heptalog.analytics.keeping.segments import NUMBER
from heptalog.analytics.keeping.segments import read as read_rows
from heptalog.analytics.keeping.shelf import rows_in, sorted_rows
from heptalog.analytics.processes import Tally, in_order_tallied
from heptalog.analytics.projecting.arrow import arrow_table, refusal_row, schema_of
from heptalog.analytics.projecting.rows import Row
from heptalog.analytics.sources import Source
from heptalog.analytics.tables import PARTITIONS, RATING_CHANGES, REFUSALS, TABLES, Table
from heptalog.replay.errors import Code, Corrupt, Unavailable

# Rows of series that are held against each other at once.
_ROWS_AT_ONCE: Final = 20_000
_Partition: TypeAlias = tuple[str, str]


class _Span(Struct, frozen=True):
    """The games that began at these positions, and the files that may have rows of them."""

    open_source: OpenSource
    first: int
    last: int
    until: int
    generation: Path
    segments: tuple[Segment, ...]


def check(folder: Path, open_source: OpenSource, *, processes: int = 1, tell: Tell) -> Counted:
    """Hold every row that is kept against what follows from the log, as far as the tables go.

    Gives what was compared. Raises Corrupt TABLES_DIFFER with the first table and game that differ, and Unavailable
    where there are no tables.
    """
    generation = current(folder)
    if generation is None:
        raise Unavailable(Code.SOURCE_NOT_FOUND, path=str(folder))
    with closing(read(generation)), open_source() as source:
        manifest = written(generation)
        if manifest is None or not is_of(manifest, source):
            raise _differ("they are of another log, or of another version of the program")
        if (damaged := first_damaged(manifest, generation, is_read=True)) is not None:
            raise _differ("a file is missing or damaged", file=str(damaged.relative_to(folder)))
        until = manifest.position
        spans = [
            _Span(open_source, first, last, until, generation, _overlapping(manifest.segments, first, last))
            for first, last in spans_of(until, processes)
        ]
        done = in_order_tallied(_check_span, spans, jobs=processes, tell=lambda count: tell(count, until))
        rows = Counter[str]()
        for counts in done:
            rows.update(counts)
        _check_stray(manifest, rows)
        rows[REFUSALS.name] = _check_series(
            REFUSALS, manifest.refused, generation, _refusals(source, manifest.refusals)
        )
        anew = rated_anew(moment_of(generation, manifest))
        rows[RATING_CHANGES.name] = _check_series(RATING_CHANGES, manifest.rated, generation, anew)
        return Counted(until, manifest.refusals, {table.name: rows[table.name] for table in TABLES})


def _check_span(span: _Span, tally: Tally) -> dict[str, int]:
    """Hold the rows of the games of a span against those that are kept; in any process."""
    piles = Piles()
    with span.open_source() as source:
        for _, records in whole_games(source, names_of(source, span.first, span.last), until=span.until):
            projection, _ = projected(records)
            if projection is not None:
                piles.add(projection)
            tally.add(len(records))
    fresh: dict[_Partition, dict[str, list[pa.Table]]] = {}
    for (ruleset, month, _), tables in piles.tables():
        for name, rows in tables.items():
            fresh.setdefault((ruleset, month), {}).setdefault(name, []).append(rows)
    lying: dict[_Partition, list[Segment]] = {}
    for segment in span.segments:
        lying.setdefault((segment.ruleset, segment.month), []).append(segment)
    counts = Counter[str]()
    for place in {**fresh, **lying}:
        made = {name: sorted_rows(pa.concat_tables(pieces)) for name, pieces in fresh.get(place, {}).items()}
        kept = rows_in(span.generation, lying.get(place, ()), first=span.first, last=span.last)
        for table in TABLES:
            if table.is_of_games:
                counts[table.name] += _check_rows(table, made, kept)
    return counts


def _check_rows(table: Table, made: Mapping[str, pa.Table], kept: Mapping[str, pa.Table]) -> int:
    schema = pa.schema([field for field in schema_of(table) if field.name not in PARTITIONS])
    one, other = (rows.get(table.name, schema.empty_table()).cast(schema) for rows in (made, kept))
    if not one.equals(other):
        raise _differ("", table=table.name, game=_first_difference(one, other))
    return one.num_rows


def _first_difference(one: pa.Table, other: pa.Table) -> str:
    """The first game of which two tables have not the same rows; both are in the order of games."""
    tables = [(table, table[NUMBER].to_numpy()) for table in (one, other)]
    for number in np.union1d(tables[0][1], tables[1][1]):
        pieces = []
        for table, numbers in tables:
            start, end = np.searchsorted(numbers, number), np.searchsorted(numbers, number, "right")
            pieces.append(table.slice(start, end - start))
        if not pieces[0].equals(pieces[1]):
            return str((pieces[0] if pieces[0].num_rows else pieces[1])["game_id"][0].as_py())
    raise AssertionError("they have been found to differ")


def _check_stray(manifest: Manifest, rows: Mapping[str, int]) -> None:
    """Raise Corrupt where there are rows of games that no log can have."""
    games = sum(segment.games - len(segment.excluded) for segment in manifest.segments)
    if games != rows["games"]:
        raise _differ("there are games in them that are not in the log", table="games")


def _check_series(table: Table, chunks: Sequence[Chunk], generation: Path, anew: Iterator[list[Row]]) -> int:
    """Hold the rows of a series against what is made anew, some at a time."""
    count = 0
    pieces = (read_rows(chunk.path(generation, table.name)) for chunk in chunks)
    kept = schema_of(table).empty_table()
    for rows in anew:
        made = arrow_table(table, rows)
        while kept.num_rows < made.num_rows and (more := next(pieces, None)) is not None:
            kept = pa.concat_tables([kept, more.cast(kept.schema)])
        if not made.equals(kept.slice(0, made.num_rows)):
            raise _differ("", table=table.name)
        kept = kept.slice(made.num_rows)
        count += made.num_rows
    if kept.num_rows or next(pieces, None) is not None:
        raise _differ("there are more rows than follow from the log", table=table.name)
    return count


def _refusals(source: Source, count: int) -> Iterator[list[Row]]:
    rows = (refusal_row(number, refused) for number, refused in enumerate(islice(source.refusals(), count), start=1))
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        yield some


def _overlapping(segments: Iterable[Segment], first: int, last: int) -> tuple[Segment, ...]:
    return tuple(segment for segment in segments if segment.first <= last and first <= segment.last)


def _differ(problem: str, **facts: object) -> Corrupt:
    if problem:
        facts["problem"] = problem
    return Corrupt(Code.TABLES_DIFFER, rule="", **facts)
