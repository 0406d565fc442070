"""What can still be read of a database that the engine refuses, tried on copies: nothing is opened where it lies.

A write-ahead log that is damaged in the middle is refused whole, though all before the damage is as it was. The engine
takes one that is cut off for a crash, and reads what is whole of it; so where to cut is found by cutting copies.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import duckdb
from msgspec import Struct

from heptalog.replay.errors import Code, HeptalogError
from heptalog.service.store.migrate import look_into
from heptalog.service.store.opening import POSITION
from heptalog.service.store.space import space_at, wal_size

# What is copied and read for it, in bytes; the write-ahead log once for each time that the place is halved.
DATABASE_SIZE_MAX: Final = 1024 * 1024 * 1024
WAL_SIZE_MAX: Final = 128 * 1024 * 1024
_RECORDS: Final = "SELECT count(*) FROM log.events WHERE octet_length(event) > 0"
_UNREAD: Final = frozenset({Code.RECORD_DAMAGED, Code.DATABASE_FOREIGN})


class Salvage(Struct, frozen=True):
    """The first so many events that can be read: without the write-ahead log, and with what is whole of it."""

    in_database: int | None  # None where the database cannot be read without it either
    readable: int = 0
    wal_size: int = 0  # the bytes of the write-ahead log that these are in; the damage comes after


def salvaged(database: Path) -> Salvage | None:
    """What can be read with the write-ahead log cut off; None where there is none, or where it cannot be told."""
    try:
        size = wal_size(database)
        if not 0 < size <= WAL_SIZE_MAX or database.stat().st_size > DATABASE_SIZE_MAX:
            return None
        with TemporaryDirectory(prefix="heptalog-") as folder:
            return _tried(database, Path(folder))
    except (OSError, HeptalogError):
        return None


def _tried(database: Path, folder: Path) -> Salvage | None:
    # The engine may want as much again.
    if space_at(folder).free < 2 * (database.stat().st_size + wal_size(database)):
        return None
    copy, wal = folder / "copy.duckdb", folder / "copy.duckdb.wal"
    shutil.copyfile(database, copy)
    in_database = _events_in(copy, is_whole=True)
    if in_database is None:
        return Salvage(None)
    content = database.with_name(database.name + ".wal").read_bytes()
    wal.write_bytes(content)
    if _events_in(copy) is not None:
        return None
    readable, whole, damaged = in_database, 0, len(content)
    while damaged - whole > 1:
        middle = (whole + damaged) // 2
        wal.write_bytes(content[:middle])
        found = _events_in(copy)
        if found is None:
            damaged = middle
        else:
            readable, whole = found, middle
    return Salvage(in_database, readable, whole)


def _events_in(database: Path, *, is_whole: bool = False) -> int | None:
    """How many events a log has; None where the engine refuses it, or where not all of them are there.

    Raises HeptalogError where it cannot be tried.
    """
    try:
        connection, _ = look_into(database)
        try:
            ((position,),) = connection.execute(POSITION).fetchall()
            # Every block of the records is read for it.
            if is_whole and connection.execute(_RECORDS).fetchall() != [(position,)]:
                return None
        finally:
            connection.close()
    except duckdb.Error:
        return None
    except HeptalogError as error:
        if error.code in _UNREAD:
            return None
        raise
    return int(position)
