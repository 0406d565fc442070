"""Feeds for who may not see all: what is told is what a copy of the game would hold then, and tells of nothing more."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay import codec
from heptalog.replay.events import Body, Event
from heptalog.replay.evidence.seals import is_redacted, sealable_parts, values_of
from heptalog.replay.fold import fold_all, view_of
from heptalog.replay.redaction import redacted_for
from heptalog.replay.rules import ARBITER, PUBLIC, AnyRules, Viewer
from heptalog.service.app import App
from heptalog.service.client import FeedEvent, FeedFilter
from heptalog.service.config import Settings
from heptalog.service.store import Entry
from heptalog.service.store.memory import MemoryStore
from heptalog.service.subscribing.games import Games
from heptalog.service.subscribing.telling import Telling
from tests.laws.test_redaction import DEALS, fold_of_beginning, viewers, with_cards_exchanged
from tests.service.following import GAMES_PLAYED, events_in, until_caught_up
from tests.support.play import EACH_GAME, Game, games
from tests.support.recording import batch_of, batches_of, entries_of, recorded_game
from tests.support.serving import Service

VIEWERS = (PUBLIC, Viewer(0), Viewer(1))


def copy_of(entries: Sequence[Entry], viewer: Viewer, *, is_withheld: bool) -> list[Event]:
    """The game so far, as a viewer may have it."""
    events = [entry.event for entry in entries]
    fold = fold_all(event.body for event in events)
    return list(redacted_for(events, fold, viewer, is_withheld=is_withheld))


@pytest.mark.parametrize("viewer", VIEWERS, ids=str)
@pytest.mark.parametrize("is_withheld", [False, True])
def test_of_what_was_recorded_a_feed_tells_what_a_copy_holds(
    played: Service, viewer: Viewer, is_withheld: bool
) -> None:
    client = played.client()
    hidden = 0
    for game in GAMES_PLAYED:
        asked = FeedFilter(game[0].event.game_id, viewer=viewer, is_withheld=is_withheld)
        events = events_in(until_caught_up(client.subscribe(asked)))
        copy = copy_of(game, viewer, is_withheld=is_withheld)
        assert [event.event for event in events] == copy
        assert [event.record for event in events] == [codec.encode(event) for event in copy]
        hidden += sum(is_redacted(part) for event in copy for _, part in sealable_parts(event.body))
    assert hidden > 20


@EACH_GAME
@pytest.mark.parametrize("viewer", VIEWERS, ids=str)
def test_what_is_being_recorded_is_told_as_it_may_be_seen_then(rules: AnyRules, viewer: Viewer) -> None:
    game = recorded_game(rules, 3, event_count_max=120)
    store = MemoryStore()
    with Service(store) as service:
        client = service.client()
        game_id = game[0].event.game_id
        store.append([batch_of(game[:1])])
        feed = client.subscribe(FeedFilter(game_id, viewer=viewer), after=0)
        until_caught_up(feed)
        recorder = client.resume(game_id)
        hidden = 0
        for entry in game[1:]:
            recorder.append(entry.event.body)
            (event,) = events_in([next(feed)])
            (*_, expected) = copy_of(game[: entry.event.sequence + 1], viewer, is_withheld=False)
            assert event.event.body == expected.body
            hidden += any(is_redacted(part) for _, part in sealable_parts(event.event.body))
        assert hidden
        # Whoever comes later is told as much as may be seen by then.
        later = events_in(until_caught_up(client.subscribe(FeedFilter(game_id, viewer=viewer))))
        assert [event.event.body for event in later] == [
            event.body for event in copy_of(game, viewer, is_withheld=False)
        ]


def told_of(bodies: Sequence[Body], viewer: Viewer) -> list[FeedEvent]:
    """All that a feed tells of a game."""
    store = MemoryStore()
    app = App(store, Settings("", queries_max=0))
    try:
        store.append(batches_of(entries_of(bodies, "game", Random(1))))
        asked = FeedFilter("game", viewer=viewer, is_withheld=True)
        telling = Telling(Games(store, app.positions), asked)
        return [event for stored in store.read_game("game") if (event := telling.event(stored)) is not None]
    finally:
        app.close()


@EACH_GAME
@settings(max_examples=10)
@given(data=st.data())
def test_two_games_that_look_the_same_are_told_the_same(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules, events_max=150))
    random = Random(data.draw(st.integers(0, 2**32)))
    deals = [place for place, body in enumerate(game.bodies) if isinstance(body, DEALS)]
    if not deals:
        return
    start = random.choice(deals)
    twin = with_cards_exchanged(game.bodies, start, random)
    fold = fold_of_beginning(twin, at_least=start)
    for viewer in viewers(game.fold) if fold else ():
        assert fold is not None
        last = start - 1
        for place in range(start, fold.sequence + 1):
            if view_of(fold.rules, game.fold.states[place], viewer) != view_of(fold.rules, fold.states[place], viewer):
                break
            last = place
        if last < start:
            continue
        both = [told_of(bodies[: last + 1], viewer) for bodies in (game.bodies, twin)]
        for one, other in zip(*both, strict=True):
            assert (one.standing, one.followed, one.words) == (other.standing, other.followed, other.words)
            shown = [[values_of(part) for _, part in sealable_parts(event.event.body)] for event in (one, other)]
            assert shown[0] == shown[1]


def test_an_arbiter_is_told_every_card(played: Service) -> None:
    for event in events_in(until_caught_up(played.client().subscribe(FeedFilter(viewer=ARBITER)))):
        assert not any(is_redacted(part) for _, part in sealable_parts(event.event.body))
