"""The folder of the tables: who keeps it, who reads it, and what in it is of no use any more.

    season.duckdb.tables/
        lock              held by who keeps it
        000001/           one generation: everything that the tables were made of since they were last begun
            manifest.json     written last; without it a generation is none
            segments/         the files

The generation with the greatest number that has a manifest is the one that counts, so a new one takes the place of the
old at one moment. Who reads a generation holds it, and what somebody may read is not taken away.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Set
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from heptalog.replay.errors import Code, Unavailable

SUFFIX: Final = ".tables"
MANIFEST: Final = "manifest.json"
SEGMENTS: Final = "segments"
SPILL: Final = "spill"
_LOCK: Final = "lock"
# The engine reads values of columns from folders, however far above the files, and looks for names that fit.
_MISREAD: Final = re.compile(r"[*?]|/(ruleset|month)=")
_DIGITS: Final = 6


def folder_of(database: Path) -> Path:
    """Where the tables of a database are kept: beside it. They follow from its log, and may be deleted."""
    return database.with_name(database.name + SUFFIX)


class Hold:
    """Something of the folder that is held until it is let go of, or the process ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether nobody else holds it; nobody begins to meanwhile."""
        is_alone = _is_locked(self._descriptor, fcntl.LOCK_EX)
        try:
            yield is_alone
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def close(self) -> None:
        """Let go of it. Calling it again does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def keep(folder: Path) -> Hold:
    """Become the one who keeps this folder, which is made where it is missing.

    Raises Unavailable: DATABASE_LOCKED where another keeps it, SOURCE_UNREADABLE where it cannot be made, or its files
    would be read as others.
    """
    check_name(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise unreadable(error, folder) from error
    hold = Hold(descriptor)
    try:
        if not _is_locked(descriptor, fcntl.LOCK_EX):
            raise Unavailable(Code.DATABASE_LOCKED, path=str(folder))
    except OSError as error:
        # A file system that knows no locks.
        hold.close()
        raise unreadable(error, folder) from error
    except Unavailable:
        hold.close()
        raise
    return hold


def check_name(folder: Path) -> None:
    """Raise Unavailable where the files of a folder would be read as others."""
    if is_misread(folder):
        problem = "month=, ruleset=, * and ? in its path would be read as more than a name"
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(folder), problem=problem)


def is_misread(folder: Path) -> bool:
    """Whether the engine would take something in the name of a folder, or of one above it, for more than a name."""
    return _MISREAD.search(str(folder.absolute())) is not None


def read(generation: Path) -> Hold:
    """Hold a generation for reading: nothing that is in it goes away. Raises OSError where it is gone."""
    descriptor = os.open(generation, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    hold = Hold(descriptor)
    try:
        # Who clears it away is done at once.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    except BaseException:
        hold.close()
        raise
    return hold


def current(folder: Path) -> Path | None:
    """The generation that counts, or None where there is none. Raises OSError."""
    whole = [generation for generation in _generations(folder) if (generation / MANIFEST).exists()]
    return whole[-1] if whole else None


def begin(folder: Path) -> Path:
    """Make a generation after all that there are; it counts once it has a manifest. Raises OSError."""
    while True:
        number = max((int(generation.name) for generation in _generations(folder)), default=0) + 1
        generation = folder / _name(number)
        try:
            generation.mkdir()
        except FileExistsError:
            continue  # another has begun one at the same time
        (generation / SEGMENTS).mkdir()
        return generation


def clear(folder: Path) -> None:
    """Remove the generations that count no more, and those that were never finished, as far as nobody holds them."""
    counts = current(folder)
    for generation in _generations(folder):
        if generation != counts:
            with suppress(OSError), closing(read(generation)) as hold, hold.alone() as is_alone:
                if is_alone:
                    # What cannot be removed now is removed another time.
                    shutil.rmtree(generation, ignore_errors=True)


def sweep(generation: Path, hold: Hold, named: Set[Path]) -> int:
    """Remove the files of a generation that nothing names, where nobody else reads it; the greatest number of any."""
    greatest = 0
    with hold.alone() as is_alone:
        for path in (generation / SEGMENTS).rglob("*.parquet*"):
            number = path.name.partition(".")[0]
            # What somebody else has put there has none.
            greatest = max(greatest, int(number) if number.isdecimal() else 0)
            if is_alone and path not in named:
                path.unlink(missing_ok=True)
    return greatest


def unreadable(error: OSError, folder: Path) -> Unavailable:
    """What is said where the folder cannot be used."""
    return Unavailable(Code.SOURCE_UNREADABLE, path=str(folder), problem=error.strerror or type(error).__name__)


def _generations(folder: Path) -> list[Path]:
    """All generations, in order; those that are not whole too."""
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    # As `begin` writes them, and no others: what it makes next is never there already.
    numbers = sorted(int(name) for name in names if name.isascii() and name.isdigit() and name == _name(int(name)))
    return [folder / _name(number) for number in numbers]


def _name(number: int) -> str:
    return f"{number:0{_DIGITS}}"


def _is_locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
