"""Tables as files: one Parquet file a table, ruleset and month, whole when it appears, and never changed after."""

import os
from collections.abc import Iterator, Mapping
from hashlib import file_digest, sha256
from pathlib import Path
from typing import IO, Final, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from heptalog.analytics.tables import PARTITIONS

Compression: TypeAlias = Literal["zstd", "none"]

# What is written beside a file until it is whole.
PART_SUFFIX: Final = ".part"
NUMBER: Final = "game_number"
# So many rows are read, or passed over, at once.
_ROW_GROUP_SIZE: Final = 122_880


class Damaged(Exception):
    """A file of the tables is gone, or is not what was written."""


class File(Struct, frozen=True):
    """One file of a table; `path` is relative to the folder. What is of no ruleset or month has empty ones."""

    table: str
    ruleset: str
    month: str
    path: str
    rows: int
    size: int
    sha256: str


def write(
    folder: Path,
    tables: Mapping[str, pa.Table],
    number: int,
    *,
    compression: Compression = "zstd",
    is_durable: bool = False,
) -> tuple[File, ...]:
    """Write these rows as files with a number, each whole or not at all; a table without rows has none.

    Where a table has both columns of PARTITIONS they become part of the path, and are in no file. A file that is there
    already is replaced. `is_durable` says that each is on the disk when this returns. Raises OSError.
    """
    return tuple(
        write_file(
            folder, name, rows, number, ruleset=ruleset, month=month, compression=compression, is_durable=is_durable
        )
        for name, table in tables.items()
        for (ruleset, month), rows in partitions(table)
        if rows.num_rows
    )


def write_file(
    folder: Path,
    table: str,
    rows: pa.Table,
    number: int,
    *,
    ruleset: str = "",
    month: str = "",
    compression: Compression = "zstd",
    is_durable: bool = False,
) -> File:
    """Write these rows, which have no columns of PARTITIONS, as one file. Raises OSError."""
    relative = path_of(table, ruleset, month, number)
    path = folder / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + PART_SUFFIX)
    pq.write_table(rows, part, compression=compression, row_group_size=_ROW_GROUP_SIZE, write_page_checksum=True)
    sha256 = sha256_of(part)
    if is_durable:
        sync(part)
    part.replace(path)
    if is_durable:
        # The folders may be new as well, up to the one that was given.
        for parent in path.parents:
            if parent.is_relative_to(folder):
                sync(parent)
    return File(table, ruleset, month, relative, rows.num_rows, path.stat().st_size, sha256)


def read(
    path: Path, written: str | None = None, *, columns: list[str] | None = None, first: int = 0, last: int | None = None
) -> pa.Table:
    """The rows of a file, without what its path says; of games with numbers from `first` to `last`.

    Raises Damaged, also where the SHA-256 of the file is not what was `written`.
    """
    bounds = None
    if first or last is not None:
        bounds = pc.field(NUMBER) >= first
        bounds = bounds if last is None else bounds & (pc.field(NUMBER) <= last)
    try:
        # Not by its name, from whose folders columns would be made up; and by one thread, for others work beside it.
        with path.open("rb") as file:
            return pq.read_table(
                file if written is None else _whole(file, written),
                columns=columns,
                filters=bounds,
                use_threads=False,
                pre_buffer=False,
                page_checksum_verification=True,
            )
    except (FileNotFoundError, pa.ArrowInvalid) as error:
        raise Damaged(path.name) from error
    except OSError as error:
        # A page is not what its checksum says: only what the operating system says has a number.
        if error.errno is None:
            raise Damaged(path.name) from error
        raise


def _whole(file: IO[bytes], written: str) -> pa.BufferReader:
    """All of a file, as it was written: the sums of its pages say nothing of what stands around them."""
    data = file.read()
    if sha256(data).hexdigest() != written:
        raise Damaged(Path(file.name).name)
    return pa.BufferReader(data)


def partitions(table: pa.Table) -> Iterator[tuple[tuple[str, str], pa.Table]]:
    """The rows of each ruleset and month, in their order, without these two; all of them where there are not both."""
    if not set(PARTITIONS) <= set(table.column_names):
        yield ("", ""), table
        return
    keys = table.select(PARTITIONS).group_by(list(PARTITIONS)).aggregate([]).to_pylist()
    for ruleset, month in sorted((key["ruleset"], key["month"]) for key in keys):
        rows = table
        if len(keys) > 1:
            rows = table.filter(pc.and_(pc.equal(table["ruleset"], ruleset), pc.equal(table["month"], month)))
        yield (ruleset, month), rows.drop_columns(list(PARTITIONS))


def path_of(table: str, ruleset: str, month: str, number: int) -> str:
    """Where a file lies in its folder."""
    place = f"ruleset={ruleset}/month={month}/" if ruleset or month else ""
    return f"{table}/{place}{number:06}.parquet"


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hex. Raises OSError."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Have a file or a folder on the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
