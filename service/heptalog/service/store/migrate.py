"""Opening a database: made where there is none, brought up to date where it is older, not touched where it is not ours.

A file is looked at read-only before it is opened for writing, so that one which is foreign, damaged, newer or shorter
than its head record stays as it is, byte for byte. A new database is made beside its place and then linked there,
whole: whatever happens in between, there is never half of one.
"""

import os
import time
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import duckdb
from msgspec import Struct

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.store.duck_faults import meaning
from heptalog.service.store.files import sync_folder
from heptalog.service.store.opening import Guard, in_doubt

# What the oldest engine that may read a new file understands, so that a downgrade stays possible.
STORAGE_VERSION: Final = "v1.5.0"
# A checkpoint holds up commits for about 0.05 seconds per 16 MB; a smaller threshold costs throughput.
CHECKPOINT_THRESHOLD: Final = "32MB"
# What is read and written stays in memory up to here; left to the engine it would be most of what the machine has.
MEMORY_BYTES: Final = 1 << 30

NOT_UTF8: Final = "the engine takes only files whose names are UTF-8"
# The name of the database in every connection. Left to the engine it would be that of the file, and in a file named
# `log` nobody could tell the schema `log` from the database.
USE: Final = "USE heptalog"
_ATTACH: Final = "ATTACH ? AS heptalog (TYPE duckdb)"
_ATTACH_READ_ONLY: Final = "ATTACH ? AS heptalog (TYPE duckdb, READ_ONLY)"
_DETACH: Final = "USE memory; DETACH heptalog"
_ATTACH_NEW: Final = f"ATTACH ? AS heptalog (TYPE duckdb, STORAGE_VERSION '{STORAGE_VERSION}')"

_SETTINGS: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "checkpoint_threshold": CHECKPOINT_THRESHOLD,
    "memory_limit": f"{MEMORY_BYTES}B",
    # A misspelt table must be an error, not a Python variable of that name.
    "python_enable_replacements": "false",
}


class Migration(Struct, frozen=True):
    """One step from an older schema to a newer one."""

    number: int
    name: str
    statements: str


def open_database(path: Path, *, is_read_only: bool, guard: Guard | None = None) -> duckdb.DuckDBPyConnection:
    """A connection to an up-to-date database of ours.

    Raises Unavailable, or Corrupt where the file is damaged or not what its head record says. Further connections made
    from it with `cursor` begin with `USE`, which they do not inherit.
    """
    guard = guard or Guard(path.resolve(), time.time_ns)
    check_name(path)
    try:
        return _opened(path, guard, is_read_only=is_read_only)
    except duckdb.Error as error:
        raise in_doubt(path.resolve(), meaning(error, path, is_open=False)) from error
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem=error.strerror or "") from error
    except HeptalogError as error:
        if (told := in_doubt(path.resolve(), error)) is error:
            raise
        raise told from error


def look_into(path: Path) -> tuple[duckdb.DuckDBPyConnection, int]:
    """A connection for reading to a database of ours, whatever its head record says, and the number of its schema.

    Raises Unavailable, or Corrupt where the file is damaged. An older schema lacks the tables of later ones.
    """
    check_name(path)
    try:
        connection = _engine(path)
        try:
            _attach(connection, path, _ATTACH_READ_ONLY)
            return connection, _applied(connection, path)
        except BaseException:
            connection.close()
            raise
    except duckdb.Error as error:
        raise meaning(error, path, is_open=False) from error


def check_name(path: Path) -> None:
    """Raise Unavailable where the engine could not be told of a file, because it is not named in UTF-8."""
    shown = os.fsencode(path).decode(errors="backslashreplace")
    if shown != str(path):
        raise Unavailable(Code.SOURCE_UNREADABLE, path=shown, problem=NOT_UTF8)


def migrations() -> tuple[Migration, ...]:
    """All steps, in order."""
    folder = resources.files("heptalog.service.store") / "migrations"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    steps = tuple(Migration(int(file.name[:4]), file.name, file.read_text("utf-8")) for file in files)
    assert [step.number for step in steps] == list(range(1, len(steps) + 1)), "steps are numbered without gaps"
    return steps


def migrate(connection: duckdb.DuckDBPyConnection, steps: tuple[Migration, ...]) -> None:
    """Apply these steps, each in a transaction of its own."""
    for step in steps:
        connection.execute("BEGIN")
        try:
            connection.execute(step.statements)
            connection.execute("INSERT INTO log.migrations VALUES (?, ?, now())", [step.number, step.name])
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise


def _opened(path: Path, guard: Guard, *, is_read_only: bool) -> duckdb.DuckDBPyConnection:
    if not path.exists():
        guard.absent()
        if is_read_only:
            raise Unavailable(Code.SOURCE_NOT_FOUND, path=str(path))
        _create(path)
    if not path.is_file():
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem="not a file")
    connection, count = look_into(path)
    try:
        if is_read_only and count < len(migrations()):
            problem = "it has an older schema: serve or import into it once, and it is brought up to date"
            raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem=problem)
        guard.look(connection, count, is_read_only=is_read_only)
        if not is_read_only:
            _open_for_writing(connection, path, guard)
    except BaseException:
        connection.close()
        raise
    return connection


def _create(path: Path) -> None:
    wal = path.with_name(path.name + ".wal")
    if wal.exists():
        # The engine would throw it away, and it may hold all that is left of a log.
        raise Unavailable(Code.DATABASE_FOREIGN, path=str(wal))
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        made = Path(folder) / path.name
        connection = _engine(made)
        try:
            _attach(connection, made, _ATTACH_NEW)
            migrate(connection, migrations())
            connection.execute("CHECKPOINT")
        finally:
            connection.close()
        try:
            # Unlike a rename, a link never replaces what somebody else has put there meanwhile.
            os.link(made, path)
        except FileExistsError:
            return
    sync_folder(path.parent)


def _open_for_writing(connection: duckdb.DuckDBPyConnection, path: Path, guard: Guard) -> None:
    """Open for writing what this connection has open for reading: another engine would take as long as all the rest."""
    connection.execute(_DETACH)
    _attach(connection, path, _ATTACH)
    count = _applied(connection, path)
    # Before the schema changes: one that has evidence has a head record too, whatever happens in between.
    guard.hold(connection, count)
    migrate(connection, migrations()[count:])


def _engine(path: Path) -> duckdb.DuckDBPyConnection:
    """An engine for one database, with nothing in it yet."""
    # Each has an engine of its own: two that shared one would not see that they are two, and a database has one writer.
    # What is too large for its memory goes beside the database, not to where the process happens to run.
    return duckdb.connect(":memory:", config=_SETTINGS | {"temp_directory": f"{path}.tmp"})


def _attach(connection: duckdb.DuckDBPyConnection, path: Path, attach: str) -> None:
    connection.execute(attach, [str(path)])
    connection.execute(USE)


def _applied(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """How many of our steps this database has. Raises Unavailable where it is not ours, or newer."""
    try:
        rows = connection.execute("SELECT number, name FROM log.migrations ORDER BY number").fetchall()
    except (duckdb.CatalogException, duckdb.BinderException):
        raise Unavailable(Code.DATABASE_FOREIGN, path=str(path)) from None
    known = [(step.number, step.name) for step in migrations()]
    if not rows or rows[: len(known)] != known[: len(rows)]:
        raise Unavailable(Code.DATABASE_FOREIGN, path=str(path))
    if len(rows) > len(known):
        raise Unavailable(Code.DATABASE_NEWER, path=str(path), version=len(rows), known=len(known))
    return len(rows)
