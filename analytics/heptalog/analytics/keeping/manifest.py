"""What the tables consist of, written down: which log they are of, how far they go, and which files have their rows.

Nothing in it is waited for to be on the disk: where it, or a file that it names, is lost or damaged, everything is made
anew from the log. But it is replaced at one moment, so that it never names what is not whole.
"""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from heptalog.analytics.keeping.place import MANIFEST, SEGMENTS
from heptalog.analytics.keeping.segments import PART_SUFFIX, Damaged, File, path_of
from heptalog.analytics.snapshots import Part, Snapshot

FORMAT: Final = "heptalog tables"
# What tables there are and what is in them. Where an old log would have other rows now, it is one more: a test knows.
FORM: Final = 1
# So much of a file is read at once.
PIECE_SIZE: Final = 256 * 1024
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class Kept(Struct, frozen=True):
    """One file as far as its place does not say it."""

    rows: int
    size: int
    sha256: str


class Segment(Struct, frozen=True):
    """The rows of some whole games of one ruleset and month, a file a table.

    `is_open` says that the games were running when it was written; `first` and `last` are the least and the greatest
    game number, `rows` those of all its files, and `excluded` the games of it that another segment has newer.
    """

    number: int
    ruleset: str
    month: str
    is_open: bool
    games: int
    first: int
    last: int
    rows: int
    files: dict[str, Kept]
    excluded: tuple[int, ...] = ()

    @property
    def rows_read(self) -> int:
        """About how many of them are read."""
        return self.rows * (self.games - len(self.excluded)) // max(self.games, 1)

    def path(self, generation: Path, table: str) -> Path:
        """Where the rows of a table are."""
        return Path(self.place(generation, table))

    def place(self, generation: Path, table: str) -> str:
        """The same as text; it is asked for often."""
        return f"{generation}/{SEGMENTS}/{path_of(table, self.ruleset, self.month, self.number)}"


class Chunk(Struct, frozen=True):
    """Rows of a series that follow each other; `first` and `last` are what orders it."""

    number: int
    first: int
    last: int
    kept: Kept

    def path(self, generation: Path, table: str) -> Path:
        """Where the rows are."""
        return generation / SEGMENTS / path_of(table, "", "", self.number)


class Manifest(Struct, frozen=True):
    """The whole of it. `tree` says which log it is of: the Merkle tree over all events up to `position`, as the
    complete subtrees along its right edge; nothing where the log could not tell. `refused_last` is the hash of the last
    refusal.

    `number` is the next that a file gets; `unread` are the games with a record that could not be read here. `boot` is
    when the machine was started: what was written before it was started again may not be what lies there now. `seal`
    is the hash of all the rest, made when it is stored: nothing else says what stands in here.
    """

    format: str
    form: int
    position: int = 0
    tree: tuple[str, ...] = ()
    refusals: int = 0
    refused_last: str = ""
    number: int = 1
    segments: tuple[Segment, ...] = ()
    refused: tuple[Chunk, ...] = ()
    rated: tuple[Chunk, ...] = ()
    unread: tuple[str, ...] = ()
    boot: str = ""
    seal: str = ""


class Counted(Struct, frozen=True):
    """How far tables go, and how many rows each has."""

    position: int
    refusals: int
    rows: dict[str, int]


def load(generation: Path, *, boot: str = "", were_read: Manifest | None = None) -> Manifest | None:
    """The manifest of a generation, with every file that it names; None where it is damaged or of another form.

    Files from before this `boot` are read whole: nobody waited for them to be on the disk. Not those of a manifest of
    this generation that `were_read` so already.
    """
    manifest = written(generation)
    if manifest is None:
        return None
    is_read = manifest.boot != boot and manifest != were_read
    return manifest if first_damaged(manifest, generation, is_read=is_read) is None else None


def written(generation: Path) -> Manifest | None:
    """The manifest alone; None where it is damaged or of another form."""
    try:
        manifest = msgspec.json.decode((generation / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError):
        return None
    if (manifest.format, manifest.form) != (FORMAT, FORM):
        return None
    # One of an older program has none.
    return manifest if manifest.seal in ("", _seal(manifest)) else None


def moment_of(generation: Path, manifest: Manifest) -> Snapshot:
    """The moment that a manifest is of."""
    tables: dict[str, list[Part]] = {}
    for segment in manifest.segments:
        for table in segment.files:
            tables.setdefault(table, []).append(Part(segment.place(generation, table), segment.excluded))
    for table, chunks in _series(manifest):
        if chunks:
            tables[table] = [Part(str(chunk.path(generation, table))) for chunk in chunks]
    named = {table: tuple(parts) for table, parts in tables.items()}
    return Snapshot(manifest.position, manifest.refusals, (str(generation),), named, manifest.unread)


def store(manifest: Manifest, generation: Path) -> None:
    """Replace the manifest of a generation. Raises OSError."""
    path = generation / MANIFEST
    part = path.with_name(path.name + PART_SUFFIX)
    part.write_bytes(msgspec.json.encode(replace(manifest, seal=_seal(manifest))))
    part.replace(path)


def paths(manifest: Manifest, generation: Path) -> set[Path]:
    """Every file that a manifest names."""
    return {path for path, _ in named(manifest, generation)}


def kept(file: File) -> Kept:
    """What a manifest says of a file."""
    return Kept(file.rows, file.size, file.sha256)


def first_damaged(manifest: Manifest, generation: Path, *, is_read: bool) -> Path | None:
    """A file that is not there, or not with its size; where they are read, also one with other bytes."""
    for path, kept in named(manifest, generation):
        try:
            if is_read:
                for _ in read_whole(path, kept):
                    pass
            elif path.stat().st_size != kept.size:
                return path
        except (OSError, Damaged):
            return path
    return None


def read_whole(path: Path, kept: Kept) -> Iterator[int]:
    """Read all of a file, and say how much with each piece. Raises Damaged where it is not what was written."""
    digest = sha256()
    piece = memoryview(bytearray(min(PIECE_SIZE, kept.size + 1)))
    try:
        with path.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size != kept.size:
                raise Damaged(path.name)
            while size := file.readinto(piece):
                digest.update(piece[:size])
                yield size
    except OSError as error:
        raise Damaged(path.name) from error
    if digest.hexdigest() != kept.sha256:
        raise Damaged(path.name)


def named(manifest: Manifest, generation: Path) -> list[tuple[Path, Kept]]:
    """Every file that a manifest names, and what it says of it."""
    files = [
        (segment.path(generation, table), kept)
        for segment in manifest.segments
        for table, kept in segment.files.items()
    ]
    for table, chunks in _series(manifest):
        files += [(chunk.path(generation, table), chunk.kept) for chunk in chunks]
    return files


def boot_id() -> str:
    """What names the time since the machine was started; empty where it cannot be told."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _seal(manifest: Manifest) -> str:
    return sha256(msgspec.json.encode(replace(manifest, seal=""))).hexdigest()


def _series(manifest: Manifest) -> tuple[tuple[str, tuple[Chunk, ...]], ...]:
    return ("refusals", manifest.refused), ("rating_changes", manifest.rated)
