"""Putting an export into its folder so that at every moment there is a whole one, the one before or the new one.

New files are made in a folder of their own inside it. When all are whole and on the disk, a plan says which files come
and which go; then they get their places, the manifest is replaced, and what it names no longer goes. Whoever comes next
after a crash finds the plan, and removes what it lists and the manifest does not name: nothing else is ever removed.
"""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from heptalog.analytics.keeping.segments import sync
from heptalog.analytics.parquet.manifest import NAME, Kind, Manifest, encoded, foreign, may_be_ours, read
from heptalog.replay.errors import Code, Unavailable

_WORK: Final = ".heptalog-export"
_NEW: Final = "new"
_PLAN: Final = "plan.json"


class Plan(Struct, frozen=True):
    """The files that come and those that go, by their paths in the folder."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


class Place:
    """A folder that is exported to, in the hands of one process."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder: Final = folder
        self.manifest = manifest

    @property
    def work(self) -> Path:
        """Where files are made; what lies there counts for nothing."""
        return self.folder / _WORK

    @property
    def new(self) -> Path:
        """Where files that are to come have their paths already."""
        return self.work / _NEW

    @property
    def done(self) -> Manifest:
        """What need not be made again: nothing where it is of an older form, which stays until the new one is there."""
        return self.manifest if self.manifest.is_current else Manifest(kind=self.manifest.kind)

    def publish(self, manifest: Manifest) -> None:
        """Make this the export; when it returns it is on the disk. Raises OSError."""
        before = {file.path for file in self.manifest.files}
        added = set(manifest.files) - set(self.manifest.files)
        removed = before - {file.path for file in manifest.files}
        plan = Plan(tuple(sorted(file.path for file in added)), tuple(sorted(removed)))
        for path in plan.added:
            if path not in before and (self.folder / path).exists():
                raise foreign(self.folder, f"{path} is there, and no file of this export")
        _write(self.work / _PLAN, msgspec.json.encode(plan))
        places: set[Path] = set()
        for path in plan.added:
            target = self.folder / path
            places.update(_make_folders(self.folder, target.parent))
            (self.new / path).replace(target)
            places.add(target.parent)
        for place in places:
            sync(place)
        _write(self.work / NAME, encoded(manifest))
        (self.work / NAME).replace(self.folder / NAME)
        sync(self.folder)
        self.manifest = manifest
        _remove(self.folder, plan.removed)
        (self.work / _PLAN).unlink()


@contextmanager
def taken(folder: Path, kind: Kind) -> Iterator[Place]:
    """A folder to export to, made where it is missing, cleared of what a crash has left; nobody else has it.

    Raises Unavailable where it is not ours (EXPORT_FOREIGN), somebody has it, or nothing can be written there, and
    Corrupt where its manifest is damaged.
    """
    is_made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except (FileExistsError, NotADirectoryError) as error:
        raise foreign(folder, "it is not a folder") from error
    except OSError as error:
        raise unwritten(folder, error) from error
    try:
        place = _entered(folder, descriptor, kind)
        try:
            yield place
        finally:
            shutil.rmtree(place.work, ignore_errors=True)
    finally:
        os.close(descriptor)
        if is_made:
            # What came to nothing leaves nothing.
            with suppress(OSError):
                folder.rmdir()


def unwritten(folder: Path, error: Exception) -> Unavailable:
    """What is said where an export cannot be written."""
    problem = (error.strerror if isinstance(error, OSError) else "") or type(error).__name__
    return Unavailable(Code.WRITE_FAILED, what="export", path=str(folder), problem=problem)


def _entered(folder: Path, descriptor: int, kind: Kind) -> Place:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        problem = "another process is exporting to it"
        raise Unavailable(Code.WRITE_FAILED, what="export", path=str(folder), problem=problem) from error
    manifest = _known(folder)
    if manifest is not None and manifest.kind != kind:
        raise foreign(folder, f"it holds an export as {manifest.kind}")
    try:
        _clear(folder, manifest)
        if manifest is None and any(path.name != _WORK for path in folder.iterdir()):
            raise foreign(folder, "it is not empty, and has no manifest of an export")
        (folder / _WORK / _NEW).mkdir(parents=True)
    except OSError as error:
        raise unwritten(folder, error) from error
    return Place(folder, Manifest(kind=kind) if manifest is None else manifest)


def _known(folder: Path) -> Manifest | None:
    return read(folder) if (folder / NAME).exists() else None


def _clear(folder: Path, manifest: Manifest | None) -> None:
    """Remove what an export has left that was interrupted."""
    try:
        plan = msgspec.json.decode((folder / _WORK / _PLAN).read_bytes(), type=Plan)
    except (OSError, msgspec.DecodeError):
        # There is none, so nothing was put into its place.
        plan = Plan((), ())
    named = set() if manifest is None else {file.path for file in manifest.files}
    _remove(folder, (path for path in (*plan.added, *plan.removed) if path not in named and may_be_ours(path)))
    if (folder / _WORK).exists():
        shutil.rmtree(folder / _WORK)


def _remove(folder: Path, paths: Iterable[str]) -> None:
    """Remove files, and the folders that they leave empty."""
    for path in paths:
        (folder / path).unlink(missing_ok=True)
        for parent in (folder / path).relative_to(folder).parents:
            if parent != Path():
                with suppress(OSError):  # something is in it
                    (folder / parent).rmdir()


def _make_folders(folder: Path, place: Path) -> Iterator[Path]:
    """Make what is missing between the two; what has to be synced for their names to last."""
    missing = [path for path in (place, *place.parents) if path.is_relative_to(folder) and not path.exists()]
    for path in reversed(missing):
        path.mkdir()
        yield path.parent


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
