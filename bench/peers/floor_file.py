"""A file that is appended to and synced: what no log on this disk could be faster than."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from bench.peers.peer import Settings, answer, numbered
from bench.peers.results import release
from bench.peers.shapes import Batch
from bench.peers.stores import Append, AppendsOnly, StorePeer


class FileFloor(StorePeer):
    """A new file for every measurement."""

    name = "a file"
    note = "write and fdatasync before the answer; in process, no network; one after the other, no format, no condition"
    version = f"Linux {release()}"
    works = tuple(work for work in StorePeer.works if work.endswith("1 caller"))

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._paths = numbered(f"{settings.folder}/file-")

    @contextmanager
    def opened(self) -> Iterator["_File"]:
        """A new file."""
        descriptor = os.open(next(self._paths), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        try:
            yield _File(descriptor)
        finally:
            os.close(descriptor)


class _File(AppendsOnly):
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def connected(self) -> Append:
        def append(batch: Batch) -> int:
            os.write(self._descriptor, b"".join(fact.data for fact in batch.facts))
            os.fdatasync(self._descriptor)
            return 0

        return append


if __name__ == "__main__":
    answer(FileFloor)
