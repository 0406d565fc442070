"""What the tests of feeds read of them, and how they wait for it."""

from collections.abc import Iterator, Sequence
from typing import Final

from heptalog.replay.registry import GAMES
from heptalog.service.client import CaughtUp, FeedBatch, FeedEvent, FeedMessage, Heartbeat
from heptalog.service.store import Entry, LogStore
from tests.support.recording import batch_of, recorded_game

TOURNAMENTS: Final = ("spring", "autumn", "")
# A dozen, `seven_up-1` and so on; the tournament follows from the number.
GAMES_PLAYED: Final = [
    recorded_game(rules, seed, tournament=TOURNAMENTS[seed % 3], event_count_max=80, ruling_rate=0.02)
    for rules in GAMES
    for seed in range(4)
]
TOTAL: Final = sum(map(len, GAMES_PLAYED))


def until_caught_up(feed: Iterator[FeedMessage]) -> list[FeedMessage]:
    """The next messages, up to the one that says that what comes is new; each goes on where the one before ended."""
    messages: list[FeedMessage] = []
    for message in feed:
        messages.append(message)
        if isinstance(message, CaughtUp):
            return messages
    raise AssertionError("a feed has no end")


def events_in(messages: Sequence[FeedMessage]) -> list[FeedEvent]:
    """All that these messages tell."""
    return [event for message in messages if isinstance(message, FeedBatch) for event in message.events]


def next_events(feed: Iterator[FeedMessage], count: int) -> list[FeedEvent]:
    """So many events that come next; nothing but batches and heartbeats comes before the last of them."""
    events: list[FeedEvent] = []
    while len(events) < count:
        message = next(feed)
        assert isinstance(message, FeedBatch | Heartbeat), message
        events += events_in([message])
    assert len(events) == count
    return events


def check_whole(messages: Sequence[FeedMessage], start: int = 0) -> None:
    """That these messages leave nothing out, and that positions only grow."""
    told = start
    for message in messages:
        if isinstance(message, FeedBatch):
            assert message.previous_position == told
            positions = [event.position for event in message.events]
            assert positions == sorted(set(positions))
            assert positions
            assert told < positions[0]
            assert positions[-1] <= message.position
        assert message.position >= told
        told = message.position


def fill(store: LogStore, games: Sequence[Sequence[Entry]], size: int = 3) -> None:
    """Record these games, a few events of each in turn."""
    for at in range(0, max(map(len, games)), size):
        store.append([batch_of(part) for game in games if (part := game[at : at + size])])
