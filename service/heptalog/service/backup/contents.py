"""What is in a backup, checked again from the first byte to the last."""

from collections.abc import Iterator
from pathlib import Path

from heptalog.replay.errors import Code, NotFound, Unavailable
from heptalog.replay.evidence.checkpoints import checkpoint_in
from heptalog.service.backup import manifest as manifests
from heptalog.service.backup.checking import Checker
from heptalog.service.backup.reading import checkpoints_in, records_in, refusals_in
from heptalog.service.store import Checkpoint, Entry, Refusal


class Contents:
    """A backup that is there. Everything it gives is checked on the way; Corrupt is raised at the first damage."""

    def __init__(self, folder: Path) -> None:
        found = manifests.read(folder)
        if found is None:
            raise Unavailable(Code.SOURCE_NOT_FOUND, path=str(folder / manifests.NAME))
        self.folder = folder
        self.manifest, self._segments = found
        if not self.manifest.made_at:
            raise manifests.damaged(
                str(folder / manifests.NAME), "nothing is in it yet, for the first backup into it was never finished"
            )

    def end_at(self, position: int | None) -> int:
        """The position to restore to. Raises NotFound where the backup does not reach so far."""
        size = self.manifest.size
        if position is not None and position > size:
            raise NotFound(Code.POSITION_AFTER_HEAD, rule="backup", asked=position, head=size)
        return size if position is None else position

    def entries(self, checker: Checker, end: int) -> Iterator[Entry]:
        """The events up to this position, by position, held against the checkpoints up to there as well."""
        for checkpoint in self.checkpoints(end):
            checker.checkpoint(checkpoint)
        for segment in self._segments:
            if segment.kind != "events" or segment.first > end:
                continue
            for position, record in enumerate(records_in(self.folder, segment), segment.first):
                if position > end:
                    break
                yield Entry(record, checker.event(position, record))
        if checker.tree.size != end or (end == self.manifest.size and checker.tree.root().hex() != self.manifest.root):
            raise manifests.damaged(
                str(self.folder), "its events are not those of its manifest", last=checker.tree.size
            )
        if checker.checkpoint_size:
            checker.check_signed()

    def checkpoints(self, end: int) -> Iterator[Checkpoint]:
        """The checkpoints up to this size in the order of keeping: of two of one size the later holds."""
        count = 0
        for segment in self._segments:
            if segment.kind == "checkpoints":
                for checkpoint in checkpoints_in(self.folder, segment):
                    count += 1
                    if checkpoint.size <= end:
                        yield checkpoint
        self._check_count(count, self.manifest.checkpoints, "checkpoints")

    def void_names(self, end: int) -> tuple[str, ...]:
        """The names that have signed what a log up to this position has not: under them it signs no more."""
        names = set(self.manifest.void_names)
        for checkpoint in self.checkpoints(self.manifest.size):
            if checkpoint.size > end:
                names.add(checkpoint_in(checkpoint.note).origin)
        return tuple(sorted(names))

    def refusals(self) -> Iterator[Refusal]:
        """All refusals, oldest first."""
        count = 0
        for segment in self._segments:
            if segment.kind == "refusals":
                for refusal in refusals_in(self.folder, segment):
                    count += 1
                    yield refusal
        self._check_count(count, self.manifest.refusals, "refusals")

    def _check_count(self, count: int, wanted: int, kind: str) -> None:
        if count != wanted:
            raise manifests.damaged(str(self.folder), f"its {kind} are not as many as its manifest says")
