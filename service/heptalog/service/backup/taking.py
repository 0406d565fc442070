"""Taking a backup: what the log has and the folder has not, checked part by part, and the manifest last."""

import fcntl
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.replay.evidence.texts import to_base64
from heptalog.replay.times import rfc3339
from heptalog.service.backup import manifest as manifests
from heptalog.service.backup.checking import Checker
from heptalog.service.backup.manifest import Manifest, Segment
from heptalog.service.backup.parts import CheckpointsPart, EventsPart, Have, Moment, Part, RefusalsPart
from heptalog.service.backup.reading import check_lengths, checkpoints_in, read_again
from heptalog.service.backup.segments import (
    SegmentWriter,
    event_row,
    json_row,
    numbered,
    remove_unfinished,
)
from heptalog.service.store import Checkpoint
from heptalog.service.store.files import sync_folder

# What has the log: a store that is open here, or a server that is asked.
Source: TypeAlias = Callable[[Have], Iterator[Part]]
# So many of the last checkpoints are asked for again, and kept again where somebody has signed them since.
UNSETTLED: Final = 1_000
# So many bytes of what is there already are read again each time: more than most backups ever have, in some seconds.
READ_AGAIN_BYTES: Final = 1 << 30


class Taken(Struct, frozen=True, rename="camel"):
    """What came of it: what the backup holds now, and what of that is new."""

    directory: str
    events: int
    new_events: int
    refusals: int
    new_refusals: int
    root: str
    checkpoint: int  # the size of the largest, 0 where there is none
    signed_by: tuple[str, ...]  # of the given keys
    new_files: tuple[str, ...]


def take(
    folder: Path,
    source: Source,
    *,
    keys: Sequence[VerifierKey] = (),
    clock: Callable[[], int],
    progress: Callable[[int], None] = lambda _: None,
    read_again_bytes: int = READ_AGAIN_BYTES,
) -> Taken:
    """Bring a backup up to date; it is made where there is none.

    Its files are held against their sums first, so many bytes of them; where there are more, the next time goes on.
    Raises Corrupt where the log is not the one that the backup was made of, where it has become shorter, or where
    something in it is wrong; then the backup is what it was, and where there was none there is none.
    """
    with _held(folder) as made:
        begun, segments = _begun(folder)
        place = read_again(folder, segments, begun.read_again, bytes_max=read_again_bytes)
        taking = _Taking(folder, begun, segments, keys, progress)
        try:
            for part in source(begun.have):
                taking.take(part)
            taken = taking.ended()
            new = taking.writer.publish()
        except BaseException:
            taking.writer.abandon()
            if not begun.made_at:
                _leave_nothing(folder, made)
            raise
        now = replace(taken, made_at=rfc3339(clock()), read_again=place)
        manifests.write(folder, now, (*segments, *new))
    return Taken(
        str(folder),
        now.size,
        now.size - begun.size,
        now.refusals,
        now.refusals - begun.refusals,
        to_base64(bytes.fromhex(now.root)),
        now.checkpoint,
        tuple(dict.fromkeys(signed.key.name for signed in taking.checker.signed)),
        tuple(segment.file for segment in new),
    )


class _Taking:
    """One backup on its way."""

    def __init__(
        self,
        folder: Path,
        begun: Manifest,
        segments: Sequence[Segment],
        keys: Sequence[VerifierKey],
        progress: Callable[[int], None],
    ) -> None:
        self.writer = SegmentWriter(folder)
        self.checker = Checker(begun.tree(), keys)
        self._begun = begun
        self._progress = progress
        self._moment: Moment | None = None
        self._refusals = begun.refusals
        self._new_checkpoints = 0
        self._known = _known_checkpoints(folder, begun, segments)
        self._last_sizes: deque[int] = deque(sorted(self._known), UNSETTLED + 1)
        for checkpoint in self._known.values():
            self.checker.checkpoint(checkpoint)

    def take(self, part: Part) -> None:
        """The next part: checked, and written."""
        if isinstance(part, Moment):
            self._begin(part)
            return
        moment = self._moment
        if moment is None:
            raise _differs("its moment is not told", self.checker.tree.size)
        match part:
            case CheckpointsPart(checkpoints):
                for checkpoint in checkpoints:
                    self._take_checkpoint(checkpoint)
            case EventsPart(first_position, records):
                for position, record in enumerate(records, first_position):
                    self.checker.event(position, record)
                    self.writer.add("events", position, event_row(record))
                self._progress(len(records))
            case RefusalsPart(refusals):
                for refusal in refusals:
                    self._refusals += 1
                    self.writer.add("refusals", self._refusals, json_row(refusal))
        if self.checker.tree.size > moment.size or self._refusals > moment.refusals:
            raise _differs("it has more than its moment", moment.size)

    def ended(self) -> Manifest:
        """What the backup holds with all of this. Raises Corrupt where it is not the whole of the moment."""
        moment, tree = self._moment, self.checker.tree
        if moment is None or (moment.size, moment.refusals) != (tree.size, self._refusals):
            raise _differs("its moment is not whole", tree.size)
        if moment.root != tree.root():
            raise _differs("its events have another root than it says", tree.size)
        if self.checker.checkpoint_size:
            self.checker.check_signed()
        begun = self._begun
        is_settled = len(self._last_sizes) > UNSETTLED
        return replace(
            begun,
            size=tree.size,
            root=tree.root().hex(),
            frontier=tuple(digest.hex() for digest in tree.hashes),
            refusals=self._refusals,
            checkpoints=begun.checkpoints + self._new_checkpoints,
            checkpoint=max(begun.checkpoint, self.checker.checkpoint_size),
            settled=self._last_sizes[0] if is_settled else begun.settled,
            void_names=tuple(sorted({*begun.void_names, *moment.void_names})),
        )

    def _begin(self, moment: Moment) -> None:
        """What the log is now; again where a server was asked again after the connection was cut."""
        tree = self.checker.tree
        if moment.size < tree.size:
            facts = {"first": moment.size + 1, "last": tree.size}
            raise Corrupt(Code.EVENTS_LOST, rule="backup", problem="the backup has them", **facts)
        if moment.root_before != tree.root():
            raise _differs("it has another root where the backup ends", tree.size)
        if moment.refusals < self._refusals:
            raise _differs("it has fewer refusals than the backup", tree.size)
        self._moment = moment

    def _take_checkpoint(self, checkpoint: Checkpoint) -> None:
        known = self._known.get(checkpoint.size)
        if known == checkpoint:
            return
        self.checker.checkpoint(checkpoint)
        self._new_checkpoints += 1
        if known is None:
            self._last_sizes.append(checkpoint.size)
        self.writer.add("checkpoints", checkpoint.size, json_row(checkpoint))


def _known_checkpoints(folder: Path, begun: Manifest, segments: Sequence[Segment]) -> dict[int, Checkpoint]:
    """Those that will be asked for again, as they are kept."""
    known: dict[int, Checkpoint] = {}
    for segment in reversed(segments):
        if segment.kind == "checkpoints":
            for checkpoint in reversed(list(checkpoints_in(folder, segment))):
                if checkpoint.size > begun.settled:
                    known.setdefault(checkpoint.size, checkpoint)
            if segment.first <= begun.settled:
                break
    return known


def _begun(folder: Path) -> tuple[Manifest, tuple[Segment, ...]]:
    """What the folder holds so far. Raises Corrupt where it is damaged, Unavailable where it is something else."""
    remove_unfinished(folder)
    found = manifests.read(folder)
    if found is not None:
        check_lengths(folder, found[1])
        return found
    if any(True for _ in numbered(folder)):
        raise manifests.damaged(str(folder / manifests.NAME), "it is missing")
    if others := [path.name for path in folder.iterdir()]:
        problem = f"there are other files in it, such as {min(others)}"
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(folder), problem=problem)
    # From now on segments without a manifest are a backup that has lost its manifest.
    manifests.write(folder, Manifest(), ())
    return Manifest(), ()


def _leave_nothing(folder: Path, made: Sequence[Path]) -> None:
    """Take a first backup away that came to nothing, with the folders that were made for it."""
    if any(True for _ in numbered(folder)):
        return  # a file was given its name already, and none of those is ever removed
    with suppress(OSError):
        (folder / manifests.NAME).unlink(missing_ok=True)
        for place in made:
            place.rmdir()


@contextmanager
def _held(folder: Path) -> Iterator[list[Path]]:
    """The folder for one backup at a time, made where it is missing; gives what was made, the innermost first."""
    try:
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        for place in reversed(missing):
            place.mkdir()
            sync_folder(place.parent)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(folder), problem=error.strerror or "") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            problem = "another backup into it is on its way"
            raise Unavailable(Code.SOURCE_UNREADABLE, path=str(folder), problem=problem) from error
        yield missing
    except OSError as error:
        raise Unavailable(Code.WRITE_FAILED, path=str(folder), problem=error.strerror or "") from error
    finally:
        os.close(descriptor)


def _differs(problem: str, size: int) -> Corrupt:
    return Corrupt(Code.BACKUP_DIFFERS, rule="backup", problem=problem, size=size)
