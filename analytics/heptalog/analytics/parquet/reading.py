"""The way back: the tables of an export to ask questions of, and the records of its games."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow.parquet as pq
from msgspec import Struct

from heptalog.analytics.keeping.place import check_name
from heptalog.analytics.parquet.manifest import Listed, Manifest, check_files, check_sizes, damaged, foreign, read
from heptalog.analytics.parquet.records import EVENTS
from heptalog.analytics.snapshots import Part, Snapshot
from heptalog.analytics.tables import TABLES

# So many events are in memory at once.
_EVENTS_AT_ONCE: Final = 50_000

_GAMES: Final = """
    SELECT game_number, events FROM read_parquet(?, hive_partitioning = false) ORDER BY game_number
"""
_RECORDS: Final = """
    SELECT game_number, position, game_id, sequence, record FROM read_parquet(?, hive_partitioning = false)
    WHERE game_number BETWEEN ? AND ? ORDER BY game_number, sequence
"""


class Kept(Struct, frozen=True):
    """One record as an export has it."""

    position: int
    game_id: str
    sequence: int
    record: bytes


class KeptGame(Struct, frozen=True):
    """One game of an export, and its records in sequence."""

    game_id: str
    records: tuple[Kept, ...]


class _Span(NamedTuple):
    path: str
    low: int
    high: int


def opened(folder: Path) -> Snapshot:
    """The tables of an export as one moment to ask questions of; its records are not among them.

    Raises Unavailable where there is none, or its path has something that would be read as more than a name, and
    Corrupt (EXPORT_DAMAGED) where a file is missing or has another size.
    """
    manifest = _parquet(folder)
    check_sizes(folder, manifest.files)
    place = folder.resolve()
    check_name(place)
    tables = {
        table.name: tuple(Part(str(place / file.path)) for file in manifest.of(table.name) if file.rows)
        for table in TABLES
    }
    return Snapshot(manifest.position, manifest.refusals, (str(place),), tables)


def check(folder: Path) -> None:
    """Read all of an export. Raises Corrupt (EXPORT_DAMAGED) where a file is missing, or is not what was written."""
    check_files(folder, _parquet(folder).files)


def kept_games(folder: Path) -> Iterator[KeptGame]:
    """The games of an export, by the positions of their first events; every file is held against its hash first.

    Raises Unavailable where there is no export, and Corrupt (EXPORT_DAMAGED) where it is not what was written.
    """
    manifest = _parquet(folder)
    check_files(folder, manifest.files)
    with duckdb.connect() as connection:
        try:
            yield from _games(connection, folder, manifest)
        except duckdb.Error as error:
            raise damaged(folder, "a file cannot be read") from error


def _games(connection: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> Iterator[KeptGame]:
    paths = [str(folder / file.path) for file in manifest.of("games")]
    if not paths:
        return
    spans = [_span(folder, file) for file in manifest.of(EVENTS.name) if file.rows]
    for counts in _some(connection.execute(_GAMES, [paths]).fetchall()):
        low, high = counts[0][0], counts[-1][0]
        files = [span.path for span in spans if span.low <= high and span.high >= low]
        rows = connection.execute(_RECORDS, [files, low, high]).fetchall() if files else []
        found = {number: tuple(Kept(*row[1:]) for row in some) for number, some in groupby(rows, key=itemgetter(0))}
        for number, count in counts:
            records = found.pop(number, ())
            if len(records) != count:
                raise damaged(folder, f"game {number} has {len(records):,} events and not {count:,}")
            yield KeptGame(records[0].game_id, records)
        if found:
            raise damaged(folder, f"game {min(found)} is not in the list of games")


def _some(games: Sequence[tuple[int, int]]) -> Iterator[Sequence[tuple[int, int]]]:
    """The games in runs of about so many events."""
    start = events = 0
    for place, (_, count) in enumerate(games):
        events += count
        if events >= _EVENTS_AT_ONCE:
            yield games[start : place + 1]
            start, events = place + 1, 0
    if start < len(games):
        yield games[start:]


def _span(folder: Path, file: Listed) -> _Span:
    """The first and the last game of a file."""
    path = folder / file.path
    groups: Any = pq.read_metadata(path)
    place = groups.schema.names.index("game_number")
    found = [groups.row_group(number).column(place).statistics for number in range(groups.num_row_groups)]
    return _Span(str(path), min(each.min for each in found), max(each.max for each in found))


def _parquet(folder: Path) -> Manifest:
    manifest = read(folder)
    if manifest.kind != "parquet":
        raise foreign(folder, f"it holds {manifest.kind}, and only an export as parquet can be read")
    return manifest
