"""Subscribe: what was and what is being recorded, in one order, whole, with what followed from it."""

from itertools import count

import grpc
import pytest

from heptalog.replay.errors import Code, HeptalogError, Malformed, NotFound, Refused, Unavailable
from heptalog.replay.events import Event, camel_name
from heptalog.replay.fold import scan, standing_of
from heptalog.replay.outcomes import fields_of
from heptalog.replay.rules import PUBLIC, Viewer
from heptalog.service.appends import Append
from heptalog.service.client import (
    NO_GAME,
    AsyncClient,
    CaughtUp,
    FeedEvent,
    FeedFilter,
    FeedMessage,
    Followed,
)
from heptalog.service.config import Settings
from heptalog.service.store import Stored
from heptalog.service.store.memory import MemoryStore
from heptalog.v1 import log_pb2
from tests.service.asking import failure_of, log_stub, new_game, remark
from tests.service.following import (
    GAMES_PLAYED,
    TOTAL,
    TOURNAMENTS,
    check_whole,
    events_in,
    next_events,
    until_caught_up,
)
from tests.support.serving import Service

# What is told.


def test_all_is_told_as_it_is_read_with_what_a_replay_says(played: Service) -> None:
    client = played.client()
    messages = until_caught_up(client.subscribe())
    check_whole(messages)
    events = events_in(messages)
    stored = [Stored(event.position, event.game_id, event.sequence, event.record) for event in events]
    assert stored == list(client.read())
    assert len(events) == TOTAL
    for game in GAMES_PLAYED:
        of_game = [event for event in events if event.game_id == game[0].event.game_id]
        steps = scan(entry.event.body for entry in game)
        for told, entry, (fold, outcomes) in zip(of_game, game, steps, strict=True):
            assert told.event == entry.event
            assert told.standing == standing_of(fold.sequence, fold.state)
            followed = tuple(Followed(camel_name(type(one)), plain(fields_of(one))) for one in outcomes)
            assert told.followed == followed
            assert len(told.words) == 1 + len(outcomes)
            assert all(told.words)
            assert not told.unread


def plain(fields: dict[str, object]) -> dict[str, object]:
    """Fields as protobuf gives them back: with lists, in the order of their names."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in sorted(fields.items())}


def test_what_is_recorded_from_then_on_is_told_too(each_service: Service) -> None:
    client = each_service.client()
    new_game(client, "one")
    feed = client.subscribe()
    messages = until_caught_up(feed)
    assert [event.sequence for event in events_in(messages)] == [0]
    for number in range(5):
        client.append(Append("one", number, (remark(f"r{number}"),)))
        new_game(client, f"other-{number}")
        (first, second) = next_events(feed, 2)
        assert (first.game_id, first.sequence, first.event.event_id) == ("one", number + 1, f"r{number}")
        assert (second.game_id, second.sequence) == (f"other-{number}", 0)
        assert second.position == first.position + 1


@pytest.mark.parametrize("after", [0, 1, 100, TOTAL - 1, TOTAL])
def test_it_begins_after_a_position(played: Service, after: int) -> None:
    messages = until_caught_up(played.client().subscribe(after=after))
    check_whole(messages, after)
    assert [event.position for event in events_in(messages)] == list(range(after + 1, TOTAL + 1))


def test_it_begins_with_what_comes(played: Service) -> None:
    client = played.client()
    feed = client.subscribe(after=None)
    assert next(feed) == CaughtUp(TOTAL)
    new_game(client, "new")
    assert [event.position for event in next_events(feed, 1)] == [TOTAL + 1]


FILTERS = (
    FeedFilter(game_id="seven_up-1"),
    FeedFilter(tournament="autumn"),
    FeedFilter(ruleset="seven_bridge"),
    FeedFilter(tournament="spring", ruleset="seven_rocks"),
    FeedFilter(game_id="seven_up-1", tournament="autumn"),
    FeedFilter(game_id="seven_up-1", ruleset="seven_rocks"),
    FeedFilter(tournament="nowhere"),
)


def is_wanted(asked: FeedFilter, event: FeedEvent) -> bool:
    ruleset, _, seed = event.game_id.rpartition("-")
    return (
        asked.game_id in ("", event.game_id)
        and asked.ruleset in ("", ruleset)
        and asked.tournament in ("", TOURNAMENTS[int(seed) % 3])
    )


@pytest.mark.parametrize("asked", FILTERS, ids=str)
@pytest.mark.parametrize("after", [0, 50])
def test_only_what_is_wanted_is_told(played: Service, asked: FeedFilter, after: int) -> None:
    client = played.client()
    messages = until_caught_up(client.subscribe(asked, after=after))
    check_whole(messages, after)
    assert messages[-1] == CaughtUp(TOTAL)
    everything = events_in(until_caught_up(client.subscribe(after=after)))
    assert events_in(messages) == [event for event in everything if is_wanted(asked, event)]


@pytest.mark.parametrize("asked", FILTERS[:4], ids=str)
def test_of_what_comes_too_only_what_is_wanted_is_told(service: Service, asked: FeedFilter) -> None:
    # Known by its first event where that is told before, or from what is kept of it where it is older.
    client = service.client()
    known = ("seven_up-1", "seven_bridge-1", "seven_rocks-3")
    starts = {game[0].event.game_id: Event(0, game[0].event.body, event_id="start") for game in GAMES_PLAYED}
    for game_id in known:
        client.append(Append(game_id, NO_GAME, (starts[game_id],)))
    feed = client.subscribe(asked, after=None)
    assert isinstance(next(feed), CaughtUp)
    wanted = []
    for number in range(3):
        for game_id, start in starts.items():
            expected = number if game_id in known else number - 1
            receipt = client.append(Append(game_id, expected, (remark(f"r{number}") if expected >= 0 else start,)))
            event = FeedEvent(receipt.head.position, game_id, expected + 1)
            if is_wanted(asked, event):
                wanted.append(event)
    for told, event in zip(next_events(feed, len(wanted)), wanted, strict=True):
        assert (told.position, told.game_id, told.sequence) == (event.position, event.game_id, event.sequence)


# What is refused.


@pytest.mark.parametrize(
    ("asked", "after", "kind", "code"),
    [
        (FeedFilter(game_id="none"), 0, NotFound, Code.GAME_NOT_FOUND),
        (FeedFilter(), TOTAL + 1, NotFound, Code.POSITION_AFTER_HEAD),
        (FeedFilter(ruleset="chess"), 0, Refused, Code.RULESET_UNKNOWN),
        (FeedFilter(viewer=Viewer(1)), 0, Malformed, Code.FIELD_INVALID),
        (FeedFilter(game_id="seven_up-1", viewer=Viewer(9)), 0, Refused, Code.SEAT_UNKNOWN),
        (FeedFilter(game_id="seven_up-1", viewer=Viewer(-3)), 0, Malformed, Code.FIELD_INVALID),
        (FeedFilter(), -1, Malformed, Code.FIELD_INVALID),
        (FeedFilter(game_id="\ud800"), 0, Malformed, Code.FIELD_INVALID),
    ],
)
def test_what_cannot_be_followed_is_refused(
    played: Service, asked: FeedFilter, after: int, kind: type[HeptalogError], code: Code
) -> None:
    with pytest.raises(kind) as caught:
        next(played.client().subscribe(asked, after=after))
    assert caught.value.code is code


def test_whom_it_is_told_to_must_be_said(service: Service) -> None:
    request = log_pb2.SubscribeRequest()
    request.viewer.SetInParent()
    with pytest.raises(grpc.RpcError) as caught:
        next(log_stub(service).Subscribe(request, timeout=30))
    assert failure_of(caught.value).field == "viewer.role"


def test_there_are_only_so_many_feeds() -> None:
    with Service(MemoryStore(), settings=Settings("", feeds_max=2)) as service:
        client = service.client()
        feeds = [client.subscribe(), client.subscribe()]
        for feed in feeds:
            assert next(feed) == CaughtUp(0)
        with pytest.raises(Unavailable) as caught:
            next(client.subscribe())
        assert caught.value.code is Code.OVERLOADED
        feeds.pop().close()

        def is_taken() -> bool:
            try:
                return next(client.subscribe()) == CaughtUp(0)
            except Unavailable:
                return False

        # The server hears of it a moment later.
        assert any(is_taken() for _ in count())


# Both clients.


def test_the_client_for_asyncio_is_told_the_same(played: Service) -> None:
    async def told(client: AsyncClient) -> list[FeedMessage]:
        messages = []
        async for message in client.subscribe(FeedFilter(tournament="spring", viewer=PUBLIC)):
            messages.append(message)
            if isinstance(message, CaughtUp):
                break
        return messages

    asked = FeedFilter(tournament="spring", viewer=PUBLIC)
    assert played.asynchronous(told) == until_caught_up(played.client().subscribe(asked))
