"""The segments of a generation: what is in them, and which of their games another has newer.

Rows are only ever added, as a segment of whole games, and the games in it are excluded from the segments that had them.
What is excluded goes, and small segments become larger ones, when segments are merged (`merging` says which).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from heptalog.analytics.keeping.manifest import Segment, kept
from heptalog.analytics.keeping.merging import due
from heptalog.analytics.keeping.piles import Piles
from heptalog.analytics.keeping.place import SEGMENTS
from heptalog.analytics.keeping.segments import NUMBER, Compression, read, write_file

_Numbers: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]

# What is smaller is soon merged, and not worth packing.
_PACKED_ROWS_MIN: Final = 8_000


class Shelf:
    """All segments. The files of those that it no longer has are in `retired`, for whoever takes them away."""

    def __init__(self, generation: Path, segments: Iterable[Segment] = (), *, number: int = 1) -> None:
        self._generation = generation
        self.number = number
        self._segments = {segment.number: segment for segment in segments}
        # What is read often, by the number of the segment: its games, and all of one that is soon merged.
        self._numbers: dict[int, _Numbers] = {}
        self._at_hand: dict[int, Mapping[str, pa.Table]] = {}
        self.retired: list[Path] = []

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments as they are now."""
        return tuple(self._segments.values())

    def take_number(self) -> int:
        """The number of the next file."""
        self.number += 1
        return self.number - 1

    def add(self, piles: Piles) -> None:
        """Write the rows of these games, in place of what was written of them. Raises OSError, Damaged."""
        for (ruleset, month, is_open), tables in piles.tables():
            segment = self._written(tables, ruleset=ruleset, month=month, is_open=is_open)
            self._exclude(segment)
            self._segments[segment.number] = segment

    def tidy(self, *, patience: int = 1) -> bool:
        """Merge what is most in need of it; False where all is in order. Raises OSError."""
        merged = due(self.segments, patience=patience)
        if not merged:
            return False
        rows = rows_in(self._generation, merged, at_hand=self._at_hand)
        first = merged[0]
        whole = self._written(rows, ruleset=first.ruleset, month=first.month, is_open=first.is_open)
        for segment in merged:
            self._retire(segment)
        self._segments[whole.number] = whole
        return True

    def _written(self, tables: Mapping[str, pa.Table], *, ruleset: str, month: str, is_open: bool) -> Segment:
        number = self.take_number()
        rows = sum(table.num_rows for table in tables.values())
        is_small = rows < _PACKED_ROWS_MIN
        compression: Compression = "none" if is_small else "zstd"
        if is_small:
            self._at_hand[number] = tables = {name: table.combine_chunks() for name, table in tables.items()}
        files = {
            name: kept(
                write_file(
                    self._generation / SEGMENTS,
                    name,
                    table,
                    number,
                    ruleset=ruleset,
                    month=month,
                    compression=compression,
                )
            )
            for name, table in tables.items()
            if table.num_rows
        }
        numbers = tables["games"][NUMBER].to_numpy()
        self._numbers[number] = numbers
        return Segment(number, ruleset, month, is_open, len(numbers), int(numbers[0]), int(numbers[-1]), rows, files)

    def _exclude(self, newer: Segment) -> None:
        """Read the games of a new segment no longer from those that had them."""
        numbers = self._numbers_of(newer)
        for segment in self.segments:
            is_beside = (segment.ruleset, segment.month) == (newer.ruleset, newer.month)
            if is_beside and segment.first <= newer.last and newer.first <= segment.last:
                found = numbers[np.isin(numbers, self._numbers_of(segment), assume_unique=True)]
                excluded = sorted({*segment.excluded, *found.tolist()})
                if len(excluded) == segment.games:
                    self._retire(segment)
                elif len(excluded) > len(segment.excluded):
                    self._segments[segment.number] = replace(segment, excluded=tuple(excluded))

    def _retire(self, segment: Segment) -> None:
        del self._segments[segment.number]
        self._numbers.pop(segment.number, None)
        self._at_hand.pop(segment.number, None)
        self.retired += [segment.path(self._generation, table) for table in segment.files]

    def _numbers_of(self, segment: Segment) -> _Numbers:
        if segment.number not in self._numbers:
            rows = read(segment.path(self._generation, "games"), segment.files["games"].sha256, columns=[NUMBER])
            self._numbers[segment.number] = rows[NUMBER].to_numpy()
        return self._numbers[segment.number]


def rows_in(
    generation: Path,
    segments: Iterable[Segment],
    *,
    first: int = 0,
    last: int | None = None,
    at_hand: Mapping[int, Mapping[str, pa.Table]] = MappingProxyType({}),
) -> dict[str, pa.Table]:
    """The rows that are read of segments, by table, in the order of games; of games with such numbers. Raises Damaged.

    A table without rows is not there, nor are the columns of PARTITIONS. What is `at_hand` by the number of its segment
    is not read again; it is for who asks for all.
    """
    pieces: dict[str, list[pa.Table]] = {}
    for segment in segments:
        excluded = np.array(segment.excluded, np.int64)
        for table, file in segment.files.items():
            if segment.number in at_hand:
                rows = at_hand[segment.number][table]
            else:
                rows = read(segment.path(generation, table), file.sha256, first=first, last=last)
            if segment.excluded:
                rows = rows.filter(pa.array(~np.isin(rows[NUMBER].to_numpy(), excluded)))
            if rows.num_rows:
                pieces.setdefault(table, []).append(rows)
    return {table: sorted_rows(pa.concat_tables(some)) for table, some in pieces.items()}


def sorted_rows(rows: pa.Table) -> pa.Table:
    """Rows in the order of games, those of one game in the order in which they are."""
    numbers = rows[NUMBER].to_numpy()
    if (np.diff(numbers) >= 0).all():
        return rows
    return rows.take(np.argsort(numbers, kind="stable"))
