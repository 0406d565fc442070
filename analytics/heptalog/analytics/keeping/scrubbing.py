"""Reads the files of the tables again, a little at a time and round after round: bits flip on disks, and nobody tells.

The engine that answers questions looks at no checksum, so that a flipped bit in a page would be a wrong answer without
an error. What is read here comes as it comes to a question: from the disk, or from where the machine remembers it.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from heptalog.analytics.keeping.manifest import Kept, read_whole, written
from heptalog.analytics.keeping.place import MANIFEST
from heptalog.analytics.keeping.segments import Damaged

# To open a file counts as reading so much, so that a step is as short where there are many small ones.
OPENING_SIZE: Final = 16 * 1024
Files: TypeAlias = Mapping[Path, Kept]


class Progress(Struct, frozen=True):
    """What a step has read, and how much the whole round is, in bytes; `damaged` is a file that is not what it was."""

    read: int = 0
    total: int = 0
    is_over: bool = True
    damaged: str = ""


class Scrub:
    """One round after the other, each over the files that there are when it begins."""

    def __init__(self, files: Callable[[], Files]) -> None:
        """`files` gives those that may be read, now."""
        self._files = files
        self._pieces: Iterator[int] | None = None
        self._total = 0

    def step(self, generation: Path, size: int) -> Progress:
        """Read about so many bytes more, and begin a round where none is under way."""
        if self._pieces is None:
            files = self._files()
            self._total = sum(OPENING_SIZE + kept.size for kept in files.values())
            self._pieces = self._round(generation, files)
        read = 0
        try:
            while read < size:
                piece = next(self._pieces, 0)
                if not piece:
                    self._pieces = None
                    return Progress(read, self._total)
                read += piece
        except Damaged as error:
            self._pieces = None
            return Progress(read, self._total, damaged=str(error))
        return Progress(read, self._total, is_over=False)

    def _round(self, generation: Path, files: Files) -> Iterator[int]:
        if written(generation) is None:
            # Read by nobody now, but by who opens the tables next.
            raise Damaged(MANIFEST)
        for path, kept in files.items():
            yield OPENING_SIZE
            try:
                yield from read_whole(path, kept)
            except Damaged:
                # In the meantime it may have been merged into another, and be gone.
                if path in self._files():
                    raise
