"""The tables of a database that no server holds: brought up to date where they lie, and held while they are asked."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from heptalog.analytics.processes import core_count
from heptalog.cli.connections import Connections, opening, shown, unreadable_part
from heptalog.cli.exits import complain
from heptalog.cli.output import Counter, counting
from heptalog.cli.render import counted
from heptalog.cli.temporary import temporary_folder
from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.sentences import shown_size
from heptalog.replay.words import printable

if TYPE_CHECKING:
    from heptalog.analytics.keeping import Counted, Follower
    from heptalog.analytics.keeping.place import Hold
    from heptalog.analytics.snapshots import Snapshot
    from heptalog.service.store.duck import DuckStore

# Another program may be making them anew; of a very long log that takes its time.
WAIT_SECONDS: Final = 600.0
_ASK_AGAIN_SECONDS: Final = 0.1
_EVENTS_AT_ONCE: Final = 5_000


@contextmanager
def tables_of(database: Path, *, is_elsewhere: bool = False) -> "Iterator[Snapshot]":
    """All tables of a database, with everything that is recorded in it; their files stay until this is left.

    Where they cannot be kept beside it they are made in a temporary folder, and that is said; `is_elsewhere` asks for
    it. Raises Unavailable where the database, or the folder, is held by others for too long, or cannot be read, or the
    tables cannot be written; Corrupt; OSError.
    """
    from heptalog.analytics.keeping.place import folder_of
    from heptalog.analytics.keeping.reading import kept_now

    with ExitStack() as stack:
        with opened_log(database) as store:
            folder = stack.enter_context(temporary_folder()) if is_elsewhere else folder_of(store.path)
            lying = stack.enter_context(kept_now(folder, store))
            if lying is None:
                snapshot, unread = _followed(folder, store, stack)
            else:
                snapshot, unread = lying.snapshot, lying.unread
        if unread:
            games = counted(len(unread), "game")
            them = "it" if len(unread) == 1 else "them"
            complain(f"{games} cannot be read here to the end, and the tables have no more of {them}")
        yield snapshot


@contextmanager
def mended(database: Path, snapshot: "Snapshot") -> "Iterator[Snapshot | None]":
    """The tables made anew where a file of them is not what was written, which is said; None where every file is.

    Raises what `tables_of` does.
    """
    from heptalog.analytics.keeping.place import MANIFEST
    from heptalog.analytics.keeping.reading import is_whole

    (generation,) = map(Path, snapshot.folders)
    if is_whole(generation):
        yield None
        return
    complain(printable(f"{shown(generation.parent)}: a file is damaged; the tables are made anew"))
    try:
        # Whoever keeps them makes them anew as well.
        (generation / MANIFEST).unlink(missing_ok=True)
        is_elsewhere = False
    except OSError:
        is_elsewhere = True
    with tables_of(database, is_elsewhere=is_elsewhere) as fresh:
        yield fresh


@contextmanager
def log_at(path: Path) -> "Iterator[DuckStore]":
    """A database that was looked at before, for reading; in any process."""
    from heptalog.service.store.duck import DuckStore

    with closing(DuckStore(path, is_read_only=True, is_checked=False)) as store:
        yield store


@contextmanager
def opened_log(database: Path) -> "Iterator[DuckStore]":
    """The log of a database, for reading; what is wrong with it as a whole is said. Raises Unavailable, Corrupt."""
    with Connections() as connections:
        with opening(database):
            store = connections.store(database)
        connections.complain(database)
        try:
            yield store
        except Corrupt as error:
            # The engine names its file; what is wrong with a whole log is told with its positions.
            if "path" in error.facts and "last" not in error.facts:
                raise unreadable_part(database) from error
            raise


def _followed(folder: Path, store: "DuckStore", stack: ExitStack) -> "tuple[Snapshot, tuple[str, ...]]":
    """Bring the tables up to date, and let others go on with the folder; only what is read of it is held."""
    from heptalog.analytics.keeping import Follower, due, is_far, opened
    from heptalog.analytics.keeping.manifest import boot_id
    from heptalog.analytics.keeping.place import read

    lock, folder = _held(folder, stack)
    with closing(lock):
        found = opened(folder, store, boot=boot_id())
        total, count = store.position(), due(found, store)
        with counting("events", total=total, begun=total - count) as counter:
            if is_far(count, total):
                build_all(folder, store, counter)
            with (
                _writing(folder),
                closing(
                    Follower(folder, store, lock=lock, found=found, check_room=partial(check_room, folder))
                ) as follower,
            ):
                snapshot = _caught_up(follower, counter)
                for generation in snapshot.folders:
                    stack.callback(read(Path(generation)).close)
                return snapshot, follower.unread


def _caught_up(follower: "Follower", counter: Counter) -> "Snapshot":
    """Take all that is new. What fails half way leaves nothing behind."""
    before = follower.position
    try:
        while follower.follow(_EVENTS_AT_ONCE):
            counter.add(follower.position - before)
            before = follower.position
        # What is merged now need not be read in pieces by every question.
        follower.release(follower.snapshot())
        while follower.rest():
            pass
        return follower.snapshot()
    except (OSError, Unavailable):
        follower.abandon()
        raise


def _held(folder: Path, stack: ExitStack) -> "tuple[Hold, Path]":
    """The folder, or another where it cannot be written, and nobody else keeps it."""
    from heptalog.analytics.keeping.place import keep

    try:
        return kept_alone(folder), folder
    except Unavailable as error:
        if error.code is not Code.SOURCE_UNREADABLE:
            raise
        problem = f"{shown(folder)}: {error.facts['problem']}"
    complain(printable(f"{problem}; the tables are made in a temporary folder, for this once"))
    place = stack.enter_context(temporary_folder())
    return keep(place), place


def kept_alone(folder: Path) -> "Hold":
    """Become the one who keeps the folder, once nobody else does. Raises Unavailable where that takes too long."""
    from heptalog.analytics.keeping.place import keep

    end = time.monotonic() + WAIT_SECONDS
    is_told = False
    while True:
        try:
            return keep(folder)
        except Unavailable as error:
            if error.code is not Code.DATABASE_LOCKED or time.monotonic() > end:
                raise
        if not is_told:
            is_told = True
            complain(printable(f"{shown(folder)} is being brought up to date by another program; waiting for it"))
        time.sleep(_ASK_AGAIN_SECONDS)


def build_all(folder: Path, store: "DuckStore", counter: Counter) -> "Counted":
    """Make all tables anew beside those that are there. Raises Unavailable, Corrupt."""
    from heptalog.analytics.keeping import build

    add = telling(counter)

    def tell(done: int, total: int) -> None:
        check_room(folder)
        add(done, total)

    with _writing(folder):
        check_room(folder)
        return build(folder, partial(log_at, store.path), processes=core_count(), tell=tell)


def check_room(folder: Path) -> None:
    """Raise Unavailable where no more is free on the disk of a folder than what is to be left for the log."""
    from heptalog.service.store.space import reserve_of, space_at

    found = space_at(folder)
    if found.free < reserve_of(found):
        problem = f"the disk is nearly full, {shown_size(found.free)} are left for the log"
        raise Unavailable(Code.WRITE_FAILED, what="tables", path=str(folder), problem=problem)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say which tables could not be written, and why."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        problem = os.strerror(error.errno) if error.errno else type(error).__name__
        raise Unavailable(Code.WRITE_FAILED, what="tables", path=str(folder), problem=problem) from error


def telling(counter: Counter) -> Callable[[int, int], None]:
    """What adds to a count until it is as much as is told."""
    told = 0

    def tell(done: int, _: int) -> None:
        nonlocal told
        counter.add(done - told)
        told = done

    return tell
