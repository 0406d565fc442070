"""A small disk of its own for a trial: a file system in memory, mounted where root allows it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


def why_not(folder: Path) -> str:
    """Why no disk can be mounted there; empty where one can."""
    try:
        with small_disk(folder / "tried", megabytes=1):
            return ""
    except PermissionError as error:
        return str(error)


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Iterator[Path]:
    """A disk of so many megabytes at this folder. Raises PermissionError where it cannot be mounted."""
    folder.mkdir()
    options = f"size={megabytes}m"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        raise PermissionError(f"a file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


class Ballast:
    """A file that takes room on a disk, to be thrown off."""

    def __init__(self, folder: Path, *, megabytes: int) -> None:
        self._path = folder / f"ballast-{uuid4()}"
        with self._path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, megabytes << 20)

    def throw_off(self) -> None:
        """Give the room back."""
        self._path.unlink()
