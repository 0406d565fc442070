"""The second half of the work, in as many processes as there are: pieces, and what is small already, into files.

Files of one table, ruleset and month are merged before they become many: a new one takes in the one before it as long
as that is less than a few times as large as itself. So after any number of exports there are few, and a row is written
only a few times in all.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from heptalog.analytics.keeping.segments import path_of
from heptalog.analytics.parquet.manifest import Listed
from heptalog.analytics.parquet.records import EXPORTED, schema
from heptalog.analytics.tables import PARTITIONS

# A file of so many bytes is full: another is begun.
FILE_SIZE: Final = 64 << 20
# So many times as large as what is new a file may be to be merged with it.
_TIMES: Final = 4
# So many rows, or about so many bytes, are decoded and passed over at once by who reads.
_ROWS_AT_ONCE: Final = 122_880
_BYTES_AT_ONCE: Final = 64 << 20
# No two values of these are alike, so a dictionary of them is only in the way.
_UNLIKE: Final = frozenset({"record", "hash", "event_id"})


class Rule(Struct, frozen=True):
    """Which rows are not taken over: those with some values in a column, or with such a value or a greater one."""

    column: str
    excluded: tuple[int | str, ...] = ()
    end: int | None = None


class Input(Struct, frozen=True):
    """A file, and which of its rows are not taken over."""

    path: str
    rule: Rule | None = None


class Merge(Struct, frozen=True):
    """Files of one table, ruleset and month to be made into others, which are numbered from `number` on."""

    table: str
    ruleset: str
    month: str
    inputs: tuple[Input, ...]
    folder: str
    number: int
    is_unfinished: bool = False
    file_size: int = FILE_SIZE


def tail_of(files: Sequence[Listed], size: int, file_size: int = FILE_SIZE) -> tuple[Listed, ...]:
    """Those of the last files that something new of this many bytes takes in."""
    taken: list[Listed] = []
    for file in reversed(files):
        if file.size >= file_size or file.size >= _TIMES * size:
            break
        taken.append(file)
        size += file.size
    return tuple(reversed(taken))


def merged(merge: Merge) -> tuple[Listed, ...]:
    """Do it; each file is on the disk. Where there are no inputs at all, one file without rows. Raises OSError."""
    out = _Out(merge)
    try:
        if not merge.inputs:
            out.write(_schema(merge).empty_table())
        for table in _large(_batches(merge)):
            out.write(table)
        return out.finished()
    finally:
        out.close()


def _batches(merge: Merge) -> Iterator[pa.Table]:
    fields = _schema(merge)
    for each in merge.inputs:
        with pq.ParquetFile(each.path, memory_map=False) as file:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                table = pa.Table.from_batches([batch]).select(fields.names).cast(fields)
                yield table if each.rule is None else _without(table, each.rule)


def _without(table: pa.Table, rule: Rule) -> pa.Table:
    if rule.excluded:
        column = table[rule.column]
        table = table.filter(pc.invert(pc.is_in(column, value_set=pa.array(rule.excluded, type=column.type))))
    if rule.end is not None:
        column = table[rule.column]
        table = table.filter(pc.less(column, pa.scalar(rule.end, type=column.type)))
    return table


def _large(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in groups that are worth to be decoded at once."""
    waiting: list[pa.Table] = []
    rows = size = 0
    for table in tables:
        waiting.append(table)
        rows += table.num_rows
        size += table.nbytes
        while rows >= _ROWS_AT_ONCE or size >= _BYTES_AT_ONCE:
            whole = pa.concat_tables(waiting)
            yield whole.slice(0, _ROWS_AT_ONCE)
            rest = whole.slice(_ROWS_AT_ONCE)
            waiting, rows, size = [rest], rest.num_rows, rest.nbytes
    if rows:
        yield pa.concat_tables(waiting)


def _schema(merge: Merge) -> pa.Schema:
    """The columns of its files: those of the path are not in them."""
    fields = schema(next(table for table in EXPORTED if table.name == merge.table))
    if not merge.ruleset:
        return fields
    return pa.schema([field for field in fields if field.name not in PARTITIONS])


class _Out:
    """The files that are written, one after the other."""

    def __init__(self, merge: Merge) -> None:
        self._merge = merge
        self._schema = _schema(merge)
        self._files: list[Listed] = []
        self._sink: pa.OSFile | None = None
        self._writer: pq.ParquetWriter | None = None
        self._rows = 0

    def write(self, table: pa.Table) -> None:
        """The next rows."""
        if self._writer is None or self._sink is None:
            self._writer, self._sink = self._begun()
        self._writer.write_table(table, row_group_size=_ROWS_AT_ONCE)
        self._rows += table.num_rows
        if self._sink.tell() >= self._merge.file_size:
            self._end()

    def finished(self) -> tuple[Listed, ...]:
        """The files, each on the disk."""
        self._end()
        return tuple(self._files)

    def close(self) -> None:
        """Let go of what was not finished."""
        if self._sink is not None:
            self._sink.close()

    @property
    def _path(self) -> str:
        merge = self._merge
        return path_of(merge.table, merge.ruleset, merge.month, merge.number + len(self._files))

    def _begun(self) -> tuple[pq.ParquetWriter, pa.OSFile]:
        path = Path(self._merge.folder) / self._path
        path.parent.mkdir(parents=True, exist_ok=True)
        sink = pa.OSFile(str(path), "wb")
        alike: Any = [name for name in self._schema.names if name not in _UNLIKE]
        return pq.ParquetWriter(sink, self._schema, compression="zstd", use_dictionary=alike), sink

    def _end(self) -> None:
        if self._writer is None or self._sink is None:
            return
        self._writer.close()
        self._sink.close()
        merge, path = self._merge, Path(self._merge.folder) / self._path
        with path.open("rb") as file:
            os.fsync(file.fileno())
            digest = file_digest(file, "sha256").hexdigest()
        size = path.stat().st_size
        partition = (merge.ruleset, merge.month)
        self._files.append(
            Listed(merge.table, *partition, self._path, self._rows, size, digest, is_unfinished=merge.is_unfinished)
        )
        self._writer, self._sink, self._rows = None, None, 0
