"""The files of a backup: rows of one kind, compressed with gzip, each file whole or not there.

Events are the records byte for byte, each after its length in four bytes, the highest first. Refusals and checkpoints
are JSON Lines. A file is written beside its place under a name that nobody takes for a segment, and renamed when all
of the backup is right. No segment is ever written over or removed.
"""

import gzip
import io
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from heptalog.service.backup.manifest import NAME as MANIFEST
from heptalog.service.backup.manifest import Kind, Segment
from heptalog.service.store import Checkpoint, Refusal
from heptalog.service.store.files import sync_folder

# A file of this many bytes is finished, and the next one begun; compressed it is about half of it.
SEGMENT_BYTES: Final = 64 << 20
_LEVEL: Final = 6
_BUFFER: Final = 1 << 16
NAME: Final = re.compile(r"([0-9]{6,12})-(?:checkpoints|events|refusals)(?:\.jsonl)?\.gz")
_UNFINISHED: Final = ".unfinished-"
_EXTENSIONS: Final[dict[Kind, str]] = {"events": "gz", "refusals": "jsonl.gz", "checkpoints": "jsonl.gz"}


class _Hashing:
    """A file that is written to, and the hash of all that was."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


class SegmentWriter:
    """Writes new segments into a folder, all of them whole under their names, or none of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = max((number for number, _ in numbered(folder)), default=0)
        self._finished: list[Segment] = []
        self._unfinished: _Unfinished | None = None

    def add(self, kind: Kind, first: int, row: bytes) -> None:
        """The next row of this kind; where the kind changes, or the file is long enough, another file is begun."""
        current = self._unfinished
        if current is None or current.kind != kind or current.size >= SEGMENT_BYTES:
            self._finish()
            self._number += 1
            current = self._unfinished = _Unfinished(self._folder, self._number, kind, first)
        current.add(row)

    def publish(self) -> tuple[Segment, ...]:
        """Give all files their names, durably; what they are."""
        self._finish()
        for segment in self._finished:
            (self._folder / (_UNFINISHED + segment.file)).rename(self._folder / segment.file)
        sync_folder(self._folder)
        return tuple(self._finished)

    def abandon(self) -> None:
        """Remove what was not published."""
        if self._unfinished is not None:
            self._unfinished.close()
            self._unfinished = None
        remove_unfinished(self._folder)

    def _finish(self) -> None:
        if self._unfinished is not None:
            self._finished.append(self._unfinished.finished())
            self._unfinished = None


class _Unfinished:
    """One file that is being written."""

    def __init__(self, folder: Path, number: int, kind: Kind, first: int) -> None:
        self.kind: Final[Kind] = kind
        self.size = 0
        self._count = 0
        self._first = first
        self._name = f"{number:06}-{kind}.{_EXTENSIONS[kind]}"
        self._file = (folder / (_UNFINISHED + self._name)).open("wb")
        self._hashing: Any = _Hashing(self._file)
        # Without a time and a name in it the same rows give the same file.
        compressing: Any = gzip.GzipFile("", "wb", _LEVEL, self._hashing, mtime=0)
        self._rows = io.BufferedWriter(compressing, _BUFFER)

    def add(self, row: bytes) -> None:
        self._rows.write(row)
        self.size += len(row)
        self._count += 1

    def finished(self) -> Segment:
        self._rows.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        digest = self._hashing.digest.hexdigest()
        return Segment(self._name, self.kind, self._first, self._count, self.size, digest)

    def close(self) -> None:
        with suppress(OSError):  # a full disk may be why it is given up
            self._rows.close()
        with suppress(OSError):
            self._file.close()


def event_row(record: bytes) -> bytes:
    """A record as it stands in a segment."""
    return len(record).to_bytes(4, "big") + record


def json_row(value: Refusal | Checkpoint) -> bytes:
    """A refusal or a checkpoint as it stands in a segment."""
    return msgspec.json.encode(value) + b"\n"


def numbered(folder: Path) -> Iterator[tuple[int, Path]]:
    """The segments in a folder, whoever knows of them."""
    for path in folder.iterdir():
        if match := NAME.fullmatch(path.name):
            yield int(match[1]), path


def remove_unfinished(folder: Path) -> None:
    """Remove what a backup has left that was interrupted."""
    for path in list(folder.iterdir()):
        if is_unfinished(path):
            path.unlink()


def is_unfinished(path: Path) -> bool:
    """Whether this is what an interrupted backup may have left: a segment, or a manifest."""
    return path.name.startswith((_UNFINISHED, f".{MANIFEST}."))
