"""Reading the files of a backup: nothing of a file is believed before all of it is known to be what was written."""

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.service.backup.manifest import Segment, damaged
from heptalog.service.backup.segments import NAME
from heptalog.service.config import EVENT_SIZE_MAX
from heptalog.service.store import Checkpoint, Refusal

# A row of JSON: an event in base64 and what stands beside it, or a note.
LINE_MAX: Final = 1 << 20
_BLOCK: Final = 1 << 20
_LENGTH: Final = 4  # bytes before each record


def check_lengths(folder: Path, segments: Iterable[Segment]) -> None:
    """Raise Corrupt where a segment is missing or cut off; nothing else of it is read, so that it takes no time."""
    for segment in segments:
        path = folder / segment.file
        place = {"first": segment.first, "count": segment.count}
        try:
            with path.open("rb") as file:
                end = file.seek(0, io.SEEK_END)
                file.seek(max(0, end - _LENGTH))
                length = int.from_bytes(file.read(_LENGTH), "little")
        except FileNotFoundError as error:
            raise damaged(str(path), "it is missing", **place) from error
        except OSError as error:
            raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem=error.strerror or "") from error
        # The last bytes of such a file say how long it is when it is not compressed.
        if length != segment.size % 2**32:
            raise damaged(str(path), "it has another length", **place)


def read_again(folder: Path, segments: Sequence[Segment], begin: int, *, bytes_max: int) -> int:
    """Hold segments against their sums, from one of them on and round, until so many bytes are read.

    Where to go on the next time; 0 where all were read. Raises Corrupt where one is not what was written.
    """
    left = bytes_max
    for step in range(len(segments)):
        place = (begin + step) % len(segments)
        if left <= 0:
            return place
        with _Reader(folder, segments[place]) as reader:
            left -= reader.file_size
    return 0


def records_in(folder: Path, segment: Segment) -> Iterator[bytes]:
    """The records in a segment of events. Raises Corrupt where it is not what was written."""
    with _Reader(folder, segment) as reader:
        for _ in range(segment.count):
            length = int.from_bytes(reader.read(_LENGTH), "big")
            if length > EVENT_SIZE_MAX:
                raise reader.damaged("a record is too long")
            yield reader.read(length)
        reader.check_end()


def refusals_in(folder: Path, segment: Segment) -> Iterator[Refusal]:
    """The refusals in a segment. Raises Corrupt where it is not what was written."""
    return _rows(folder, segment, Refusal)


def checkpoints_in(folder: Path, segment: Segment) -> Iterator[Checkpoint]:
    """The checkpoints in a segment. Raises Corrupt where it is not what was written."""
    return _rows(folder, segment, Checkpoint)


def _rows(folder: Path, segment: Segment, kind: Any) -> Iterator[Any]:
    decoder = msgspec.json.Decoder(kind)
    with _Reader(folder, segment) as reader:
        for _ in range(segment.count):
            try:
                yield decoder.decode(reader.line())
            except msgspec.DecodeError as error:
                raise reader.damaged("a line is not what it should be") from error
        reader.check_end()


class _Reader:
    """One file, whose checksum is right, as it is when it is not compressed."""

    def __init__(self, folder: Path, segment: Segment) -> None:
        self._path = folder / segment.file
        self._segment = segment
        self._count = 0
        self.file_size = 0
        if not NAME.fullmatch(segment.file):
            raise self.damaged("this is no name of a segment")
        try:
            self._file = self._path.open("rb")
        except FileNotFoundError as error:
            raise self.damaged("it is missing") from error
        except OSError as error:
            path = str(self._path)
            raise Unavailable(Code.SOURCE_UNREADABLE, path=path, problem=error.strerror or "") from error
        try:
            self._check_whole()
        except BaseException:
            self._file.close()
            raise
        self._gzip = gzip.GzipFile(fileobj=self._file, mode="rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._gzip.close()
        self._file.close()

    def read(self, length: int) -> bytes:
        """So many bytes."""
        data = self._asked(self._gzip.read, length)
        if len(data) != length:
            raise self.damaged("it is cut off")
        return data

    def line(self) -> bytes:
        """A line, or as much of it as a line may have."""
        return self._asked(self._gzip.readline, LINE_MAX)

    def check_end(self) -> None:
        """Raise Corrupt where there is more, or was less than there should be."""
        if self._count != self._segment.size or self._asked(self._gzip.read, 1):
            raise self.damaged("it has another length")

    def damaged(self, problem: str) -> Corrupt:
        """What is said of this file."""
        return damaged(str(self._path), problem, first=self._segment.first, count=self._segment.count)

    def _check_whole(self) -> None:
        digest = sha256()
        while block := self._asked(self._file.read, _BLOCK):
            digest.update(block)
        if digest.hexdigest() != self._segment.sha256:
            raise self.damaged("it is not what was written")
        self.file_size = self._file.tell()
        self._file.seek(0)
        self._count = 0

    def _asked(self, ask: Any, length: int) -> bytes:
        try:
            data: bytes = ask(length)
        except (OSError, EOFError, zlib.error) as error:
            raise self.damaged("it cannot be read to its end") from error
        self._count += len(data)
        return data
