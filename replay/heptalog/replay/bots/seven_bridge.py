"""Bots for Seven Bridge. The greedy one opens ways for its own cards and passes to keep those of others shut."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from heptalog.replay.cards import RANKS, names_in
from heptalog.replay.events import Body, CardPlayed, TurnPassed
from heptalog.replay.rules import Choose
from heptalog.replay.seven_bridge.state import Phase, State
from heptalog.replay.seven_bridge.tables import BITS, COLUMNS, DECK, JOKER_BITS, NATURALS, OPENS, SEVENS

# Beside the penalties of the cards that a place sets free: what one's own count more than others', what it costs to
# open a place for somebody else at once, and what to lay a ghost's card, which leaves the own hand as it is.
_OWN: Final = 4
_OPENING_COST: Final = 12
_TURN_COST: Final = 16


def greedy(state: State, seat: int, choose: Choose) -> Body:
    """The card that helps the own hand most and others least; where each one hurts, a pass while there is one."""
    hand = state.hands[seat]
    best = 0
    cards: list[str] = []
    for card in names_in((hand | state.exposed) & (state.border | state.stand_ins), DECK):
        bit = BITS[card]
        worth = 0 if bit & state.stand_ins else _worth(hand, bit)
        if not bit & hand:
            worth -= _TURN_COST
        if not cards or worth > best:
            best, cards = worth, []
        if worth == best:
            cards.append(card)
    is_open = state.phase is Phase.OPEN
    if cards and (best >= 0 or is_open or not state.tokens[seat]):
        return CardPlayed(seat, cards[choose(len(cards))])
    jokers = names_in((hand | state.exposed) & JOKER_BITS, DECK) if state.border and not is_open else ()
    if not jokers or (cards and state.tokens[seat]):
        return TurnPassed(seat)
    place = max(names_in(state.border, DECK), key=lambda name: _worth(hand, BITS[name]))
    return CardPlayed(seat, jokers[0], place)


def by_chance(state: State, seat: int, choose: Choose) -> Body:
    """Any legal move."""
    cards = state.hands[seat] | state.exposed
    plays = names_in(cards & (state.border | state.stand_ins), DECK)
    is_open = state.phase is Phase.OPEN
    jokers = names_in(cards & JOKER_BITS, DECK) if state.border and not is_open else ()
    places = names_in(state.border, DECK) if jokers else ()
    has_pass = not is_open and (state.tokens[seat] > 0 or not (plays or jokers))
    number = choose(len(plays) + len(jokers) * len(places) + has_pass)
    if number < len(plays):
        return CardPlayed(seat, plays[number])
    number -= len(plays)
    if number < len(jokers) * len(places):
        return CardPlayed(seat, jokers[number // len(places)], places[number % len(places)])
    return TurnPassed(seat)


def _worth(hand: int, place: int) -> int:
    """What it brings that this place is filled: own cards that come nearer, less what it opens for others."""
    outward = _OUTWARD[place]
    own = _cost(outward & hand)
    return _OWN * own - (_OUTWARD_COST[place] - own) - _OPENING_COST * (OPENS[place] & ~hand).bit_count()


def _cost(cards: int) -> int:
    """What natural cards left in a hand cost (SB-R17)."""
    total = 0
    while cards:
        highest = cards.bit_length() - 1
        total += highest % len(RANKS) + 1
        cards ^= 1 << highest
    return total


def _outward(place: int) -> int:
    column = next(column for column in COLUMNS.values() if column & place)
    below = column & (place - 1)
    if place & SEVENS:
        return column ^ place
    above = column ^ place ^ below
    return below if below & SEVENS == 0 else above


# The places that can only be filled after this one, and what all their cards cost.
_OUTWARD: Final[Mapping[int, int]] = MappingProxyType({BITS[card]: _outward(BITS[card]) for card in NATURALS})
_OUTWARD_COST: Final[Mapping[int, int]] = MappingProxyType({place: _cost(cards) for place, cards in _OUTWARD.items()})
