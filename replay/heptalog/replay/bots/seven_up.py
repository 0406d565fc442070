"""Bots for Seven Up. The greedy one plays for High, Low, Jack and Game: it sits on long trumps and saves its jack."""

from typing import Final

from heptalog.replay.cards import names_in
from heptalog.replay.draws import shuffled
from heptalog.replay.events import Body, CardPlayed
from heptalog.replay.rules import Choose
from heptalog.replay.seven_up.events import CardsDiscarded, Decision, TrumpDecided
from heptalog.replay.seven_up.scoring import pips_of, winning_card
from heptalog.replay.seven_up.state import Phase, State, elder_of, playable, side_of
from heptalog.replay.seven_up.tables import DECK, HAND_SIZE, JACKS, NAME_OF, PIPS, SUIT_OF

# What a trump is worth when the suit is decided on: High and Low are points, and so is a jack brought home.
_TRUMP_WORTH: Final = 2
_HONOUR_WORTH: Final = {"A": 3, "K": 2, "J": 2, "Q": 1, "2": 2, "3": 1}
_STANDS_AT: Final = 7
_GIVES_AT: Final = 9  # to keep the suit costs the dealer a point
# The jack of trump is a point by itself, beside its pips.
_JACK_WORTH: Final = 10
_WORTH_WINNING: Final = 4


def greedy(state: State, seat: int, choose: Choose) -> Body:
    """A sensible move, for what the seat holds and what lies on the table."""
    if state.phase is Phase.PLAY:
        return CardPlayed(seat, NAME_OF[_card(state, seat, choose)])
    if state.phase is Phase.DISCARD:
        by_worth = sorted(names_in(state.hands[seat], DECK), key=lambda name: _kept_for(state, name), reverse=True)
        return CardsDiscarded(seat, tuple(by_worth[HAND_SIZE:]))
    worth = _trump_worth(state, seat)
    if state.phase is Phase.STAND_OR_BEG:
        return TrumpDecided(seat, Decision.STAND if worth >= _STANDS_AT else Decision.BEG)
    gift_wins = state.scores[side_of(state, elder_of(state))] + 1 >= state.target
    return TrumpDecided(seat, Decision.GIVE if worth >= _GIVES_AT and not gift_wins else Decision.RUN)


def by_chance(state: State, seat: int, choose: Choose) -> Body:
    """Any legal move."""
    if state.phase is Phase.PLAY:
        cards = names_in(playable(state, seat), DECK)
        return CardPlayed(seat, cards[choose(len(cards))])
    if state.phase is Phase.DISCARD:
        return CardsDiscarded(seat, tuple(shuffled(names_in(state.hands[seat], DECK), choose)[HAND_SIZE:]))
    words = (Decision.STAND, Decision.BEG) if state.phase is Phase.STAND_OR_BEG else (Decision.GIVE, Decision.RUN)
    return TrumpDecided(seat, words[choose(2)])


def _trump_worth(state: State, seat: int) -> int:
    """What a hand is worth if the suit in question becomes trump."""
    trumps = state.hands[seat] & SUIT_OF[state.turned[-1]]
    honours = sum(_HONOUR_WORTH.get(name[0], 0) for name in names_in(trumps, DECK))
    return _TRUMP_WORTH * trumps.bit_count() + honours


def _kept_for(state: State, name: str) -> tuple[bool, int, int]:
    """Trumps stay, then what counts for Game, then what is high."""
    place = DECK.index(name)
    return (bool(1 << place & state.trump), PIPS.get(name[0], 0), place % 13)


def _card(state: State, seat: int, choose: Choose) -> int:
    cards = _bits(playable(state, seat))
    if len(cards) == 1:
        return cards[0]
    if not state.trick:
        return _lead(state, cards, choose)
    return _answer(state, seat, cards)


def _lead(state: State, cards: list[int], choose: Choose) -> int:
    """The highest trump while that is likely to fetch something, an ace, or what is lost without regret."""
    jack = state.trump & JACKS
    trumps = [card for card in cards if card & state.trump]
    if trumps and trumps[-1] > jack and (len(trumps) > 1 or len(cards) > 3):
        return trumps[-1]
    plain = [card for card in cards if not card & state.trump]
    aces = [card for card in plain if NAME_OF[card][0] == "A"]
    if aces:
        return aces[choose(len(aces))]
    return min(plain, key=lambda card: (_worth(state, card), _rank(card))) if plain else trumps[0]


def _answer(state: State, seat: int, cards: list[int]) -> int:
    """Win what is worth it, as cheaply as that is sure; bring points to the partner; else give as little as may be."""
    trick = state.trick
    best = winning_card(trick, state.trump)
    leading = (state.leader + trick.index(best)) % state.seat_count
    is_ours = side_of(state, leading) == side_of(state, seat)
    is_last = len(trick) == state.seat_count - 1
    winning = [card for card in cards if winning_card((*trick, card), state.trump) == card]
    at_stake = sum(_worth(state, card) for card in trick)
    if is_ours and (is_last or NAME_OF[best][0] == "A"):
        # The trick is the partner's, so what counts goes with it.
        losing = [card for card in cards if card not in winning] or cards
        return max(losing, key=lambda card: (_worth(state, card), -_is_trump(state, card)))
    if winning and not is_ours:
        if is_last:
            # What wins here comes home: the jack of trump most of all.
            dear = max(winning, key=lambda card: _worth(state, card))
            if _worth(state, dear) >= _JACK_WORTH:
                return dear
            if at_stake or not _is_trump(state, winning[0]):
                return max(winning, key=lambda card: (-_is_trump(state, card), _worth(state, card)))
        elif at_stake >= _WORTH_WINNING or not _is_trump(state, winning[-1]):
            safe = [card for card in winning if not card & state.trump & JACKS] or winning
            return max(safe, key=_rank) if not _is_trump(state, safe[0]) else min(safe, key=_rank)
    losing = [card for card in cards if card not in winning] or cards
    return min(losing, key=lambda card: (_worth(state, card) + 2 * _is_trump(state, card), _rank(card)))


def _worth(state: State, card: int) -> int:
    """What a card brings to who takes it."""
    return pips_of(card) + (_JACK_WORTH if card & state.trump & JACKS else 0)


def _is_trump(state: State, card: int) -> bool:
    return card & state.trump != 0


def _rank(card: int) -> int:
    return (card.bit_length() - 1) % 13


def _bits(cards: int) -> list[int]:
    """The cards of a set, ascending within each suit."""
    found = []
    while cards:
        low = cards & -cards
        found.append(low)
        cards ^= low
    return found
