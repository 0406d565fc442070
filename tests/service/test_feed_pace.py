"""When a feed tells: once it is durable, at the pace of who listens, and whatever cannot be read."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.rules import PUBLIC
from heptalog.service.appends import Append
from heptalog.service.client import (
    FeedBatch,
    FeedFilter,
    FeedMessage,
    FellBehind,
    Heartbeat,
)
from heptalog.service.config import Settings
from heptalog.service.store import Records, Stored
from heptalog.service.store.memory import MemoryStore
from heptalog.service.subscribing import subscriptions
from heptalog.service.subscribing.messages import read
from heptalog.service.subscribing.subscriptions import Subscriptions
from tests.service.asking import new_game, remark
from tests.service.following import TOTAL, check_whole, events_in, next_events, until_caught_up
from tests.support.serving import Service


@pytest.fixture
def beating() -> Iterator[Service]:
    """A server over memory whose feeds tell something all the time."""
    with Service(MemoryStore(), settings=Settings("", heartbeat_seconds=0.001)) as service:
        yield service


def test_nothing_is_told_before_it_is_durable(beating: Service) -> None:
    client = beating.client()
    new_game(client, "one")
    feed = client.subscribe()
    until_caught_up(feed)
    with beating.store.held() as hold, ThreadPoolExecutor(1) as threads:
        appending = threads.submit(client.append, Append("one", 0, (remark("held"),)))
        hold.wait_until_reached()
        for _ in range(3):
            message = next(feed)
            assert isinstance(message, Heartbeat)
            assert message.position == 1
        hold.release()
        assert appending.result().head.position == 2
    (event,) = next_events(feed, 1)
    assert event.event.event_id == "held"


def test_a_heartbeat_comes_where_nothing_else_does(beating: Service) -> None:
    client = beating.client()
    new_game(client, "one")
    new_game(client, "two")
    feed = client.subscribe(FeedFilter(game_id="one"))
    until_caught_up(feed)
    first, second = next(feed), next(feed)
    assert isinstance(first, Heartbeat)
    assert isinstance(second, Heartbeat)
    assert (first.position, second.position) == (2, 2)
    assert second.time > first.time > 0
    # What is not wanted is told with a position only, so that who comes back need not look at it again.
    client.append(Append("two", 0, (remark("r"),)))
    assert next(message for message in feed if message.position == 3).__class__ is Heartbeat


class Slow:
    """A feed in the server's event loop, of which a message is taken only when it is asked for."""

    def __init__(self, service: Service, asked: FeedFilter, of: "Slow | None" = None) -> None:
        """Of the same subscriptions as another, if one is given."""
        self._service = service
        self.subscriptions: Subscriptions = service.run(self._made()) if of is None else of.subscriptions
        self._feed = self.subscriptions.feed(asked, 0)

    async def _made(self) -> Subscriptions:
        app = self._service.app
        around = (self._service.settings, app.surroundings.clock)
        return Subscriptions(app.store, app.positions, app.commits, app.feeders, *around)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> FeedMessage:
        async def taken() -> bytes:
            return await anext(self._feed)

        message = read(self._service.run(taken()))
        assert message is not None
        return message

    def close(self) -> None:
        self._service.run(self._feed.aclose())


def test_who_is_far_behind_is_told_and_then_told_all(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "BEHIND_EVENTS", 10)
    client = service.client()
    new_game(client, "one")
    slow = Slow(service, FeedFilter())
    try:
        messages: list[FeedMessage] = until_caught_up(slow)
        for number in range(10):
            client.append(Append("one", number, (remark(f"r{number}"),)))
        messages.append(next(slow))
        assert len(events_in(messages[-1:])) == 10
        for number in range(10, 21):
            client.append(Append("one", number, (remark(f"r{number}"),)))
        assert next(slow) == FellBehind(11)
        messages += until_caught_up(slow)
        check_whole(messages)
        assert [event.sequence for event in events_in(messages)] == list(range(22))
    finally:
        slow.close()


def test_a_feed_that_is_left_behind_reads_the_log_and_holds_nothing_of_it(each_service: Service) -> None:
    client = each_service.client()
    new_game(client, "one")
    for number in range(40):
        client.append(Append("one", number, (remark(f"r{number}"),)))
    each_service.app.commits.recent.clear()
    before = each_service.store.reading_count
    slow = Slow(each_service, FeedFilter())
    try:
        batch = next(slow)
        assert len(events_in([batch])) == 41
        assert each_service.store.reading_count > before
        assert not each_service.store.reader_count
    finally:
        slow.close()


def test_who_follows_together_is_told_from_one_reading(played: Service) -> None:
    slow = [Slow(played, FeedFilter(viewer=PUBLIC))]
    slow += [Slow(played, FeedFilter(viewer=PUBLIC), slow[0]) for _ in range(4)]
    other = Slow(played, FeedFilter(ruleset="seven_up"), slow[0])
    try:
        before = played.store.reading_count
        first = [next(feed) for feed in slow]
        assert first.count(first[0]) == len(slow)
        shared = played.store.reading_count
        assert next(other) != first[0]
        alone = played.store.reading_count
        # Their games are read once for all of them, too.
        assert 1 <= alone - shared < shared - before
    finally:
        for feed in (*slow, other):
            feed.close()


def test_a_reading_that_fails_is_told_to_all_and_tried_again(played: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> Records:
        raise Unavailable(Code.DATABASE_LOCKED)

    slow = Slow(played, FeedFilter())
    with monkeypatch.context() as patch:
        patch.setattr(played.store, "read_all", broken)
        with pytest.raises(Unavailable):
            next(slow)
    again = Slow(played, FeedFilter(), slow)
    try:
        assert len(events_in([next(again)])) == 256
    finally:
        again.close()


def test_long_stretches_come_in_messages_of_bounded_size(service: Service) -> None:
    client = service.client()
    new_game(client, "one")
    expected = 0
    for _ in range(3):
        events = tuple(remark(f"r{expected + number}") for number in range(200))
        client.append(Append("one", expected, events))
        expected += len(events)
    messages = until_caught_up(client.subscribe(FeedFilter(game_id="one")))
    check_whole(messages)
    sizes = [len(message.events) for message in messages if isinstance(message, FeedBatch)]
    assert sizes == [256, 256, 89]


def test_remarks_that_grow_in_being_told_still_fit(service: Service) -> None:
    client = service.client()
    new_game(client, "one")
    for number in range(12):
        client.append(Append("one", number, (remark(f"r{number}", "\x01" * 250_000),)))
    messages = until_caught_up(client.subscribe())
    check_whole(messages)
    assert [event.sequence for event in events_in(messages)] == list(range(13))
    assert len(messages) == 13


# What cannot be read.


def test_a_game_that_is_damaged_keeps_nobody_from_the_others(played: Service) -> None:
    def damage(stored: Stored) -> Stored:
        is_meant = stored.game_id == "seven_up-1" and stored.sequence == 5
        return replace(stored, record=stored.record[:-3]) if is_meant else stored

    played.store.damage = damage
    events = events_in(until_caught_up(played.client().subscribe()))
    assert len(events) == TOTAL
    for event in events:
        is_damaged = event.game_id == "seven_up-1"
        assert event.unread == (Code.RECORD_DAMAGED if is_damaged else "")
        assert bool(event.record) is bool(event.words) is (event.standing is not None) is not is_damaged


def test_a_game_that_is_damaged_can_be_followed_by_name(played: Service) -> None:
    def damage(stored: Stored) -> Stored:
        is_meant = stored.game_id == "seven_up-1" and stored.sequence == 0
        return replace(stored, record=stored.record[:-3]) if is_meant else stored

    played.store.damage = damage
    for asked in (FeedFilter("seven_up-1"), FeedFilter("seven_up-1", viewer=PUBLIC), FeedFilter(tournament="autumn")):
        events = events_in(until_caught_up(played.client().subscribe(asked)))
        assert {event.unread for event in events if event.game_id == "seven_up-1"} == {Code.RECORD_DAMAGED}
        assert not any(event.unread for event in events if event.game_id != "seven_up-1")


def test_a_game_of_which_it_is_not_known_whether_it_is_wanted_is_told_unread(
    played: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(game_id: str) -> None:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", game_id=game_id)

    monkeypatch.setattr(played.store, "game", broken)
    # Its beginning, which says what it is, is not told.
    messages = until_caught_up(played.client().subscribe(FeedFilter(tournament="autumn"), after=40))
    check_whole(messages, 40)
    assert {event.unread for event in events_in(messages)} == {Code.RECORD_DAMAGED}
    assert messages[-1].position == TOTAL


def test_where_the_log_itself_cannot_be_read_the_feed_says_so(played: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> Records:
        raise Unavailable(Code.DATABASE_LOCKED)

    monkeypatch.setattr(played.store, "read_all", broken)
    with pytest.raises(Unavailable) as caught:
        until_caught_up(played.client().subscribe())
    assert caught.value.code is Code.DATABASE_LOCKED
