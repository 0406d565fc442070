"""A real server on a real socket for tests, over a store that can be held, made to fail, and asked who still reads."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from threading import Event, RLock, Thread
from typing import Any, Final, Self, TypeVar

import grpc
from msgspec.structs import replace

from heptalog.replay.errors import Conflict
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.replay.times import SECOND
from heptalog.service.app import App
from heptalog.service.client import AsyncClient, Client
from heptalog.service.client.calls import Retries
from heptalog.service.config import Settings, Surroundings
from heptalog.service.evidence.keys import Keyring
from heptalog.service.server import Server
from heptalog.service.store import (
    Batch,
    Checkpoint,
    Ending,
    GameFilter,
    Head,
    LogStore,
    NumberedGame,
    Reading,
    Records,
    Refusal,
    Stored,
    TreeHead,
)

T = TypeVar("T")
# How long a test waits for what must happen; it is never waited for in vain.
WAIT_SECONDS: Final = 120.0
STARTED_AT: Final = 1_790_000_000 * SECOND


def surroundings() -> Surroundings:
    """Time and chance that count: a second, an id and a salt after the other."""
    seconds, ids, salts = count(), count(), count(1)
    return Surroundings(
        clock=lambda: STARTED_AT + next(seconds) * SECOND,
        new_id=lambda: f"made-{next(ids)}",
        salts=lambda: next(salts).to_bytes(16, "big"),
    )


def buggy() -> Surroundings:
    """The same, and a bug in what gives ids, which meets every append that brings none."""

    def broken() -> str:
        raise ZeroDivisionError("the ace of spades")

    return replace(surroundings(), new_id=broken)


class Hold:
    """A place where a thread stops until the test lets it go."""

    def __init__(self) -> None:
        self._reached = Event()
        self._released = Event()

    def wait_until_reached(self) -> None:
        """Wait until a thread stands here."""
        assert self._reached.wait(WAIT_SECONDS), "nobody came"

    def release(self) -> None:
        """Let it go on."""
        self._released.set()

    def stop_here(self) -> None:
        """Stand here until released."""
        self._reached.set()
        assert self._released.wait(WAIT_SECONDS), "nobody let go"


class TriedStore:
    """Another store, and what a test does to it."""

    def __init__(self, inner: LogStore) -> None:
        self.inner = inner
        self.commits: list[tuple[Batch, ...]] = []
        # Taken by the next commits, one each: an exception to raise in place of it.
        self.failures: list[Exception] = []
        # What another writer would do just before the next commit.
        self.intruder: Callable[[], None] | None = None
        self.damage: Callable[[Stored], Stored] | None = None
        self.is_worn_out = False
        self.reader_count = 0
        self.reading_count = 0  # in all
        self.all_closed = Event()
        self.rest_count = 0
        self.has_rested = Event()
        self._before: Hold | None = None
        self._after: Hold | None = None
        self._reading: Hold | None = None
        # A reader that was left in the middle may be collected, and so closed, by whoever holds it.
        self._lock = RLock()

    @property
    def is_broken(self) -> bool:
        return self.is_worn_out or self.inner.is_broken

    @contextmanager
    def held(self) -> Iterator[Hold]:
        """Stop the next commit before it begins, until released or the end of the block."""
        hold = self._before = Hold()
        try:
            yield hold
        finally:
            hold.release()

    @contextmanager
    def held_after(self) -> Iterator[Hold]:
        """Stop the next commit after it is durable, before the writer hears of it."""
        hold = self._after = Hold()
        try:
            yield hold
        finally:
            hold.release()

    @contextmanager
    def held_reading(self) -> Iterator[Hold]:
        """Stop the next reader in the middle of its work."""
        hold = self._reading = Hold()
        try:
            yield hold
        finally:
            hold.release()

    def append(self, batches: Sequence[Batch], refusals: Sequence[Refusal] = ()) -> list[Head | Conflict]:
        hold, self._before = self._before, None
        if hold is not None:
            hold.stop_here()
        if self.failures:
            raise self.failures.pop(0)
        if self.intruder is not None:
            intrude, self.intruder = self.intruder, None
            intrude()
        answers = self.inner.append(batches, refusals)
        self.commits.append(tuple(batches))
        hold, self._after = self._after, None
        if hold is not None:
            hold.stop_here()
        return answers

    def read_game(
        self, game_id: str, *, start: int | None = None, limit: int = 0, is_backwards: bool = False
    ) -> Records:
        return self._counted(self.inner.read_game(game_id, start=start, limit=limit, is_backwards=is_backwards))

    def read_all(self, *, start: int | None = None, limit: int = 0, is_backwards: bool = False) -> Records:
        return self._counted(self.inner.read_all(start=start, limit=limit, is_backwards=is_backwards))

    def read_games(self, game_ids: Sequence[str]) -> Records:
        return self._counted(self.inner.read_games(game_ids))

    def _counted(self, records: Records) -> Records:
        with self._lock:
            self.reader_count += 1
            self.reading_count += 1
            self.all_closed.clear()
        try:
            for stored in records:
                hold, self._reading = self._reading, None
                if hold is not None:
                    hold.stop_here()
                yield self.damage(stored) if self.damage else stored
        finally:
            records.close()
            with self._lock:
                self.reader_count -= 1
                if not self.reader_count:
                    self.all_closed.set()

    def head(self, game_id: str) -> Head | None:
        return self.inner.head(game_id)

    def heads(self) -> Reading[tuple[str, Head]]:
        return self.inner.heads()

    def position(self) -> int:
        return self.inner.position()

    def game(self, game_id: str) -> NumberedGame | None:
        return self.inner.game(game_id)

    def games(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[NumberedGame]:
        return self.inner.games(wanted, after=after, limit=limit)

    def game_names(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[tuple[int, str]]:
        return self.inner.game_names(wanted, after=after, limit=limit)

    def endings(self, game_id: str) -> Reading[Ending]:
        return self.inner.endings(game_id)

    def endings_of(self, game_ids: Sequence[str]) -> dict[str, tuple[Ending, ...]]:
        return self.inner.endings_of(game_ids)

    def refusals(self, game_id: str = "", *, after: int = 0) -> Reading[Refusal]:
        return self.inner.refusals(game_id, after=after)

    def refusal_count(self) -> int:
        return self.inner.refusal_count()

    def tree_head(self) -> TreeHead:
        return self.inner.tree_head()

    def tile(self, level: int, index: int, width: int) -> list[bytes]:
        return self.inner.tile(level, index, width)

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        self.inner.keep_checkpoint(checkpoint)

    def checkpoints(self, *, after: int = 0) -> Reading[Checkpoint]:
        return self.inner.checkpoints(after=after)

    def void_names(self) -> frozenset[str]:
        return self.inner.void_names()

    def rest(self) -> None:
        self.inner.rest()
        self.rest_count += 1
        self.has_rested.set()

    def close(self) -> None:
        self.inner.close()


class Service:
    """A server in a thread with an event loop of its own; clients are closed with it."""

    def __init__(
        self,
        store: LogStore,
        *,
        settings: Settings | None = None,
        around: Surroundings | None = None,
        keys: Keyring | None = None,
        witnesses: Sequence[VerifierKey] = (),
    ) -> None:
        self.store = TriedStore(store)
        self.settings = settings or Settings("")
        self.app = App(self.store, self.settings, around or surroundings(), keys, witnesses)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="server", daemon=True)
        self._thread.start()
        self._is_drained = False
        self._clients: list[Client] = []
        self._channels: list[grpc.Channel] = []
        try:
            self.server = self.run(self._started())
        except BaseException:
            self.app.close()
            self._end_loop()
            raise
        self.target = f"127.0.0.1:{self.server.port}"

    async def _started(self) -> Server:
        server = Server(self.app, self.settings)
        await server.start()
        return server

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run this in the server's event loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(WAIT_SECONDS)

    def client(
        self,
        *,
        target: str = "",
        timeout: float = WAIT_SECONDS,
        attempts: int = 1,
        pause: Callable[[float], None] = time.sleep,
    ) -> Client:
        """A client for threads, without patience unless told."""
        client = Client(target or self.target, timeout=timeout, retries=Retries(attempts=attempts), pause=pause)
        self._clients.append(client)
        return client

    def asynchronous(
        self,
        work: Callable[[AsyncClient], Coroutine[Any, Any, T]],
        *,
        target: str = "",
        attempts: int = 1,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> T:
        """Do this with a client for asyncio."""

        async def with_client() -> T:
            retries = Retries(attempts=attempts)
            client = AsyncClient(target or self.target, timeout=WAIT_SECONDS, retries=retries, pause=pause)
            async with client:
                return await work(client)

        return self.run(with_client())

    def channel(self) -> grpc.Channel:
        """A bare channel."""
        channel = grpc.insecure_channel(self.target, options=[("grpc.max_send_message_length", -1)])
        self._channels.append(channel)
        return channel

    def drain(self) -> None:
        """Stop the server as on SIGTERM, and leave its clients to themselves."""
        if not self._is_drained:
            self._is_drained = True
            self.run(self.server.stop())

    def stop(self) -> None:
        """Stop all of it; a second time does nothing."""
        if self._loop.is_closed():
            return
        self.drain()
        for client in self._clients:
            client.close()
        for channel in self._channels:
            channel.close()
        self._end_loop()

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_SECONDS)
        self._loop.close()
