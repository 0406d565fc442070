"""The next stretch of the log for one feed: of what was recorded last, or of the store where that is not enough."""

from collections.abc import Iterable
from contextlib import closing
from itertools import dropwhile
from typing import Final

from heptalog.service.config import STREAMED_BYTES
from heptalog.service.recent import Recent
from heptalog.service.store import LogStore, Stored
from heptalog.service.subscribing.games import Games
from heptalog.service.subscribing.messages import written
from heptalog.service.subscribing.telling import Telling
from heptalog.service.subscribing.told import FeedBatch, FeedEvent, FeedFilter

# In one message.
EVENTS_MAX: Final = 256
# Looked at for one message, where most are not wanted.
_LOOKED_AT_MAX: Final = 16_384


class FeedReader:
    """Reads for one feed, a message's worth at a time; no moment of the store is held in between."""

    def __init__(self, store: LogStore, recent: Recent, games: Games, asked: FeedFilter) -> None:
        self._store = store
        self._recent = recent
        self._games = games
        self.asked: Final = asked
        self._sequence = 0  # where reading one game goes on

    def message(self, told: int, position: int, head: int) -> tuple[int, bytes]:
        """The next message, with all that is wanted after `position` up to another, which is given with it.

        Where nothing there is wanted the message is empty. `told` is the position of the one before, and `head` one
        that is durable. Raises what is wrong with the log, where it cannot be read on.
        """
        end, events = self._stretch(position, head)
        return end, written(FeedBatch(told, end, tuple(events))) if events else b""

    def _stretch(self, position: int, head: int) -> tuple[int, list[FeedEvent]]:
        end = min(head, position + _LOOKED_AT_MAX)
        if recent := self._recent.read(position + 1, end):
            return self._wanted(recent, end)
        if self.asked.game_id:
            with closing(self._store.read_game(self.asked.game_id, start=self._sequence)) as records:
                # Where nothing more of it is there, nothing is up to the head.
                return self._wanted(dropwhile(lambda stored: stored.position <= position, records), head)
        with closing(self._store.read_all(start=position + 1, limit=end - position)) as records:
            return self._wanted(records, end)

    def _wanted(self, records: Iterable[Stored], end: int) -> tuple[int, list[FeedEvent]]:
        """What is wanted of these, which are all up to `end`, or until a message is full."""
        events: list[FeedEvent] = []
        size = 0
        telling = Telling(self._games, self.asked)
        for stored in records:
            if (event := telling.event(stored)) is not None:
                events.append(event)
                # A remark is there twice, and as words it may be several times as long.
                size += len(event.record) + sum(map(len, event.words))
                self._sequence = stored.sequence + 1
            if len(events) == EVENTS_MAX or size >= STREAMED_BYTES:
                return stored.position, events
            end = max(end, stored.position)
        return end, events
