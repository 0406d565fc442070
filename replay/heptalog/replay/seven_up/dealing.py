"""What the table does where no seat may act. Chance comes from outside; the event then holds what came of it."""

from collections.abc import Sequence

from heptalog.replay.cards import names_in
from heptalog.replay.draws import draw_lots, shuffled
from heptalog.replay.events import Body, CardHand, CardsDealt, DealerDrawn
from heptalog.replay.rules import Choose
from heptalog.replay.seven_up.events import CardsRun
from heptalog.replay.seven_up.state import Phase, State, elder_of
from heptalog.replay.seven_up.tables import DECK, HAND_SIZE, PACKET_SIZE, WHOLE_DECK


def deal(state: State, choose: Choose) -> Body:
    """Draw for the first dealer, deal or run cards, as the table must now (SU-R3, SU-R5, SU-R10)."""
    if state.phase is Phase.DRAW:
        return DealerDrawn(*draw_lots(state.seat_count, choose))
    if state.phase is Phase.DEAL:
        return cards_dealt(shuffled(DECK, choose), seat_count=state.seat_count, elder=elder_of(state))
    assert state.phase is Phase.RUN, "the table acts only where no seat may and the match is not won"
    return cards_run(shuffled(names_in(WHOLE_DECK & ~state.dealt, DECK), choose))


def cards_dealt(deck: Sequence[str], *, seat_count: int, elder: int) -> CardsDealt:
    """Deal from the top: three to each from elder hand on, twice; the next card is turned (SU-D4)."""
    hands: list[CardHand] = []
    for seat in range(seat_count):
        first = (seat - elder) % seat_count * PACKET_SIZE
        second = first + seat_count * PACKET_SIZE
        hands.append(CardHand((*deck[first : first + PACKET_SIZE], *deck[second : second + PACKET_SIZE])))
    return CardsDealt(tuple(hands), deck[HAND_SIZE * seat_count])


def cards_run(stock: Sequence[str]) -> CardsRun:
    """Run from the top: three to elder hand, three to the dealer, the next card turned (SU-D6)."""
    elder, dealer = stock[:PACKET_SIZE], stock[PACKET_SIZE : 2 * PACKET_SIZE]
    return CardsRun(CardHand(tuple(elder)), CardHand(tuple(dealer)), stock[2 * PACKET_SIZE])
