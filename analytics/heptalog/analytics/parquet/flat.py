"""One file a table, for what reads no folders: Arrow as it is in memory, or CSV.

They are made from an export as Parquet, which is made for this and removed: so they have the same rows, and making them
takes as many cores and as little memory. There is no going on where they ended: each time they are made anew.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct
from msgspec.structs import replace

from heptalog.analytics.csv_values import value_in_sql
from heptalog.analytics.parquet.exporting import Begin, Exported, Exporting, Settings, exporting
from heptalog.analytics.parquet.folder import Place, taken, unwritten
from heptalog.analytics.parquet.manifest import Listed, read
from heptalog.analytics.parquet.records import EXPORTED, columns, schema
from heptalog.analytics.sql import quoted
from heptalog.analytics.tables import PARTITIONS, Column

FlatKind: TypeAlias = Literal["arrow", "csv"]

_ROWS_AT_ONCE: Final = 65_536


class Flatten(Struct, frozen=True):
    """Files of a table to be made into one."""

    kind: FlatKind
    table: str
    inputs: tuple[Listed, ...]
    source: str
    target: str


class Flattening:
    """An export on its way, and then its tables."""

    def __init__(self, place: Place, inner: Exporting, settings: Settings, kind: FlatKind) -> None:
        self._place = place
        self._inner = inner
        self._settings = settings
        self._kind: FlatKind = kind

    @property
    def events(self) -> int:
        """How many events there are."""
        return self._inner.events

    def run(self, tell: Callable[[int], None] = lambda count: None) -> Exported:
        """Export; `tell` is given how many events have been done since it was last. Raises what the log raises."""
        exported = self._inner.run(tell)
        source = Path(exported.folder)
        manifest = read(source)
        work = [
            Flatten(self._kind, table.name, manifest.of(table.name), str(source), str(self._place.new))
            for table in EXPORTED
        ]
        try:
            files = tuple(self._settings.at_once(flattened, work) if self._inner.is_large else map(flattened, work))
            tables = tuple(replace(table, is_partitioned=False) for table in manifest.tables)
            done = replace(manifest, kind=self._kind, number=0, tables=tables, files=files)
            self._place.publish(done)
        except (OSError, duckdb.Error) as error:
            raise unwritten(self._place.folder, error) from error
        return replace(exported, folder=str(self._place.folder), files=len(files), size=done.size)


@contextmanager
def flattening(folder: Path, begin: Begin, settings: Settings, kind: FlatKind) -> Iterator[Flattening]:
    """An export of a log as one file a table; each takes the place of the one before. Raises as `exporting` does."""
    with (
        taken(folder, kind) as place,
        exporting(place.work / "parquet", begin, settings) as inner,
    ):
        # It takes the place of that one, so it has to be of the same log, and no shorter.
        inner.check_follows(place)
        yield Flattening(place, inner, settings, kind)


def flattened(work: Flatten) -> Listed:
    """Make one file of a table; it is on the disk. Raises OSError, duckdb.Error."""
    table = next(table for table in EXPORTED if table.name == work.table)
    name = f"{table.name}.{work.kind}"
    path = Path(work.target) / name
    paths = [str(Path(work.source) / file.path) for file in work.inputs]
    if work.kind == "csv":
        _write_csv(columns(table), paths, path, is_partitioned=table.is_of_games)
    else:
        _write_arrow(schema(table), work, path)
    with path.open("rb") as file:
        os.fsync(file.fileno())
        digest = file_digest(file, "sha256").hexdigest()
    rows = sum(file.rows for file in work.inputs)
    return Listed(table.name, "", "", name, rows, path.stat().st_size, digest)


def _write_arrow(fields: pa.Schema, work: Flatten, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, fields) as writer:
        for file in work.inputs:
            values: dict[str, str] = dict(zip(PARTITIONS, (file.ruleset, file.month), strict=True))
            with pq.ParquetFile(Path(work.source) / file.path) as parquet:
                for batch in parquet.iter_batches(batch_size=_ROWS_AT_ONCE):
                    arrays = [
                        batch[field.name] if field.name in batch.schema.names else _same(values[field.name], len(batch))
                        for field in fields
                    ]
                    writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=fields))


def _same(value: str, count: int) -> "pa.Array[Any]":
    return pa.array([value] * count, type=pa.string())


def _write_csv(named: Sequence[Column], paths: Sequence[str], path: Path, *, is_partitioned: bool) -> None:
    values = ", ".join(f"{value_in_sql(column)} AS {column.name}" for column in named)
    files = ", ".join(map(quoted, paths))
    hive = "true" if is_partitioned else "false"
    read_parquet = f"read_parquet([{files}], hive_partitioning = {hive}, hive_types_autocast = false)"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {values} FROM {read_parquet}) TO {quoted(str(path))} (FORMAT csv, HEADER)"  # noqa: S608
        )
