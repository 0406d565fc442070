"""The feeds of one server, in its event loop: each reads on at its own pace, and waits for commits at the end."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from functools import partial
from typing import Final, TypeAlias

from heptalog.replay.errors import Code, Malformed, NotFound, Refused, Unavailable
from heptalog.replay.registry import NEWEST
from heptalog.replay.rules import Role
from heptalog.service.answering import Readers
from heptalog.service.commits import Commits
from heptalog.service.config import Settings
from heptalog.service.positions import Positions
from heptalog.service.store import LogStore
from heptalog.service.subscribing.games import Games
from heptalog.service.subscribing.messages import written
from heptalog.service.subscribing.reading import FeedReader
from heptalog.service.subscribing.told import CaughtUp, FeedFilter, FellBehind, Heartbeat

# Who had caught up and is so far behind is told.
BEHIND_EVENTS: Final = 4096
# Messages that several feeds are sent.
_SHARED_MAX: Final = 8

# What a message follows from: what is asked, what was told and looked at, and the end of the log.
_Place: TypeAlias = tuple[FeedFilter, int, int, int]


class Subscriptions:
    """Nothing is kept for who reads slowly: where a feed is in the log is all that is known of it."""

    def __init__(
        self,
        store: LogStore,
        positions: Positions,
        commits: Commits,
        readers: Readers,
        settings: Settings,
        clock: Callable[[], int],
    ) -> None:
        """Made in the event loop that serves them."""
        self._store = store
        self._positions = positions
        self._recent = commits.recent
        self._readers = readers
        self._settings = settings
        self._clock = clock
        self._games = Games(store, positions)
        self._loop = asyncio.get_running_loop()
        self._bells: set[asyncio.Event] = set()
        self._is_ringing = False
        self._is_draining = False
        self._shared: dict[_Place, asyncio.Future[tuple[int, bytes]]] = {}
        commits.listen(self._committed)

    def drain(self) -> None:
        """End every feed, so that who follows goes on at another server."""
        self._is_draining = True
        self._ring()

    async def feed(self, asked: FeedFilter, start: int | None) -> AsyncGenerator[bytes, None]:
        """The messages of one feed, from after a position or from now on, without end.

        Raises NotFound for an unknown game or a position that is not there, Refused for unknown rules or a seat that is
        not at the table, Malformed for a seat without a game, Unavailable where there are too many feeds or the server
        drains.
        """
        if len(self._bells) >= self._settings.feeds_max:
            raise Unavailable(Code.OVERLOADED, rule="api", feeds=len(self._bells))
        bell = asyncio.Event()
        self._bells.add(bell)
        try:
            position = await self._readers.run(lambda: self._begin(asked, start))
            reader = FeedReader(self._store, self._recent, self._games, asked)
            async with aclosing(self._follow(reader, position, bell)) as messages:
                async for message in messages:
                    yield message
        finally:
            self._bells.discard(bell)

    def _begin(self, asked: FeedFilter, start: int | None) -> int:
        """Where a feed begins."""
        is_seat = asked.viewer.role is Role.SEAT
        if asked.game_id:
            self._positions.head(asked.game_id)
        elif is_seat:
            raise Malformed(Code.FIELD_INVALID, rule="api", field="viewer", problem="a seat is one of a game")
        if is_seat:
            # Whoever may not look at the table may not follow it.
            self._positions.at(asked.game_id).check_seat(asked.viewer.seat)
        if asked.ruleset and asked.ruleset not in NEWEST:
            # It would wait for ever, and in silence.
            raise Refused(Code.RULESET_UNKNOWN, rule="api", ruleset=asked.ruleset)
        head = self._store.position()
        if start is not None and start > head:
            raise NotFound(Code.POSITION_AFTER_HEAD, rule="api", asked=start, head=head)
        return head if start is None else start

    async def _follow(self, reader: FeedReader, position: int, bell: asyncio.Event) -> AsyncGenerator[bytes, None]:
        told = position  # with the last message
        due = self._loop.time() + self._settings.heartbeat_seconds
        is_new = False  # what comes
        while not self._is_draining:
            # What is recorded after the look at the head rings again.
            bell.clear()
            head, message = self._store.position(), b""
            if position < head and is_new and head - position > BEHIND_EVENTS:
                is_new, message = False, written(FellBehind(position))
            elif position < head:
                position, message = await self._next(reader, told, position, head)
            elif not is_new:
                is_new, message = True, written(CaughtUp(position))
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(due):
                        await bell.wait()
            if not message and self._loop.time() >= due:
                message = written(Heartbeat(position, self._clock()))
            if message:
                # Here it waits for who reads slowly.
                yield message
                told, due = position, self._loop.time() + self._settings.heartbeat_seconds
        raise Unavailable(Code.DRAINING, rule="api")

    async def _next(self, reader: FeedReader, told: int, position: int, head: int) -> tuple[int, bytes]:
        """The next message of a feed, as it is for every other one that wants the same from the same place on."""
        place = (reader.asked, told, position, head)
        reading = self._shared.get(place)
        if reading is None:
            work = partial(reader.message, told, position, head)
            reading = self._shared[place] = asyncio.ensure_future(self._readers.run(work))
            reading.add_done_callback(partial(self._forget, place))
        # Who goes away leaves it to the others.
        return await asyncio.shield(reading)

    def _forget(self, place: _Place, reading: asyncio.Future[tuple[int, bytes]]) -> None:
        """Keep the last few messages, for who is a moment late; none that has failed."""
        if reading.cancelled() or reading.exception() is not None:
            self._shared.pop(place, None)
        while len(self._shared) > _SHARED_MAX:
            del self._shared[next(iter(self._shared))]

    def _committed(self) -> None:
        """Hear of a commit, in the writer's thread."""
        if self._bells and not self._is_ringing and not self._loop.is_closed():
            self._is_ringing = True
            self._loop.call_soon_threadsafe(self._ring)

    def _ring(self) -> None:
        # A commit from here on rings again.
        self._is_ringing = False
        for bell in self._bells:
            bell.set()
