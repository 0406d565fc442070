"""Auditing a whole log: the work of `heptalog.service.auditing` in as many processes as there are, and resumable.

How far it is stands in a state file, replaced whole every few seconds. The same command goes on from there, as long as
it is about the very same log and is given the same checkpoints and keys.
"""

import atexit
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from msgspec import Struct
from msgspec.json import encode

from heptalog.cli import databases, servers
from heptalog.cli.connections import Connections, reachable, shown
from heptalog.cli.exits import WrongUse
from heptalog.cli.processes import core_count, in_order
from heptalog.cli.render import counted
from heptalog.cli.servers import SCHEME
from heptalog.cli.sources import named
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.replay.gamefile import rfc3339
from heptalog.service.auditing import progress as states
from heptalog.service.auditing.audit import Audit, Report, Summary, Work
from heptalog.service.auditing.beside import beside, given
from heptalog.service.auditing.findings import Finding, found_by
from heptalog.service.auditing.progress import Bound, Progress
from heptalog.service.auditing.reading import Reader
from heptalog.service.auditing.servers import ServerSource, hash_at, last_of
from heptalog.service.auditing.sources import Given, Source
from heptalog.service.store.duck import DuckStore

SAVE_SECONDS: Final = 2.0
# Below so many events a second process would only be waited for.
SMALL_COUNT: Final = 20_000
# What the engine may take in each process.
_MEMORY_MEBIBYTES: Final = 512


class Database(Struct, frozen=True):
    """A database that no server holds."""

    path: Path

    @property
    def name(self) -> str:
        """How a person names it."""
        return shown(self.path)

    @property
    def state_path(self) -> Path | None:
        """Where it is kept how far an audit is, unless somebody says otherwise."""
        return self.path.with_name(self.path.name + ".audit")

    @contextmanager
    def opened(self) -> Iterator[Source]:
        """All that is kept in it. What the opening check would refuse it for is for the audit to find."""
        with closing(_unchecked(self.path)) as store, closing(store.kept()) as kept:
            kept.restrain(memory_mebibytes=_MEMORY_MEBIBYTES, threads=1)
            yield kept

    def is_empty(self) -> bool:
        """Whether there is no event in it."""
        with self.opened() as source:
            return not source.extent()[1]

    def bound(self, given_hash: bytes) -> Bound:
        """What it is now."""
        with closing(_unchecked(self.path)) as store, closing(store.kept()) as kept:
            last, events = kept.extent()
            try:
                root = store.tree_head().root
            except Corrupt:
                # The audit will say what is wrong with it.
                root = b""
        return Bound(self.name, events, last, root, (*_stamp(self.path), *_stamp(_wal(self.path))), given_hash)


class Server(Struct, frozen=True):
    """A running server, up to the position that its log had when the audit began."""

    target: str
    last: int = 0

    @property
    def name(self) -> str:
        """How a person names it."""
        return SCHEME + self.target

    @property
    def state_path(self) -> Path | None:
        """A server lies nowhere, so somebody has to say."""
        return None

    @contextmanager
    def opened(self) -> Iterator[Source]:
        """What it gives."""
        yield ServerSource(_own_connections().client(self.target), self.last)

    def bound(self, given_hash: bytes) -> Bound:
        """What its log was up to that position."""
        root = hash_at(_own_connections().client(self.target), self.last)
        return Bound(self.name, self.last, self.last, root, (), given_hash)

    def now(self) -> Self:
        """The same, up to its last event."""
        return type(self)(self.target, last_of(_own_connections().client(self.target)))

    def at(self, last: int) -> Self:
        """The same, up to an earlier position."""
        return type(self)(self.target, last)


def place_of(text: str) -> Database | Server:
    """The log that a name stands for. Raises WrongUse where it is none, or one game of it."""
    match named(text):
        case databases.Database(path=path):
            return Database(path)
        case servers.Server(target=target):
            return Server(target)
    raise WrongUse(f"{text}: a whole log is audited, a database or {SCHEME}HOST:PORT")


class Auditor:
    """One audit from its beginning, or from where it stopped, to its end."""

    def __init__(
        self,
        place: Database | Server,
        checkpoints: Sequence[Path],
        keys: Sequence[VerifierKey],
        *,
        state: Path | None,
        may_lose_state: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open it and look for what was done before. Raises Unavailable, Malformed.

        An audit that `may_lose_state` goes on without, where the state cannot be written.
        """
        self._keys = tuple(keys)
        self._state = state
        self._may_lose_state = may_lose_state
        self._clock = clock
        self._early: list[Finding] = []
        self.is_resumed = self.has_changed = False
        with _reaching(place):
            before = None if state is None else states.load(state)
            if isinstance(place, Server):
                place = place.at(before.bound.last) if before and before.bound.source == place.name else place.now()
            claims = given(checkpoints, keys, self._early.append)
            if isinstance(place, Database):
                claims += beside(place.path, keys, self._early.append, is_empty=place.is_empty())
            brought = Given(tuple(claims), self._keys)
            bound = place.bound(sha256(encode([brought, self._early])).digest())
            if before is not None and before.bound == bound:
                self.is_resumed, self._early = True, []
            elif before is not None:
                self.has_changed = True
                before = None
                if isinstance(place, Server):
                    place = place.now()
                    bound = place.bound(bound.given)
            self._progress = before or Progress(bound)
            self._place = place
            self._reader = Reader(place.opened, self._keys)
            self._audit = Audit(lambda: self._reader.source, brought, self._progress)

    @property
    def name(self) -> str:
        """What is audited."""
        return self._place.name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._reader.close()

    @property
    def events(self) -> int:
        """How many events there are to read, each once by position and once by game."""
        return 2 * self._progress.bound.events

    @property
    def events_done(self) -> int:
        """How many of them have been read."""
        return self._progress.by_position + self._progress.by_game

    def remarks(self) -> Iterator[str]:
        """What a person should know beside the findings."""
        if self.is_resumed:
            yield f"going on where it was: {self.events_done:,} of {self.events:,} readings of events are done"
        elif self.has_changed:
            yield "the log, or what is given with it, is not what it was when an audit was begun: it begins anew"
        if self._state is not None and not self._may_keep():
            yield f"{shown(self._state)} cannot be written: once stopped, this audit begins at the beginning"
            self._state = None
        if not self._keys:
            yield "without --key nobody's signature is checked"
        for accepted_at, finding, size in self._reader.source.incidents():
            when = rfc3339(accepted_at * 1000)
            yield f"at {when} it was accepted that the log goes on with {counted(size, 'event')} after {finding}"

    def findings(self, *, jobs: int) -> Generator[Finding | None, None, None]:
        """Everything that is wrong, as it is found; None where there is only some progress."""
        for finding in self._early:
            self._progress.add(finding)
        self._early = []
        self._audit.begin()
        yield from list(self._progress.findings)
        saved_at = self._clock()
        try:
            with _reaching(self._place):
                for report in self._reports(jobs):
                    yield from self._audit.take(report)
                    yield None
                    if self._clock() - saved_at >= SAVE_SECONDS:
                        self._save()
                        saved_at = self._clock()
                yield from self._audit.end()
        except Corrupt as error:
            # The engine can read no further. What was found is told all the same, and this with it.
            self._save()
            finding = found_by(error)
            self._progress.add(finding)
            self._progress.is_whole = False
            yield finding
            return
        except BaseException:
            self._save()
            raise
        self._forget()

    def summary(self) -> Summary:
        """What it came to."""
        return self._audit.summary()

    def _reports(self, jobs: int) -> Iterator[Report]:
        works = self._audit.works()
        if jobs == 1 or self._progress.bound.events < SMALL_COUNT:
            return map(self._reader.report, works)
        task = _Task(self._place, self._keys)
        return in_order(task, works, jobs=jobs or core_count())

    def _may_keep(self) -> bool:
        try:
            self._save()
        except Unavailable:
            if not self._may_lose_state:
                raise
            return False
        return True

    def _save(self) -> None:
        if self._state is not None:
            states.save(self._state, self._progress)

    def _forget(self) -> None:
        if self._state is not None:
            with suppress(OSError):
                self._state.unlink()


class _Task(Struct, frozen=True):
    """What the other processes are told: where, and by which keys."""

    place: Database | Server
    keys: tuple[VerifierKey, ...]

    def __call__(self, work: Work) -> Report:
        return _own_reader(self).report(work)


@cache
def _own_reader(task: _Task) -> Reader:
    """What this process has opened: once, for all of its work."""
    reader = Reader(task.place.opened, task.keys)
    atexit.register(reader.close)
    return reader


@cache
def _own_connections() -> Connections:
    connections = Connections()
    atexit.register(connections.close)
    return connections


def _unchecked(path: Path) -> DuckStore:
    try:
        return DuckStore(path, is_read_only=True, is_checked=False)
    except Corrupt as error:
        problem = "the database is damaged"
        raise Unavailable(Code.SOURCE_UNREADABLE, problem=problem, path=shown(path)) from error


def _wal(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


@contextmanager
def _reaching(place: Database | Server) -> Iterator[None]:
    """Tell the failures of a server as a person needs them: which one, and not what the library says about it."""
    try:
        yield
    except HeptalogError as error:
        if isinstance(place, Server):
            raise reachable(error, place.target) from error
        raise
