"""The tables of a database that no server holds: brought up to date where they lie, and held while they are asked."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from heptalog.cli.connections import Connections, damaged, opening, shown
from heptalog.cli.exits import complain
from heptalog.cli.output import Counter, counting
from heptalog.cli.processes import core_count
from heptalog.cli.render import counted
from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.words import printable

if TYPE_CHECKING:
    from heptalog.analytics.keeping import Counted
    from heptalog.analytics.keeping.place import Hold
    from heptalog.analytics.snapshots import Snapshot
    from heptalog.service.store.duck import DuckStore

# Another program may be making them anew; of a very long log that takes its time.
WAIT_SECONDS: Final = 600.0
_ASK_AGAIN_SECONDS: Final = 0.1
_EVENTS_AT_ONCE: Final = 5_000
# Where more than this is to be taken, and half of all, it is faster to make everything anew on all cores.
_BUILT_FROM: Final = 200_000


@contextmanager
def tables_of(database: Path) -> "Iterator[Snapshot]":
    """All tables of a database, with everything that is recorded in it; their files stay until this is left.

    Where they cannot be kept beside it they are made in a temporary folder, and that is said. Raises Unavailable where
    the database, or the folder, is held by others for too long, or cannot be read; Corrupt; OSError.
    """
    from heptalog.analytics.keeping.place import folder_of
    from heptalog.analytics.keeping.reading import kept_now

    with ExitStack() as stack:
        with opened_log(database) as store:
            folder = folder_of(store.path)
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
                raise damaged(database) from error
            raise


def _followed(folder: Path, store: "DuckStore", stack: ExitStack) -> "tuple[Snapshot, tuple[str, ...]]":
    """Bring the tables up to date, and let others go on with the folder; only what is read of it is held."""
    from heptalog.analytics.keeping import Follower, behind
    from heptalog.analytics.keeping.place import read

    lock, folder = _held(folder, stack)
    with closing(lock):
        total, due = store.position(), behind(folder, store)
        with counting("events", total=total, begun=total - due) as counter:
            if due > max(_BUILT_FROM, total // 2):
                build_all(folder, store, counter)
            with closing(Follower(folder, store, lock=lock)) as follower:
                before = follower.position
                while follower.follow(_EVENTS_AT_ONCE):
                    counter.add(follower.position - before)
                    before = follower.position
                # What is merged now need not be read in pieces by every question.
                follower.release(follower.snapshot())
                while follower.rest():
                    pass
                snapshot = follower.snapshot()
                for generation in snapshot.folders:
                    stack.callback(read(Path(generation)).close)
                return snapshot, follower.unread


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
    place = Path(stack.enter_context(TemporaryDirectory(prefix="heptalog-")))
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
    """Make all tables anew beside those that are there. Raises OSError, Unavailable, Corrupt."""
    from heptalog.analytics.keeping import build

    return build(folder, partial(log_at, store.path), processes=core_count(), tell=telling(counter))


def telling(counter: Counter) -> Callable[[int, int], None]:
    """What adds to a count until it is as much as is told."""
    told = 0

    def tell(done: int, _: int) -> None:
        nonlocal told
        counter.add(done - told)
        told = done

    return tell
