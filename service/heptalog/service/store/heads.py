"""The head record: a small file beside the database that says how long the log was when it last answered.

It is written in place and synced after every commit and before the answer, so a log that comes back shorter than it was
acknowledged is told from one that is whole. Two slots are written in turn, each a text with its own checksum: where a
crash tears the one being written, the other stands. The file has its full size from the beginning, so that a full disk
does not stop it.
"""

import os
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.times import SECOND, TIME_END, rfc3339
from heptalog.service.store import TreeHead
from heptalog.service.store.files import replace_file

# A page and a sector of most disks: what tears one slot leaves the other alone.
SLOT_SIZE: Final = 4096
FILE_SIZE: Final = 2 * SLOT_SIZE
# What is said beside every finding at the opening.
ADVICE: Final = "`heptalog doctor` says what can be done"

_SLOT: Final = re.compile(
    rb"(heptalog head 1\nsize (0|[1-9]\d{0,18})\nroot ([0-9a-f]{64})\ntime ([0-9TZ:.-]{20,30})\n)"
    rb"checksum ([0-9a-f]{64})\n *\n"
)
# Whole seconds or up to nanoseconds, as `rfc3339` writes them.
_TIME_MAX: Final = (TIME_END - 1) * SECOND
# Not every system has the lighter one.
_sync: Final = getattr(os, "fdatasync", os.fsync)


class HeadRecord(Struct, frozen=True):
    """How many events were durable, their root, and when it was written, as a text."""

    size: int
    root: bytes
    time: str

    @property
    def tree(self) -> TreeHead:
        """The tree head that it says."""
        return TreeHead(self.size, self.root)


def head_path(database: Path) -> Path:
    """Where the head record of a database is."""
    return database.with_name(database.name + ".head")


def read_head(path: Path) -> HeadRecord | None:
    """The head record at this path; None where there is none. Raises Corrupt where neither slot can be read."""
    try:
        with path.open("rb") as file:
            content = file.read(FILE_SIZE + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem=error.strerror or "") from error
    records = [record for record in map(_parsed, _slots(content)) if record is not None]
    if not records or len(content) > FILE_SIZE:
        raise Corrupt(Code.HEAD_MISSING, rule="evidence", problem=ADVICE, path=str(path))
    # A log only grows, so the longer one is the later one.
    return max(records, key=lambda record: record.size)


def make_head(path: Path, head: TreeHead, time: int) -> None:
    """Put a new head record there, durably, in the place of any that is there."""
    replace_file(path, 2 * _slot(head, time))


class HeadFile:
    """A head record that is kept up to date; one thread at a time writes it."""

    def __init__(self, path: Path) -> None:
        """Open one that is there. Raises OSError."""
        self.path: Final = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        slots = [_parsed(slot) for slot in _slots(os.pread(self._descriptor, FILE_SIZE, 0))]
        sizes = [-1 if record is None else record.size for record in slots]
        # Never the one that holds.
        self._next = int(sizes[0] >= sizes[1])

    def write(self, head: TreeHead, time: int) -> None:
        """Write it and wait until it is on disk. Raises OSError."""
        slot = _slot(head, time)
        if os.pwrite(self._descriptor, slot, self._next * SLOT_SIZE) != SLOT_SIZE:
            raise OSError("the head record was written in part")
        _sync(self._descriptor)
        self._next = 1 - self._next

    def close(self) -> None:
        """Let go of it. Calling it again does nothing."""
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1


def _slots(content: bytes) -> tuple[bytes, bytes]:
    return content[:SLOT_SIZE], content[SLOT_SIZE:FILE_SIZE]


def _slot(head: TreeHead, time: int) -> bytes:
    time_text = rfc3339(min(max(time, 0), _TIME_MAX))
    text = f"heptalog head 1\nsize {head.size}\nroot {head.root.hex()}\ntime {time_text}\n".encode()
    text += b"checksum " + sha256(text).hexdigest().encode() + b"\n"
    return text.ljust(SLOT_SIZE - 1) + b"\n"


def _parsed(slot: bytes) -> HeadRecord | None:
    match = _SLOT.fullmatch(slot)
    if match is None or sha256(match[1]).hexdigest().encode() != match[5]:
        return None
    return HeadRecord(int(match[2]), bytes.fromhex(match[3].decode()), match[4].decode())
