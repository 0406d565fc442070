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

from heptalog.analytics.processes import core_count, in_order
from heptalog.cli.auditstates import folders_of, is_own, make_folders, own_state
from heptalog.cli.connections import Connections, opening, reachable, shown
from heptalog.cli.databases import Database
from heptalog.cli.servers import SCHEME, Server
from heptalog.cli.sources import log_named
from heptalog.replay.errors import Corrupt, HeptalogError, Unavailable
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.service.auditing import progress as states
from heptalog.service.auditing.audit import Audit, Report, Summary, Work
from heptalog.service.auditing.beginning import unusable
from heptalog.service.auditing.beside import beside, given
from heptalog.service.auditing.findings import Finding, found_by
from heptalog.service.auditing.progress import Bound, Progress
from heptalog.service.auditing.reading import Reader
from heptalog.service.auditing.servers import ServerSource, hash_at, last_of
from heptalog.service.auditing.sources import Given, Source
from heptalog.service.store.duck_faults import let_through
from heptalog.service.store.duck_kept import Kept, opened_kept

SAVE_SECONDS: Final = 2.0
# Below so many events a second process would only be waited for.
SMALL_COUNT: Final = 20_000
# What the engine may take in each process.
_MEMORY_MEBIBYTES: Final = 512


class AuditedDatabase(Struct, frozen=True):
    """A database that no server holds."""

    path: Path

    @property
    def name(self) -> str:
        """How a person names it."""
        return shown(self.path)

    @property
    def real(self) -> Path:
        """Where it lies, and so do the files beside it, whatever link it was named by."""
        return self.path.resolve()

    @property
    def state_path(self) -> Path | None:
        """Where it is kept how far an audit is, unless somebody says otherwise."""
        return own_state(self.path)

    @contextmanager
    def opened(self) -> Iterator[Kept]:
        """All that is kept in it. What the opening check would refuse it for is for the audit to find."""
        with opening(self.path):
            kept = opened_kept(self.path)
        with closing(kept):
            kept.restrain(memory_mebibytes=_MEMORY_MEBIBYTES, threads=1)
            yield kept

    def is_empty(self) -> bool:
        """Whether there is no event in it."""
        with self.opened() as kept:
            return not _extent(kept)[1]

    def bound(self, given_hash: bytes) -> Bound:
        """What it is now."""
        with self.opened() as kept:
            last, events = _extent(kept)
            try:
                root = kept.root(last)
            except Exception as error:  # noqa: BLE001  # whatever is wrong with it, the audit will say so
                let_through(error)
                root = b""
        stamp = (*_stamp(self.real), *_stamp(self.real.with_name(self.real.name + ".wal")))
        return Bound(shown(self.real), events, last, root, stamp, given_hash)


class AuditedServer(Struct, frozen=True):
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


def place_of(text: str) -> AuditedDatabase | AuditedServer:
    """The log that a name stands for. Raises what `log_named` raises."""
    match log_named(text):
        case Database(path=path):
            return AuditedDatabase(path)
        case Server(target=target):
            return AuditedServer(target)


class Auditor:
    """One audit from its beginning, or from where it stopped, to its end."""

    def __init__(
        self,
        place: AuditedDatabase | AuditedServer,
        checkpoints: Sequence[Path],
        keys: Sequence[VerifierKey],
        *,
        state: Path | None,
        has_own_state: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open it and look for what was done before. Raises Unavailable, Malformed.

        Where it `has_own_state` the file is one that nobody has named: it is taken only from its user, and the audit
        goes on without where it cannot be written.
        """
        self._keys = tuple(keys)
        self._state = state
        self._distrusted: list[str] = []
        self._has_own_state = has_own_state
        self._clock = clock
        self._early: list[Finding] = []
        self.is_resumed = self.has_changed = False
        with _reaching(place):
            before = self._before()
            if isinstance(place, AuditedServer):
                place = place.at(before.bound.last) if before and before.bound.source == place.name else place.now()
            claims = given(checkpoints, keys, self._early.append)
            if isinstance(place, AuditedDatabase):
                claims += beside(place.real, keys, self._early.append, is_empty=place.is_empty())
            brought = Given(tuple(claims), self._keys)
            bound = place.bound(sha256(encode([brought, self._early])).digest())
            if before is not None and before.bound == bound:
                self.is_resumed, self._early = True, []
            elif before is not None:
                self.has_changed = True
                before = None
                if isinstance(place, AuditedServer):
                    place = place.now()
                    bound = place.bound(bound.given)
            self._progress = before or Progress(bound)
            self._place = place
            self._reader = Reader(place.opened, self._keys)
            self._audit = Audit(
                lambda: self._reader.source, brought, self._progress, anew=lambda: self._reader.begin_anew()
            )

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
        yield from self._distrusted
        if self.is_resumed:
            yield f"going on where it was: {self.events_done:,} of {self.events:,} readings of events are done"
        elif self.has_changed:
            yield "the log, or what is given with it, is not what it was when an audit was begun: it begins anew"
        if self._state is not None and not self._may_keep():
            yield f"{shown(self._state)} cannot be written: once stopped, this audit begins at the beginning"
            self._state = None
        if not self._keys:
            yield "without --key nobody's signature is checked"

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

    def _before(self) -> Progress | None:
        """What was done before, as the state says it, where that may be believed."""
        if self._state is None:
            return None
        if self._has_own_state:
            make_folders(self._state)
            for folder in folders_of(self._state):
                if not is_own(folder):
                    remark = "is not a folder that only you can write: once stopped, this audit begins at the beginning"
                    self._distrusted.append(f"{shown(folder)} {remark}")
                    self._state = None
                    return None
            if not is_own(self._state):
                self._distrusted.append(f"{shown(self._state)} is not a file that only you can write: it begins anew")
                return None
        return states.load(self._state)

    def _reports(self, jobs: int) -> Iterator[Report]:
        works = self._audit.works()
        if jobs == 1 or self._progress.bound.events < SMALL_COUNT:
            return map(self._reader.report, works)
        task = _Task(self._place, self._keys)
        return in_order(task, works, jobs=jobs or core_count(), work="audited the log")

    def _may_keep(self) -> bool:
        try:
            self._save()
        except Unavailable:
            if not self._has_own_state:
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

    place: AuditedDatabase | AuditedServer
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


def _extent(kept: Kept) -> tuple[int, int]:
    """The greatest position, and how many events there are; none that could be asked for where the table is another."""
    return (0, 0) if "events" in unusable(kept.differences()) else kept.extent()


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0, 0
    # The last of them nobody can set who is not the machine's own administrator.
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


@contextmanager
def _reaching(place: AuditedDatabase | AuditedServer) -> Iterator[None]:
    """Tell the failures of a server as a person needs them: which one, and not what the library says about it."""
    try:
        yield
    except HeptalogError as error:
        if isinstance(place, AuditedServer):
            raise reachable(error, place.target) from error
        raise
