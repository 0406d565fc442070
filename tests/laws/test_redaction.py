"""Laws of copies for one viewer: they hold what the viewer has seen and not a card more, and the chain holds."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from heptalog.replay.errors import Code, Redacted, Refused
from heptalog.replay.events import UNSET, Body, CardsDealt, Event, MovesRetracted
from heptalog.replay.evidence.seals import is_redacted, map_parts, sealable_parts, values_of
from heptalog.replay.fold import Closed, Fold, fold_all, view_of
from heptalog.replay.outcomes import RoundEnded, RoundEndedBy
from heptalog.replay.redaction import redacted_for
from heptalog.replay.registry import GAMES, REGISTRY
from heptalog.replay.rules import ARBITER, PUBLIC, AnyRules, Role, Viewer
from heptalog.replay.seven_rocks.events import SevenRocks, TilesDealt
from heptalog.replay.seven_up.events import CardsDiscarded
from heptalog.replay.verify import verify
from tests.support.evidence import lines_of, recorded
from tests.support.play import EACH_GAME, Game, games, play

# What in a view is no card of anybody: places of the table that are named like cards.
PLACES: Final = frozenset({"border", "layout", "jokers", "line"})
CUTS: Final = 3
DEALS: Final = (CardsDealt, TilesDealt)


def viewers(fold: Fold) -> tuple[Viewer, ...]:
    """Everybody who may not see all."""
    return (PUBLIC, *(Viewer(seat) for seat in range(len(fold.started.players))))


def events_of(bodies: Sequence[Body]) -> list[Event]:
    """The record of these bodies."""
    return [event for event, _ in recorded(bodies)]


def copy_of(bodies: Sequence[Body], viewer: Viewer, *, is_withheld: bool = False) -> list[Event]:
    """The record of these bodies as a viewer may have it."""
    return list(redacted_for(events_of(bodies), fold_all(bodies), viewer, is_withheld=is_withheld))


def standing(bodies: Sequence[Body]) -> list[int]:
    """The sequences that led to where the game stands, found by following it backwards."""
    kept = []
    place = len(bodies) - 1
    while place >= 0:
        body = bodies[place]
        if isinstance(body, MovesRetracted):
            place = body.to_sequence
        else:
            kept.append(place)
            place -= 1
    return kept[::-1]


@EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_a_copy_holds_no_card_that_its_viewer_never_saw(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    line = standing(game.bodies)
    for viewer in viewers(game.fold):
        if game.fold.state.over and data.draw(st.booleans()):
            assert copy_of(game.bodies, viewer) == events_of(game.bodies)
            continue
        for event in copy_of(game.bodies, viewer, is_withheld=True):
            given_values = {card for _, part in sealable_parts(event.body) for card in values_of(part)}
            if not given_values:
                continue
            assert event.sequence in line, "what was taken back, nobody has seen"
            round_ = inner(game.fold.states[event.sequence - 1]).round + isinstance(event.body, DEALS)
            assert given_values <= seen_in(game, line, round_, viewer), (viewer, event.sequence)


def seen_in(game: Game, line: Sequence[int], round_: int, viewer: Viewer) -> set[str]:
    """Every card that a viewer has seen in a round: in its views, and as they were played."""
    seen: set[str] = set()
    for place in line:
        body, state = game.bodies[place], inner(game.fold.states[place])
        is_of_round = place and inner(game.fold.states[place - 1]).round == round_
        if is_of_round:
            seen |= {name for name in (getattr(body, "card", ""), getattr(body, "tile", "")) if name}
        if is_of_round or state.round == round_:
            seen |= set(cards_in(msgspec.to_builtins(view_of(game.fold.rules, state, viewer))))
    # A tile has two ways to be written.
    return seen | {name[::-1] for name in seen if "-" in name}


def cards_in(tree: Any) -> Iterator[str]:
    """Every name of a card in a view."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for name, value in tree.items():
            if name not in PLACES:
                yield from cards_in(value)
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from cards_in(value)


def inner(state: Any) -> Any:
    """The state below the arbiter's closing."""
    return state.state if isinstance(state, Closed) else state


@EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_two_games_that_look_the_same_give_the_same_copies(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules, events_max=250))
    random = Random(data.draw(st.integers(0, 2**32)))
    deals = [place for place, body in enumerate(game.bodies) if isinstance(body, DEALS)]
    if not deals:
        return
    start = random.choice(deals)
    for _ in range(3):
        twin = with_cards_exchanged(game.bodies, start, random)
        fold = fold_of_beginning(twin, at_least=start)
        for viewer in viewers(game.fold) if fold else ():
            compare(game, twin, fold, start, viewer, random)


def with_cards_exchanged(bodies: Sequence[Body], start: int, random: Random) -> list[Body]:
    """Another game: two cards change places wherever they are hidden in one round."""
    end = next((place for place in range(start + 1, len(bodies)) if isinstance(bodies[place], DEALS)), len(bodies))
    parts = [values_of(part) for body in bodies[start:end] for _, part in sealable_parts(body) if values_of(part)]
    # Of two parts: within one only the order would change, which is its owner's to see.
    one_part, other_part = random.sample(parts, 2)
    one, other = random.choice(one_part), random.choice(other_part)
    if any({one, other} <= set(part) for part in parts):
        return list(bodies)
    names = {one: other, other: one}

    def renamed(part: Any) -> Any:
        values = tuple(names.get(card, card) for card in values_of(part))
        return replace(part, **{part.value_field: values})

    return [
        map_parts(body, renamed) if start <= place < end and body.sealed else body for place, body in enumerate(bodies)
    ]


def fold_of_beginning(bodies: Sequence[Body], *, at_least: int) -> Fold | None:
    """The game as far as it goes; nothing where that is not beyond the change."""
    fold = Fold(bodies[0])
    try:
        for body in bodies[1:]:
            fold.advance(body)
    except Refused:
        pass
    return fold if fold.sequence >= at_least else None


def compare(game: Game, twin: Sequence[Body], fold: Fold | None, start: int, viewer: Viewer, random: Random) -> None:
    """While a viewer sees no difference, its copies are the same bytes."""
    assert fold is not None
    last = start - 1
    for place in range(start, fold.sequence + 1):
        views = [view_of(fold.rules, states[place], viewer) for states in (game.fold.states, fold.states)]
        if views[0] != views[1]:
            break
        last = place
    for cut in {last, *(random.randint(start, last) for _ in range(CUTS if last >= start else 0))}:
        if cut < start:
            continue
        events = events_of(game.bodies[: cut + 1])
        # Salts are drawn by lot, so that a commitment tells nothing; here it is the same for both, and so the chain.
        others = [
            replace(event, body=with_seals_of(event.body, body))
            for event, body in zip(events, twin[: cut + 1], strict=True)
        ]
        copies = [
            lines_of(redacted_for(record, fold_all(event.body for event in record), viewer, is_withheld=True))
            for record in (events, others)
        ]
        assert copies[0] == copies[1], (viewer, cut)


def with_seals_of(body: Body, other: Body) -> Body:
    """The other body under the seals of this one."""
    seals = iter([part.seal for _, part in sealable_parts(body)])
    return map_parts(other, lambda part: replace(part, seal=next(seals))) if body.sealed else other


@EACH_GAME
@settings(max_examples=20)
@given(data=st.data())
def test_a_copy_has_the_chain_of_the_record_and_every_seal_in_it_holds(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    events = events_of(game.bodies)
    for viewer in (*viewers(game.fold), ARBITER):
        for is_withheld in (False, True):
            copy = copy_of(game.bodies, viewer, is_withheld=is_withheld)
            assert [event.hash for event in copy] == [event.hash for event in events]
            report = verify((event, None) for event in copy)
            assert report.error is None or isinstance(report.error, Redacted)
            for event, whole in zip(copy, events, strict=True):
                for (_, part), (_, original) in zip(
                    sealable_parts(event.body), sealable_parts(whole.body), strict=True
                ):
                    # Whole with its salt, or left out with it.
                    assert part == original or (is_redacted(part) and not part.seal.salt)


@EACH_GAME
@settings(max_examples=20)
@given(data=st.data())
def test_the_arbiter_has_all_and_a_stranger_nothing(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules))
    assert copy_of(game.bodies, ARBITER, is_withheld=True) == events_of(game.bodies)
    for seat in (len(game.fold.started.players), -1, 2**31):
        with pytest.raises(Refused) as refused:
            copy_of(game.bodies, Viewer(seat))
        assert refused.value.code is Code.SEAT_UNKNOWN
    assert Viewer(role=Role.PUBLIC) == PUBLIC


@EACH_GAME
@settings(max_examples=40)
@given(data=st.data())
def test_what_the_rules_have_shown_everybody_is_in_every_copy(rules: AnyRules, data: st.DataObject) -> None:
    game: Game = data.draw(games(rules, with_rulings=False))
    copy = copy_of(game.bodies, PUBLIC, is_withheld=True)
    deal = -1
    for place, (body, outcomes) in enumerate(zip(game.bodies, game.outcomes, strict=True)):
        if isinstance(body, DEALS):
            deal = place
        ended = next((outcome for outcome in outcomes if isinstance(outcome, RoundEnded)), None)
        if ended is None or ended.by is RoundEndedBy.VOID:
            continue
        of_round = game.bodies[deal : place + 1]
        discarded = {body.seat for body in of_round if isinstance(body, CardsDiscarded)}
        for seat, (_, part) in enumerate(sealable_parts(copy[deal].body)):
            assert is_redacted(part) == (seat in discarded), (deal, seat)
        for event in copy[deal + 1 : place + 1]:
            # Cards run, and discards, are nobody else's until the game is over.
            assert all(is_redacted(part) for _, part in sealable_parts(event.body))


def test_SB_R13_a_ghost_has_shown_its_hand_in_the_middle_of_a_round() -> None:
    bodies, shown = with_a_ghost()
    deal = max(place for place, body in enumerate(bodies) if isinstance(body, CardsDealt))
    parts = [part for _, part in sealable_parts(copy_of(bodies, PUBLIC)[deal].body)]
    assert any(shown)
    assert [not is_redacted(part) for part in parts] == [cards != 0 for cards in shown]


def with_a_ghost() -> tuple[list[Body], tuple[int, ...]]:
    """The beginning of a game of Seven Bridge up to its first ghost, and what everybody has shown then."""
    for seed in range(50):
        game = play(REGISTRY["seven_bridge", 1], seed, with_rulings=False)
        for place, state in enumerate(game.fold.states):
            if state.to_act and any(inner(state).shown) and not inner(state).is_deciding:
                return game.bodies[: place + 1], inner(state).shown
    raise AssertionError("some game has a ghost")


def test_SR_R28_a_hand_that_won_with_its_last_tile_was_seen_and_the_others_were_not() -> None:
    game = play(REGISTRY["seven_rocks", 1], 13, with_rulings=False, options=SevenRocks(target=60))
    state = inner(game.fold.state)
    hands = [state.dealt[seat] & ~state.laid for seat in range(4)]
    assert (state.over, hands.count(0)) == (True, 1), "it was won by a hand's last tile"
    deal = max(place for place, body in enumerate(game.bodies) if isinstance(body, TilesDealt))
    parts = [part for _, part in sealable_parts(copy_of(game.bodies, PUBLIC, is_withheld=True)[deal].body)]
    assert [is_redacted(part) for part in parts] == [held != 0 for held in hands]


def test_SU_R12_who_may_not_look_at_its_own_hand_does_not_get_it() -> None:
    up = REGISTRY["seven_up", 1]
    game = play(up, 3, with_rulings=False, seat_count=4)
    deal = next(place for place, body in enumerate(game.bodies) if isinstance(body, CardsDealt))
    dealer = inner(game.fold.states[deal]).dealer
    for seat in range(4):
        parts = [part for _, part in sealable_parts(copy_of(game.bodies[: deal + 1], Viewer(seat))[deal].body)]
        may_look = seat in (dealer, (dealer + 1) % 4)
        assert [not is_redacted(part) for part in parts] == [may_look and owner == seat for owner in range(4)]
    fixed = next(place for place, state in enumerate(game.fold.states) if inner(state).trump)
    for seat in range(4):
        parts = [part for _, part in sealable_parts(copy_of(game.bodies[: fixed + 1], Viewer(seat))[deal].body)]
        assert [not is_redacted(part) for part in parts] == [owner == seat for owner in range(4)]


@EACH_GAME
def test_a_hand_that_was_taken_back_is_nobodys_until_the_end(rules: AnyRules) -> None:
    game = play(rules, 5, with_rulings=False)
    deal = next(place for place, body in enumerate(game.bodies) if isinstance(body, DEALS))
    bodies = [*game.bodies[: deal + 1], MovesRetracted(deal - 1)]
    for viewer in viewers(game.fold):
        parts = [part for _, part in sealable_parts(copy_of(bodies, viewer)[deal].body)]
        assert all(is_redacted(part) for part in parts if part.seal is not UNSET)
    again = [*bodies, MovesRetracted(deal)]
    # A takeback of the takeback brings the deal back.
    assert not all(is_redacted(part) for _, part in sealable_parts(copy_of(again, Viewer(0))[deal].body)) or (
        rules.key == "seven_up"
    )


def test_what_has_no_seal_cannot_be_left_out() -> None:
    for rules in GAMES:
        bodies = play(rules, 1, events_max=6, with_rulings=False).bodies
        events = [event for event, _ in recorded(bodies, is_sealed=False)]
        assert list(redacted_for(events, fold_all(bodies), ARBITER)) == events
        with pytest.raises(Refused) as refused:
            list(redacted_for(events, fold_all(bodies), PUBLIC))
        deal = next(place for place, body in enumerate(bodies) if isinstance(body, DEALS))
        assert (refused.value.code, refused.value.facts["sequence"]) == (Code.SEAL_MISSING, deal)
