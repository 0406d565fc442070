"""Laws of cards and tiles: at every step each one there is lies in exactly one place."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heptalog.replay.events import Body, CardPlayed, CardsDealt, MovesRetracted
from heptalog.replay.fold import Closed
from heptalog.replay.rules import ARBITER, AnyRules
from heptalog.replay.seven_bridge.tables import JOKER_BITS
from heptalog.replay.seven_rocks.events import TilePlayed, TilesDealt
from heptalog.replay.seven_up.events import CardsDiscarded, CardsRun
from heptalog.replay.seven_up.tables import WHOLE_DECK
from tests.support.play import EACH_GAME, Game, games
from tests.support.seven_rocks_positions import ALL_TILES


def _seven_rocks(state: Any) -> None:
    if state.round:
        _partition(state.dealt, ALL_TILES)
        assert state.laid.bit_count() == len(state.line)


def _seven_up(state: Any) -> None:
    piles = (*state.hands, *state.discards, *state.captured, *state.trick, *state.turned)
    _partition((*piles, WHOLE_DECK & ~state.dealt), WHOLE_DECK)


def _seven_bridge(state: Any) -> None:
    if not state.round:
        return
    jokers_laid = JOKER_BITS & ~(sum(state.hands) | state.exposed) if state.terms.jokers else 0
    assert jokers_laid.bit_count() == sum(place != 0 for place in state.joker_places)
    laid = state.filled & ~state.stand_ins
    _partition((*state.hands, state.exposed, laid, jokers_laid), state.terms.deck_mask)
    assert not state.border & state.filled
    assert not state.stand_ins & ~state.filled


def _partition(piles: Iterable[int], whole: int) -> None:
    total = 0
    for pile in piles:
        assert not total & pile, "in two places"
        total |= pile
    assert total == whole, "in no place"


CONSERVED: Final[dict[str, Callable[[Any], None]]] = {
    "seven_rocks": _seven_rocks,
    "seven_up": _seven_up,
    "seven_bridge": _seven_bridge,
}


@EACH_GAME
@settings(max_examples=80)
@given(data=st.data())
def test_nothing_is_lost_and_nothing_is_there_twice(rules: AnyRules, data: st.DataObject) -> None:
    if rules.key not in CONSERVED:
        pytest.skip("what is conserved in this game has not been said")
    game: Game = data.draw(games(rules))
    for state in game.fold.states:
        CONSERVED[rules.key](state.state if isinstance(state, Closed) else state)


@EACH_GAME
@settings(max_examples=80)
@given(data=st.data())
def test_hands_are_what_was_dealt_without_what_was_laid(rules: AnyRules, data: st.DataObject) -> None:
    if rules.key not in CONSERVED:
        pytest.skip("what is conserved in this game has not been said")
    game: Game = data.draw(games(rules))
    left: list[frozenset[str]] = []
    for body, state in zip(game.bodies, game.fold.states, strict=True):
        left.append(left[body.to_sequence] if isinstance(body, MovesRetracted) else _left_after(left, body))
        if not state.to_act:
            continue
        view: Any = rules.view(state, ARBITER)
        held = [card for hand in view.hands for card in hand]
        if rules.key == "seven_bridge":
            held += view.table.exposed
        assert len(held) == len(set(held))
        assert set(held) == left[-1]


def _left_after(left: list[frozenset[str]], body: Body) -> frozenset[str]:
    """What lies in hands after an event, known from the events alone."""
    before = left[-1] if left else frozenset()
    match body:
        case CardsDealt(hands=hands):
            return frozenset(card for hand in hands for card in hand.cards)
        case TilesDealt(hands=tile_hands):
            return frozenset(max(tile, tile[::-1]) for hand in tile_hands for tile in hand.tiles)
        case CardsRun(elder=elder, dealer=dealer):
            return before | {*elder.cards, *dealer.cards}
        case CardsDiscarded(cards=cards):
            return before - set(cards)
        case CardPlayed(card=card):
            return before - {card}
        case TilePlayed(tile=tile):
            return before - {max(tile, tile[::-1])}
        case _:
            return before
