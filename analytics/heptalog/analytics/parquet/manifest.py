"""The manifest of an export: what the folder holds, in one JSON document that a person can read too.

It is the one name that counts: it is replaced whole, and what it does not name is not in the export. Its last field is
the SHA-256 of all that stands before.
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from heptalog.analytics.keeping.manifest import FORM as TABLES_FORM
from heptalog.analytics.keeping.segments import File, sha256_of
from heptalog.analytics.parquet.records import EXPORTED, columns, meaning
from heptalog.analytics.tables import Column
from heptalog.replay.errors import Code, Corrupt, Unavailable

NAME: Final = "manifest.json"
FORMAT: Final = "heptalog-export"
# Of the manifest and the files. What is in the tables has a form of its own, that of the tables beside a database.
# Where one of the two has changed, all is made anew.
FORM: Final = 1
SIZE_MAX: Final = 256 << 20  # bytes

Kind: TypeAlias = Literal["parquet", "arrow", "csv"]

_PATHS: Final = re.compile(
    r"[a-z][a-z_]*/(?:ruleset=[A-Za-z0-9_]+/month=\d{4}-\d{2}/)?\d{6,12}\.parquet|[a-z][a-z_]*\.(?:arrow|csv)"
)
_OURS: Final = re.compile(rb'"format"\s*:\s*"' + FORMAT.encode() + rb'"')
# How many files are read at once to be held against their hashes.
_READERS: Final = 4


class Listed(File, frozen=True, forbid_unknown_fields=True):
    """A file of an export. One that `is_unfinished` has running games, and the next export replaces it."""

    is_unfinished: bool = False


class Described(Struct, frozen=True, forbid_unknown_fields=True):
    """A table as a reader meets it."""

    name: str
    meaning: str
    is_partitioned: bool
    columns: tuple[Column, ...]


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """What an export holds: everything that follows from the events up to `position`, and from so many `refusals`.

    `log` is the hash of the first record of all and `hash` that of the record at the position; of an empty log they are
    empty. `number` is the last that was given to a file. From `refusals_open` on some are held back, 0 being none.
    """

    format: str = FORMAT
    form: int = FORM
    tables_form: int = TABLES_FORM
    kind: Kind = "parquet"
    made_by: str = ""
    made_at: str = ""
    log: str = ""
    position: int = 0
    hash: str = ""
    refusals: int = 0
    refusals_open: int = 0
    games: int = 0
    events: int = 0
    left_out: int = 0
    number: int = 0
    tables: tuple[Described, ...] = ()
    files: tuple[Listed, ...] = ()
    sha256: str = ""

    @property
    def is_current(self) -> bool:
        """Whether an export can go on from it."""
        return (self.form, self.tables_form) == (FORM, TABLES_FORM)

    def of(self, table: str) -> tuple[Listed, ...]:
        """The files of a table, in the order in which they are listed."""
        return tuple(file for file in self.files if file.table == table)

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)


class _Head(Struct):
    format: str = ""
    form: int = 0
    tables_form: int = 0


def described() -> tuple[Described, ...]:
    """All tables of an export."""
    return tuple(Described(table.name, meaning(table), table.is_of_games, columns(table)) for table in EXPORTED)


def encoded(manifest: Manifest) -> bytes:
    """The document, sealed by its own hash."""
    return msgspec.json.format(msgspec.json.encode(replace(manifest, sha256=_digest(manifest))), indent=1) + b"\n"


def is_export(folder: Path) -> bool:
    """Whether a folder says that it is an export of ours; how whole it is shows when it is read."""
    try:
        return _is_ours(_content(folder))
    except OSError:
        return False


def read(folder: Path) -> Manifest:
    """What an export holds.

    Raises Unavailable where the folder is none of ours (EXPORT_FOREIGN), is not there, or is newer (RECORD_NEWER), and
    Corrupt (EXPORT_DAMAGED) where the manifest is not what was written.
    """
    try:
        content = _content(folder)
    except FileNotFoundError as error:
        if not folder.exists():
            raise Unavailable(Code.SOURCE_NOT_FOUND, path=str(folder)) from error
        raise foreign(folder, "it has no manifest of an export") from error
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(folder / NAME), problem=error.strerror or "") from error
    if not _is_ours(content):
        raise foreign(folder, f"its {NAME} is another's")
    try:
        head = msgspec.json.decode(content, type=_Head)
        for version, known in ((head.form, FORM), (head.tables_form, TABLES_FORM)):
            if version > known:
                raise Unavailable(Code.RECORD_NEWER, path=str(folder / NAME), version=version, known=known)
        manifest = msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as error:
        raise damaged(folder / NAME, "it is not what was written") from error
    if manifest.sha256 != _digest(manifest):
        raise damaged(folder / NAME, "it is not what was written")
    for file in manifest.files:
        if not may_be_ours(file.path):
            raise damaged(folder / NAME, "it names a file that is none of an export")
    return manifest


def may_be_ours(path: str) -> bool:
    """Whether a file of an export can have this path; none leads out of its folder."""
    return _PATHS.fullmatch(path) is not None


def check_files(folder: Path, files: tuple[Listed, ...]) -> None:
    """Raise Corrupt (EXPORT_DAMAGED) where a file is missing, or is not what was written."""
    pool = ThreadPoolExecutor(_READERS)
    try:
        for _ in pool.map(lambda file: _check(folder, file), files):
            pass
    finally:
        pool.shutdown(cancel_futures=True)


def check_sizes(folder: Path, files: tuple[Listed, ...]) -> None:
    """The same as far as it shows without reading them."""
    for file in files:
        _check_size(folder, file)


def _check(folder: Path, file: Listed) -> None:
    _check_size(folder, file)
    try:
        digest = sha256_of(folder / file.path)
    except OSError as error:
        raise damaged(folder / file.path, error.strerror or "it cannot be read") from error
    if digest != file.sha256:
        raise damaged(folder / file.path, "it is not what was written")


def _check_size(folder: Path, file: Listed) -> None:
    path = folder / file.path
    try:
        size = path.stat().st_size
    except OSError as error:
        raise damaged(path, "it is missing") from error
    if size != file.size:
        raise damaged(path, f"it has {size:,} bytes and not {file.size:,}")


def damaged(path: Path, problem: str) -> Corrupt:
    """What is said of an export that is not what was written."""
    return Corrupt(Code.EXPORT_DAMAGED, path=str(path), problem=problem)


def foreign(folder: Path, problem: str) -> Unavailable:
    """What is said of a folder that is not to be written to."""
    return Unavailable(Code.EXPORT_FOREIGN, path=str(folder), problem=problem)


def games_in(files: Iterator[Listed] | tuple[Listed, ...]) -> tuple[int, int]:
    """How many games and how many events are in these files."""
    counts = {"games": 0, "events": 0}
    for file in files:
        if file.table in counts:
            counts[file.table] += file.rows
    return counts["games"], counts["events"]


def _content(folder: Path) -> bytes:
    with (folder / NAME).open("rb") as file:
        return file.read(SIZE_MAX + 1)


def _is_ours(content: bytes) -> bool:
    # Looked for and not parsed: a document that is cut off is damaged, and still ours.
    return _OURS.search(content[:200]) is not None


def _digest(manifest: Manifest) -> str:
    return sha256(msgspec.json.encode(replace(manifest, sha256=""))).hexdigest()
