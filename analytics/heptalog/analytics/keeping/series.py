"""A table whose rows are only added, in order: in chunks that follow each other, and are merged as they become many."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from heptalog.analytics.keeping.manifest import Chunk, kept
from heptalog.analytics.keeping.place import SEGMENTS
from heptalog.analytics.keeping.segments import read, write_file

# A chunk of so many rows is merged no more.
_FULL_ROWS: Final = 500_000
# The last chunks are merged while one is less than so many times what comes after it, as soon as they are so many.
_GROWTH: Final = 4
_SMALL_MAX: Final = 4


class Series:
    """The chunks of one table, ordered by one of its columns. Their files that are of no use are in `retired`."""

    def __init__(
        self, generation: Path, table: str, order: str, chunks: Iterable[Chunk], take_number: Callable[[], int]
    ) -> None:
        self._generation = generation
        self._table = table
        self._order = order
        self._chunks = list(chunks)
        self._take_number = take_number
        self.retired: list[Path] = []

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """The chunks as they are now."""
        return tuple(self._chunks)

    @property
    def last(self) -> int:
        """What the last row is ordered by; 0 where there is none."""
        return self._chunks[-1].last if self._chunks else 0

    def add(self, rows: pa.Table) -> None:
        """Write rows that come after all that there are. Raises OSError."""
        if rows.num_rows:
            self._chunks.append(self._written(rows))

    def cut(self, start: int) -> None:
        """Take away every row that is ordered by `start` or more. Raises OSError."""
        while self._chunks and self._chunks[-1].last >= start:
            chunk = self._chunks.pop()
            if chunk.first < start:
                rows = self._rows([chunk])
                self.add(rows.filter(pc.less(rows[self._order], pa.scalar(start, pa.int64()))))
            self.retired.append(chunk.path(self._generation, self._table))

    def tidy(self, *, patience: int = 1) -> bool:
        """Merge the last chunks, where they are small and many; False where they are not. Raises OSError."""
        small: list[Chunk] = []
        rows = 0
        for chunk in reversed(self._chunks):
            if chunk.kept.rows >= min(_FULL_ROWS, max(rows * _GROWTH, 1)) and small:
                break
            small.insert(0, chunk)
            rows += chunk.kept.rows
        if len(small) < max(_SMALL_MAX * patience, 2):
            return False
        merged = self._written(self._rows(small))
        self._chunks[-len(small) :] = [merged]
        self.retired += [chunk.path(self._generation, self._table) for chunk in small]
        return True

    def _written(self, rows: pa.Table) -> Chunk:
        number = self._take_number()
        file = write_file(self._generation / SEGMENTS, self._table, rows, number)
        order = rows[self._order]
        return Chunk(number, order[0].as_py(), order[-1].as_py(), kept(file))

    def _rows(self, chunks: Iterable[Chunk]) -> pa.Table:
        return pa.concat_tables(read(chunk.path(self._generation, self._table), chunk.kept.sha256) for chunk in chunks)
