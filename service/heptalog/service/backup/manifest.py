"""The manifest of a backup: which segments it consists of, and what they come to.

JSON Lines, so that it can be read by eye and by any tool: first what the backup holds, then its segments, one a line,
and last the SHA-256 of all the bytes before that line.
"""

from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.evidence.chain import HASH_SIZE
from heptalog.replay.evidence.merkle import EMPTY_ROOT, Frontier
from heptalog.service.backup.parts import Have
from heptalog.service.store.files import replace_file

NAME: Final = "manifest.jsonl"
FORMAT: Final = "heptalog-backup"
VERSION: Final = 1
SIZE_MAX: Final = 256 << 20

Kind: TypeAlias = Literal["checkpoints", "events", "refusals"]


class Segment(Struct, frozen=True, forbid_unknown_fields=True):
    """One file: so many rows of one kind.

    `first` says of the first row the position of an event, the number of a refusal, or the size of a checkpoint.
    """

    file: str
    kind: Kind
    first: int
    count: int
    size: int  # bytes, as they are when they are not compressed
    sha256: str  # of the file as it is


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """What a backup holds. `settled` is the size up to which no checkpoint is asked for again.

    Those of greater size are: witnesses may have signed them since.
    """

    format: str = FORMAT
    version: int = VERSION
    made_at: str = ""
    size: int = 0
    root: str = EMPTY_ROOT.hex()
    frontier: tuple[str, ...] = ()
    refusals: int = 0
    checkpoints: int = 0
    checkpoint: int = 0  # the size of the largest
    settled: int = 0
    void_names: tuple[str, ...] = ()  # under which the log signs no more
    segments: int = 0
    read_again: int = 0  # the segment, from 0, from which on the next backup holds files against their sums

    @property
    def have(self) -> Have:
        """What need not be asked for again."""
        return Have(self.size, self.refusals, self.settled)

    def tree(self) -> Frontier:
        """The Merkle log as far as it goes. Raises Corrupt where it is none, or has another root."""
        try:
            hashes = [bytes.fromhex(text) for text in self.frontier]
        except ValueError:
            hashes = []
        is_whole = self.size >= 0 and len(hashes) == self.size.bit_count()
        if not is_whole or any(len(digest) != HASH_SIZE for digest in hashes):
            raise damaged(NAME, "its Merkle tree is none")
        frontier = Frontier(self.size, hashes)
        if frontier.root().hex() != self.root:
            raise damaged(NAME, "its Merkle tree has another root")
        return frontier


class _Kind(Struct):
    format: str
    version: int


def read(folder: Path) -> tuple[Manifest, tuple[Segment, ...]] | None:
    """What a backup holds; None where there is none. Raises Corrupt where it is damaged, Unavailable where newer."""
    path = folder / NAME
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem=error.strerror or "") from error
    lines = content.splitlines(keepends=True)
    if len(content) > SIZE_MAX or len(lines) < 2:
        raise damaged(str(path), "it is cut off")
    _check_version(path, lines[0])
    try:
        manifest = msgspec.json.decode(lines[0], type=Manifest)
        segments = tuple(msgspec.json.decode(line, type=Segment) for line in lines[1:-1])
    except msgspec.DecodeError as error:
        raise damaged(str(path), "a line is not what it should be") from error
    if lines[-1] != _last_line(b"".join(lines[:-1])):
        raise damaged(str(path), "it is not what was written")
    if len(segments) != manifest.segments:
        raise damaged(str(path), "segments are missing from it")
    return manifest, segments


def write(folder: Path, manifest: Manifest, segments: tuple[Segment, ...]) -> None:
    """Put it there in the place of the one before; it is durable when this returns. Raises Unavailable."""
    rows = (replace(manifest, segments=len(segments)), *segments)
    content = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    try:
        replace_file(folder / NAME, content + _last_line(content))
    except OSError as error:
        raise Unavailable(Code.WRITE_FAILED, path=str(folder / NAME), problem=error.strerror or "") from error


def damaged(path: str, problem: str, **facts: object) -> Corrupt:
    """What is said of a backup that is not what was written."""
    return Corrupt(Code.BACKUP_DAMAGED, rule="backup", problem=problem, path=path, **facts)


def _last_line(content: bytes) -> bytes:
    return f'{{"sha256":"{sha256(content).hexdigest()}"}}\n'.encode()


def _check_version(path: Path, line: bytes) -> None:
    """Before anything else is looked at: a newer one may have anything in it."""
    try:
        head = msgspec.json.decode(line, type=_Kind)
    except msgspec.DecodeError as error:
        raise damaged(str(path), "it is no manifest of a backup") from error
    if head.format != FORMAT or head.version < 1:
        raise damaged(str(path), "it is no manifest of a backup")
    if head.version > VERSION:
        raise Unavailable(Code.RECORD_NEWER, path=str(path), version=head.version, known=VERSION)
