"""One generation of the tables, open for writing: what was taken of the log, and where its rows are."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from heptalog.analytics.keeping.games import Games
from heptalog.analytics.keeping.manifest import FORM, FORMAT, Manifest, moment_of, paths, store
from heptalog.analytics.keeping.opening import from_hex, hash_of, in_hex
from heptalog.analytics.keeping.piles import Piles
from heptalog.analytics.keeping.place import read, sweep
from heptalog.analytics.keeping.rated import Rated
from heptalog.analytics.keeping.series import Series
from heptalog.analytics.keeping.shelf import Shelf
from heptalog.analytics.projecting.arrow import arrow_table, refusal_row
from heptalog.analytics.projecting.rows import Row
from heptalog.analytics.rating import result_of
from heptalog.analytics.snapshots import Snapshot
from heptalog.analytics.sources import Recorded, Source
from heptalog.analytics.tables import RATING_CHANGES, REFUSALS
from heptalog.replay.codec import hash_in
from heptalog.replay.evidence.merkle import leaf_hash

# So many refusals are held before they are written.
_REFUSALS_HELD_MAX: Final = 20_000


class Generation:
    """The tables as they are in memory and in files; the manifest follows when it is told to."""

    def __init__(
        self, path: Path, manifest: Manifest, *, events_held_max: int, boot: str, is_whole: bool = True
    ) -> None:
        """Go on from a manifest; what it does not name is swept away. Raises OSError.

        Where it is not `is_whole`, it does not count before it is stored for the first time.
        """
        self.path: Final = path
        # What is in it stays while this is open, also when another takes its place.
        self.hold: Final = read(path)
        try:
            swept = sweep(path, self.hold, paths(manifest, path))
            # A number is never given twice, also where what had it is gone: somebody may still read it by its name.
            number = max(manifest.number, swept + 1)
            if is_whole and (number, boot) != (manifest.number, manifest.boot):
                store(replace(manifest, number=number, boot=boot), path)
        except BaseException:
            self.hold.close()
            raise
        self._shelf = Shelf(path, manifest.segments, number=number)
        take_number = self._shelf.take_number
        self._refused = Series(path, REFUSALS.name, "refusal_number", manifest.refused, take_number)
        self._rated = Rated(Series(path, RATING_CHANGES.name, "ended_position", manifest.rated, take_number))
        self._games = Games(manifest.unread, events_max=events_held_max)
        self._refusal_rows: list[Row] = []
        self._boot = boot
        # Of what was taken: the log itself may be another by the time that somebody asks what it was.
        self._tree = from_hex(manifest.position, manifest.tree)
        self._refused_last = manifest.refused_last
        self.position, self.refusals = manifest.position, manifest.refusals
        self.stored_position = self.position
        self._stored = self._state() if is_whole else (-1, -1, -1)

    @property
    def unread(self) -> tuple[str, ...]:
        """The games that are in the tables only as far as they can be read here."""
        return tuple(sorted(self._games.unread))

    @property
    def is_stored(self) -> bool:
        """Whether the manifest says where everything is now."""
        return self._stored == self._state()

    @property
    def has_changed(self) -> bool:
        """Whether there is anything that was not written."""
        return self._games.has_changed or bool(self._refusal_rows)

    def take(self, source: Source, limit: int) -> bool:
        """Take what comes next, of events and of refusals so many; False where there was nothing."""
        records = []
        if source.position() > self.position:
            records = list(source.read_all(start=self.position + 1, limit=limit))
        if records:
            del records[self._games.take(records, source) :]
            self._grow(records)
            self.position = records[-1].position
        has_refusals = self._take_refusals(source, limit)
        if self._games.is_full or len(self._refusal_rows) > _REFUSALS_HELD_MAX:
            self.write()
            self.store()
        return bool(records) or has_refusals

    def complete(self, source: Source) -> None:
        """Make the series, where the manifest has the rows of games only. Raises OSError."""
        self._rated.renew(0, self.moment)
        while self._take_refusals(source, _REFUSALS_HELD_MAX):
            self.write()

    def write(self) -> bool:
        """Write the rows of all that has changed; False where nothing has. Raises OSError."""
        has_changed = self.has_changed
        if changed := self._games.changed():
            piles = Piles()
            for game in changed:
                piles.add(game.projection)
            self._shelf.add(piles)
            self._rated.change([(game.rated, result_of(game.projection)) for game in changed], self.moment)
            self._games.written()
        self._refused.add(arrow_table(REFUSALS, self._refusal_rows))
        self._refusal_rows = []
        return has_changed

    def tidy(self, *, patience: int) -> bool:
        """Merge some files; False where all is in order. Raises OSError."""
        series = (self._refused, self._rated.series)
        return any(one.tidy(patience=patience) for one in series) or self._shelf.tidy(patience=patience)

    def moment(self) -> Snapshot:
        """All that was written."""
        return moment_of(self.path, self.manifest())

    def manifest(self) -> Manifest:
        """Where everything is, as it was written last."""
        return Manifest(
            FORMAT,
            FORM,
            position=self.position,
            tree=in_hex(self._tree),
            refusals=self.refusals,
            refused_last=self._refused_last,
            number=self._shelf.number,
            segments=self._shelf.segments,
            refused=self._refused.chunks,
            rated=self._rated.series.chunks,
            unread=self.unread,
            boot=self._boot,
        )

    def store(self) -> None:
        """Write down where everything is. Raises OSError."""
        assert not self.has_changed, "what is not written would not be taken again"
        store(self.manifest(), self.path)
        self.stored_position = self.position
        self._stored = self._state()

    @property
    def has_retired(self) -> bool:
        """Whether there are files that have come to be of no use."""
        return any(one.retired for one in self._all())

    def retired(self) -> list[Path]:
        """The files that have come to be of no use since this was asked last."""
        found: list[Path] = []
        for one in self._all():
            found += one.retired
            one.retired = []
        return found

    def _all(self) -> tuple[Shelf | Series, ...]:
        return self._shelf, self._refused, self._rated.series

    def _grow(self, records: Sequence[Recorded]) -> None:
        if records[0].position != self.position + 1 or records[-1].position != self.position + len(records):
            # Some are missing, and the log has no tree either.
            self._tree = None
        if self._tree is not None:
            for record in records:
                self._tree.append(leaf_hash(hash_in(record.record)))

    def _take_refusals(self, source: Source, limit: int) -> bool:
        before = self.refusals
        if source.refusal_count() > before:
            refused = None
            for refused in islice(source.refusals(after=before), limit):
                self.refusals += 1
                self._refusal_rows.append(refusal_row(self.refusals, refused))
            if refused is not None:
                self._refused_last = hash_of(refused)
        return self.refusals > before

    def _state(self) -> tuple[int, int, int]:
        return self.position, self.refusals, self._shelf.number
