"""Bringing recorded games into a log: each one verified whole before anything of it is written, and only once.

What is missing is filled in so that the same file brings the same events again (`heptalog.replay.identity`); the log
then knows them by their ids. A game that the log has already is compared as far as it goes, and goes on from there.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import zip_longest
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Protocol, Self

from msgspec import UNSET, Struct
from msgspec.structs import replace

from heptalog.cli.connections import Connections, opening, reachable
from heptalog.cli.databases import Database
from heptalog.cli.examine import bad, placed, steps
from heptalog.cli.exits import Exit
from heptalog.cli.files import FileGame, Missing
from heptalog.cli.servers import Server
from heptalog.cli.sources import Game
from heptalog.cli.verdicts import Found, Verdict
from heptalog.replay.codec import content_of, encode
from heptalog.replay.errors import Code, HeptalogError, Malformed, NotFound, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.evidence.seals import SALT_SIZE, sealable_parts, sealed, values_of
from heptalog.replay.identity import identified
from heptalog.service.appends import Append, Receipt
from heptalog.service.config import EVENT_SIZE_MAX, EVENTS_PER_APPEND_MAX, MESSAGE_SIZE_MAX
from heptalog.service.handler import check_shape
from heptalog.service.store import NO_GAME

# Games on their way at once: enough for the writer to commit many together, few enough to hold.
GAMES_AT_ONCE: Final = 16
# Batches of one game in the writer's queue at once; the queue has room for far more.
QUEUED_AT_ONCE: Final = 16
# What an event may still grow by when it is completed: a time, seals and links.
_SIZE_RESERVE: Final = 2 * 1024
_BATCH_SIZE_MAX: Final = MESSAGE_SIZE_MAX * 7 // 8
_PLACE_IN_REQUEST: Final = re.compile(r"^events\[\d+\]\.?")
_LATEST: Final = 253402300799_999999999


class Pending(Protocol):
    """An append on its way."""

    def result(self) -> Receipt:
        """Its receipt, once it is durable. Raises what the service raises."""
        ...


class Log(Protocol):
    """Where games are brought to."""

    def record(self, batches: list[list[Event]]) -> "Future[Counts]":
        """Begin to record a game; the future raises what the service raises, with the place in the game."""
        ...


class Counts(NamedTuple):
    """How many events of a game are new, and how many were there."""

    added: int
    known: int


class DatabaseLog:
    """A database that nobody else holds, written by the very service that a server runs, in the order of the games."""

    def __init__(self, path: Path) -> None:
        from heptalog.service.app import App
        from heptalog.service.config import Settings
        from heptalog.service.store.duck import DuckStore

        # Games come one after the other and are not needed again: few are kept, and many events go into one commit.
        settings = Settings(str(path), group_events_max=5000, live_events_max=50_000)
        with opening(path):
            self._app = App(DuckStore(path), settings)
        self._waiters = ThreadPoolExecutor(GAMES_AT_ONCE, thread_name_prefix="heptalog-import")

    def record(self, batches: list[list[Event]]) -> "Future[Counts]":
        """Queue what fits at once, so that games are created in order; the rest of a long game follows."""
        head = self._app.store.head(batches[0][0].game_id)
        parts = list(_parted(batches, NO_GAME if head is None else head.sequence))
        queued = [self._app.writer.submit(_append(part)) for part in parts[:QUEUED_AT_ONCE]]
        return self._waiters.submit(_recorded, parts, queued, lambda append: self._app.writer.submit(append).result())

    def close(self) -> None:
        """Finish what is queued, and let go of the database."""
        self._waiters.shutdown()
        self._app.close()


class ServerLog:
    """A running server; a few games are sent to it at once."""

    def __init__(self, target: str, connections: Connections) -> None:
        self._target = target
        self._client = connections.client(target)
        self._senders = ThreadPoolExecutor(GAMES_AT_ONCE, thread_name_prefix="heptalog-import")

    def record(self, batches: list[list[Event]]) -> "Future[Counts]":
        """Send a game, batch after batch."""
        return self._senders.submit(self._send, batches)

    def close(self) -> None:
        """Wait for what is being sent; the connection is closed by who opened it."""
        self._senders.shutdown()

    def _send(self, batches: list[list[Event]]) -> Counts:
        try:
            parts = list(_parted(batches, self._head(batches[0][0].game_id)))
            return _recorded(parts, [], self._client.append)
        except HeptalogError as error:
            raise reachable(error, self._target) from error

    def _head(self, game_id: str) -> int:
        try:
            return self._client.game(game_id).head.sequence
        except NotFound:
            return NO_GAME


class Destination:
    """Where games go: named at once, opened with the first good game, so that bad ones make no database."""

    def __init__(self, source: Database | FileGame | Server, connections: Connections) -> None:
        self._source = source
        self._connections = connections
        self._log: DatabaseLog | ServerLog | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._log is not None:
            self._log.close()

    def log(self) -> Log:
        """The log itself. Raises Unavailable where it cannot be opened."""
        if self._log is None:
            if isinstance(self._source, Server):
                self._log = ServerLog(self._source.target, self._connections)
            else:
                self._log = DatabaseLog(self._source.path)
        return self._log


class Import(Struct, frozen=True):
    """What came of one game: `added` events are new, `known` were there; the last four are null where all is well."""

    source: str
    ok: bool
    game: str | None = None
    added: int = 0
    known: int = 0
    sequence: int | None = None
    rule: str | None = None
    code: Code | None = None
    message: str | None = None

    @property
    def verdict(self) -> Verdict:
        """The same as a verdict on the game."""
        return Verdict(self.source, self.ok, self.added + self.known, self.sequence, self.rule, self.code, self.message)

    @property
    def exit(self) -> Exit:
        return self.verdict.exit


def imported(games: Iterable[Game | Missing], connections: Connections, opened: Callable[[], Log]) -> Iterator[Import]:
    """Bring games into a log, several at once, and tell what came of each, in order. Raises Unavailable for the log.

    `opened` gives the log; it is asked for with the first good game, so that bad ones make no database.
    """
    waiting: deque[tuple[Game | Missing, str, Future[Counts]]] = deque()
    # Two files of one game follow each other, so that it does not hang on chance which of them is right.
    latest: dict[str, Future[Counts]] = {}
    for game in games:
        game_id = ""
        future: Future[Counts] = Future()
        try:
            batches = _prepared(game, connections)
        except Found as found:
            future.set_exception(found)
        else:
            game_id = batches[0][0].game_id
            if game_id in latest:
                wait([latest[game_id]])
            future = latest[game_id] = opened().record(batches)
        waiting.append((game, game_id, future))
        if len(waiting) >= 2 * GAMES_AT_ONCE:
            latest = {key: value for key, value in latest.items() if not value.done()}
            yield _result(*waiting.popleft())
    while waiting:
        yield _result(*waiting.popleft())


def _result(game: Game | Missing, game_id: str, future: "Future[Counts]") -> Import:
    try:
        counts = future.result()
    except Found as found:
        return _failed(found.verdict)
    except Unavailable as error:
        if error.code is not Code.RECORD_NEWER:
            # Of no use to any other game either.
            raise
        return _failed(bad(game, 0, error), game_id)
    except HeptalogError as error:
        return _failed(bad(game, 0, error, placed(error)), game_id)
    return Import(game.name, ok=True, game=game_id, added=counts.added, known=counts.known)


def _prepared(game: Game | Missing, connections: Connections) -> list[list[Event]]:
    """The events of a good game, ready to be appended. Raises Found."""
    if isinstance(game, Missing):
        raise Found(bad(game, 0, game.error))
    events = [step.event for step in steps(game, connections)]
    try:
        return batches_of(completed(events))
    except HeptalogError as error:
        raise Found(bad(game, 0, error, placed(error))) from error


def completed(events: list[Event]) -> list[Event]:
    """The events with the ids they lack.

    Where something has to be filled in that the chain covers, the chain as given cannot hold: a new one is made.
    """
    identities = identified(events)
    keeps_chain = all(
        event.event_id and event.game_id and event.recorded_at and not _lacks_seals(event) for event in events
    )
    if not keeps_chain:
        identities = [replace(event, previous_hash=b"", hash=b"") for event in identities]
    return identities


def batches_of(events: list[Event]) -> list[list[Event]]:
    """The events in pieces that one call may carry. Raises Malformed where the service would refuse their form."""
    batches: list[list[Event]] = []
    size = 0
    for event in events:
        own = _size_of(event) + _SIZE_RESERVE
        if not batches or len(batches[-1]) == EVENTS_PER_APPEND_MAX or size + own > _BATCH_SIZE_MAX:
            batches.append([])
            size = 0
        batches[-1].append(event)
        size += own
    for batch in batches:
        try:
            check_shape(_append(batch))
        except HeptalogError as error:
            raise _in_file(error, batch) from error
    return batches


def _recorded(parts: list[list[Event]], queued: Sequence[Pending], append: Callable[[Append], Receipt]) -> Counts:
    """Record the parts of one game in order, the first of which may be queued already."""
    added = known = 0
    failure: HeptalogError | None = None
    for part, pending in zip_longest(parts, queued):
        if failure is not None and pending is None:
            break
        try:
            receipt = append(_append(part)) if pending is None else pending.result()
        except HeptalogError as error:
            # What is queued behind it fails for want of it; that is waited for, and not told.
            failure = failure or _in_file(error, part)
            continue
        if receipt.is_deduplicated:
            known += len(part)
        else:
            added += len(part)
    if failure is not None:
        raise failure
    return Counts(added, known)


def _parted(batches: list[list[Event]], head: int) -> Iterator[list[Event]]:
    """The batches, none of them with both known and new events."""
    for batch in batches:
        for part in ([event for event in batch if event.sequence <= head], [e for e in batch if e.sequence > head]):
            if part:
                yield part


def _append(batch: list[Event]) -> Append:
    return Append(batch[0].game_id, batch[0].sequence - 1, tuple(batch), is_imported=True)


def _lacks_seals(event: Event) -> bool:
    return any(part.seal is UNSET and values_of(part) for _, part in sealable_parts(event.body))


def _size_of(event: Event) -> int:
    """The bytes of an event. Raises Malformed where it is too large to be recorded; what is nearly so is completed."""
    size = len(content_of(event))
    if size < EVENT_SIZE_MAX - _SIZE_RESERVE:
        return size
    body = sealed(event.body, lambda: bytes(SALT_SIZE))
    whole = replace(event, body=body, recorded_at=event.recorded_at or _LATEST, previous_hash=bytes(32), hash=bytes(32))
    size = len(encode(whole))
    if size > EVENT_SIZE_MAX:
        raise Malformed(Code.EVENT_TOO_LARGE, rule="api", size=size, limit=EVENT_SIZE_MAX, sequence=event.sequence)
    return size


def _in_file(error: HeptalogError, batch: list[Event]) -> HeptalogError:
    """The error with the place of its event in the game, and not in the request that we made of it."""
    index = error.facts.pop("index", 0)
    field = error.facts.get("field")
    if isinstance(field, str):
        error.facts["field"] = _PLACE_IN_REQUEST.sub("", field)
    if batch and isinstance(index, int):
        error.facts.setdefault("sequence", batch[index].sequence)
    return error


def _failed(verdict: Verdict, game_id: str | None = None) -> Import:
    return Import(
        verdict.source,
        ok=False,
        game=game_id,
        sequence=verdict.sequence,
        rule=verdict.rule,
        code=verdict.code,
        message=verdict.message,
    )
