"""The disk's reserve: recording stops while there is still room to end well, so that a full disk is met by nobody."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from heptalog.replay.errors import Code, Unavailable

RESERVE_MAX: Final = 512 * 1024 * 1024  # bytes, unless another reserve is asked for
RESERVE_PARTS: Final = 20  # or one part of so many of the file system, if that is less


class Space(NamedTuple):
    """A file system: how large it is, and how much of it may still be written; in bytes."""

    total: int
    free: int


def space_at(folder: Path) -> Space:
    """The file system that a folder is on. Raises OSError."""
    found = os.statvfs(folder)
    return Space(found.f_frsize * found.f_blocks, found.f_frsize * found.f_bavail)


class Reserve:
    """What is to stay free on the file system of a database; 0 is nothing, None the smaller of two defaults."""

    def __init__(self, database: Path, reserve_bytes: int | None, *, space: Callable[[Path], Space] = space_at) -> None:
        self._database = database
        self._folder = database.parent
        self._wanted = reserve_bytes
        self._space = space

    def check(self, size: int) -> None:
        """Raise Unavailable where so many bytes more would leave less than the reserve.

        What is in the write-ahead log is written into the database once more before the engine lets go of it: that
        space is spoken for, and the error tells it beside what is free, which may be more than the reserve.
        """
        if self._wanted == 0:
            return
        try:
            found = self._space(self._folder)
            waiting = wal_size(self._database)
        except OSError as error:
            raise Unavailable(Code.WRITE_FAILED, path=str(self._database), problem=error.strerror or "") from error
        reserve = reserve_of(found) if self._wanted is None else self._wanted
        spoken_for = waiting + size
        if found.free - spoken_for < reserve:
            facts = {"free": found.free, "spoken_for": spoken_for, "reserve": reserve}
            raise Unavailable(Code.DISK_RESERVE, rule="api", **facts)

    def has_room_twice(self, size: int) -> bool:
        """Whether twice as many bytes may be written, whatever the reserve is: as many, and the engine's own."""
        try:
            return self._space(self._folder).free >= 2 * size
        except OSError:
            return False


def wal_size(database: Path) -> int:
    """The bytes in the write-ahead log of a database. Raises OSError."""
    try:
        return os.stat(f"{database}.wal").st_size  # noqa: PTH116  # every commit asks twice, and a path takes its time
    except FileNotFoundError:
        return 0


def reserve_of(found: Space) -> int:
    """The reserve of a file system for which none is given; one that does not tell its size has none."""
    return min(RESERVE_MAX, found.total // RESERVE_PARTS)
