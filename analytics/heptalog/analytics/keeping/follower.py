"""Keeps the tables of a log: takes its events by position, and hands out moments of what follows from them.

Events are folded as they come, and nothing is written. When a moment is asked for, or too much has changed to be held,
the rows of the games that changed are written as segments: files that never change again. The manifest is written every
now and then; the files that it names stay until another takes its place, so that whatever happens in between, what was
taken since is only taken again.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from heptalog.analytics.keeping.games import EVENTS_HELD_MAX
from heptalog.analytics.keeping.generation import Generation
from heptalog.analytics.keeping.manifest import (
    FORM,
    FORMAT,
    Kept,
    Manifest,
    boot_id,
    first_damaged,
    moment_of,
    named,
    paths,
    store,
    written,
)
from heptalog.analytics.keeping.opening import Found, opened
from heptalog.analytics.keeping.place import MANIFEST, Hold, begin, clear, current, keep, sweep
from heptalog.analytics.keeping.scrubbing import Progress, Scrub
from heptalog.analytics.keeping.segments import Damaged
from heptalog.analytics.snapshots import Snapshot
from heptalog.analytics.sources import Log
from heptalog.replay.errors import Code, HeptalogError, Unavailable

# Where the manifest is not written in order, so many events are taken again.
_UNSTORED_MAX: Final = 2_000
# The same where nobody asks: what is held in memory is not to grow for ever, nor is all to be taken again.
_UNASKED_MAX: Final = 100_000
# A moment is not kept waiting by what can be merged later, unless so many times as much lies there.
_PATIENCE: Final = 4


class _Held(Struct, frozen=True):
    """A moment that was handed out: its number, what it is, and what its files are."""

    number: int
    snapshot: Snapshot
    generation: Path
    manifest: Manifest


class Follower:
    """The tables of one log, in a folder that nobody else keeps meanwhile. For one thread.

    Where a call raises, it can do no more: opening it again puts it in order.
    """

    def __init__(
        self,
        folder: Path,
        source: Log,
        *,
        lock: Hold | None = None,
        found: Found | None = None,
        check_room: Callable[[], None] = lambda: None,
        events_held_max: int = EVENTS_HELD_MAX,
        boot: str | None = None,
    ) -> None:
        """Open the folder, or begin it; anew where it is of another log, of another form, damaged, or ahead.

        Who keeps the folder already gives its `lock` away, and who has looked at it what was `found`: no file is read
        twice. `check_room` raises where no more is to be written. Raises Unavailable: DATABASE_LOCKED where another
        keeps it, SOURCE_UNREADABLE where it cannot be made; OSError where it cannot be written.
        """
        self._folder: Final = folder
        self._source: Final = source
        self._check_room: Final = check_room
        self._events_held_max: Final = events_held_max
        self._boot: Final = boot_id() if boot is None else boot
        self._is_open = False
        self._is_begun = False
        self._current: Snapshot | None = None
        # Moments have numbers: with it stand those that are read, files that are in none from there on, and generations
        # that ended there.
        self._count = 0
        self._held: list[_Held] = []
        self._retired: list[tuple[int, Path]] = []
        self._former: list[tuple[int, Hold]] = []
        self._scrub = Scrub(self._files)
        self._lock = keep(folder) if lock is None else lock
        try:
            self._generation = self._opened(found)
            clear(folder)
        except BaseException:
            self._lock.close()
            raise
        self._is_open = True

    @property
    def position(self) -> int:
        """The position of the last event that was taken."""
        return self._generation.position

    @property
    def refusals(self) -> int:
        """How many refusals were taken."""
        return self._generation.refusals

    @property
    def unread(self) -> tuple[str, ...]:
        """The games that are in the tables only as far as they can be read here, which may be not at all."""
        return self._generation.unread

    def follow(self, events_max: int = 5_000) -> bool:
        """Take what comes next, and so many refusals too; False where there was nothing."""
        with self._unbroken():
            self._adopt()
            self._check_room()
            generation = self._generation
            has_taken = generation.take(self._source, events_max)
            if generation.position - generation.stored_position > _UNASKED_MAX:
                generation.write()
                generation.store()
            return has_taken

    def snapshot(self) -> Snapshot:
        """The moment that was reached; its files stay until it is released."""
        with self._unbroken():
            generation = self._generation
            self._check_room()
            generation.write()
            while generation.tidy(patience=_PATIENCE):
                self._check_room()
            if generation.position - generation.stored_position > _UNSTORED_MAX:
                generation.store()
            manifest = generation.manifest()
            moment = moment_of(generation.path, manifest)
            if moment != self._current:
                self._renew(moment)
            self._held.append(_Held(self._count, moment, generation.path, manifest))
            return moment

    def release(self, snapshot: Snapshot) -> None:
        """Nobody reads this moment any more; one that was handed out several times is released as often."""
        place = next((place for place, held in enumerate(self._held) if held.snapshot == snapshot), None)
        if place is not None:
            del self._held[place]

    def rest(self) -> bool:
        """Use a time in which nobody waits to put things in order, a step at a time; False where all is in order."""
        with self._unbroken():
            self._check_room()
            if self._generation.tidy(patience=1):
                return True
            self._sweep()
            return False

    def verify(self) -> bool:
        """Whether all files are what was written; where they are not, everything is made anew at the next opening."""
        with self._unbroken():
            if first_damaged(self._generation.manifest(), self._generation.path, is_read=True) is None:
                return True
            self._forget()
            return False

    def scrub(self, size: int) -> Progress:
        """Read about so many bytes of the files again, where the last step ended; as `verify`, where one is damaged."""
        with self._unbroken():
            if current(self._folder) not in (None, self._generation.path):
                # One was made beside it, and is gone on with by who follows.
                return Progress(is_over=False)
            progress = self._scrub.step(self._generation.path, size)
            if progress.damaged:
                self._forget()
            return progress

    def abandon(self) -> None:
        """Take away what was written since the manifest, and where the tables were begun here all of them.

        For who could not go on, and has nobody who reads what was handed out; then it is closed.
        """
        self._is_open = False
        path, hold = self._generation.path, self._generation.hold
        with suppress(OSError):
            if self._is_begun:
                (path / MANIFEST).unlink(missing_ok=True)
                with hold.alone() as is_alone:
                    if is_alone:
                        shutil.rmtree(path, ignore_errors=True)
            elif (manifest := written(path)) is not None:
                sweep(path, hold, paths(manifest, path))

    def close(self) -> None:
        """Write down how far it is, and let go of the folder. Calling it again does nothing."""
        try:
            if self._is_open:
                # What cannot be written is taken again.
                with suppress(OSError, HeptalogError), self._unbroken():
                    self._generation.write()
                    self._sweep()
        finally:
            self._is_open = False
            for _, former in self._former:
                former.close()
            self._generation.hold.close()
            self._lock.close()

    def _opened(self, known: Found | None = None) -> Generation:
        found = opened(self._folder, self._source, boot=self._boot, known=known).usable
        self._is_begun = found is None
        if found is None:
            path, manifest = begin(self._folder), Manifest(FORMAT, FORM, boot=self._boot)
            store(manifest, path)
            found = path, manifest
        return Generation(*found, events_held_max=self._events_held_max, boot=self._boot)

    def _adopt(self) -> None:
        """Go on with a generation that was made beside this one, or anew where somebody has deleted it."""
        found = current(self._folder)
        if found == self._generation.path:
            return
        if found is None:
            # What held the folder went with it.
            self._lock.close()
            self._lock = keep(self._folder)
        self._former.append((self._count, self._generation.hold))
        self._generation = self._opened()
        self._retired.clear()
        self._let_go()

    def _renew(self, moment: Snapshot) -> None:
        self._count += 1
        self._current = moment
        self._retired += [(self._count, path) for path in self._generation.retired()]

    def _sweep(self) -> None:
        """Remove what nobody reads any more, and no manifest names."""
        self._let_go()
        generation = self._generation
        if generation.has_changed:
            return
        if not generation.is_stored:
            generation.store()
        if generation.has_retired:
            self._renew(generation.moment())
        oldest = self._oldest()
        if any(number <= oldest for number, _ in self._retired):
            with generation.hold.alone() as is_alone:
                if is_alone:
                    for number, path in self._retired:
                        if number <= oldest:
                            path.unlink(missing_ok=True)
                    self._retired = [(number, path) for number, path in self._retired if number > oldest]

    def _let_go(self) -> None:
        """Let go of former generations that nobody reads any more."""
        oldest = self._oldest()
        ended = [former for former in self._former if former[0] < oldest]
        self._former = [former for former in self._former if former[0] >= oldest]
        for _, hold in ended:
            hold.close()
        if ended:
            clear(self._folder)

    def _oldest(self) -> int:
        """The number of the oldest moment that is read, or of the next one."""
        return min((held.number for held in self._held), default=self._count + 1)

    def _files(self) -> dict[Path, Kept]:
        """Every file that is read now, or will be by who asks next."""
        files: dict[Path, Kept] = {}
        for held in self._held:
            files.update(named(held.manifest, held.generation))
        files.update(named(self._generation.manifest(), self._generation.path))
        return files

    def _forget(self) -> None:
        self._is_open = False
        (self._generation.path / MANIFEST).unlink(missing_ok=True)

    @contextmanager
    def _unbroken(self) -> Iterator[None]:
        """Do no more once something has failed half way."""
        if not self._is_open:
            raise Unavailable(Code.TABLES_BEHIND, problem="they have to be opened again")
        try:
            yield
        except Damaged as error:
            self._forget()
            raise Unavailable(Code.TABLES_BEHIND, problem="they are damaged, and made anew") from error
        except BaseException:
            self._is_open = False
            raise
