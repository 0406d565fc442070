"""What the table does by chance: the draw for the first dealer, and the deal."""

from heptalog.replay.draws import draw_lots, shuffled
from heptalog.replay.events import Body, CardHand, CardsDealt, DealerDrawn
from heptalog.replay.rules import Choose
from heptalog.replay.seven_bridge.state import Phase, State
from heptalog.replay.seven_bridge.tables import NEXT_SEAT


def deal(state: State, choose: Choose) -> Body:
    """Draw the dealer or deal the cards, whichever the table owes; `choose(n)` gives a number from 0 to n - 1."""
    if state.phase is Phase.DRAW:
        return DealerDrawn(*draw_lots(len(state.hands), choose))  # SB-R2; the king is highest (SB-D2)
    assert state.phase is Phase.DEAL, "the table does nothing while a seat may act"
    hands: list[list[str]] = [[] for _ in state.hands]
    seat = state.dealer
    for card in shuffled(state.terms.deck, choose):
        hands[seat].append(card)  # SB-D1: one by one, the dealer first
        seat = NEXT_SEAT[state.seats][seat]
    return CardsDealt(tuple(CardHand(tuple(hand)) for hand in hands))
