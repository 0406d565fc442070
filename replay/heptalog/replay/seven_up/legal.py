"""All moves of the seats that may act now; players' moves only, not the table's and not the arbiter's."""

from collections.abc import Iterator
from itertools import combinations

from heptalog.replay.cards import names_in
from heptalog.replay.events import Body, CardPlayed
from heptalog.replay.seven_up.events import CardsDiscarded, Decision, TrumpDecided
from heptalog.replay.seven_up.state import Phase, State, playable
from heptalog.replay.seven_up.tables import DECK, HAND_SIZE


def legal(state: State) -> Iterator[Body]:
    """Every move that check would accept from a player, lazily: discards can be tens of thousands (SU-D18)."""
    for seat in state.to_act:
        if state.phase is Phase.STAND_OR_BEG:
            yield TrumpDecided(seat, Decision.STAND)
            yield TrumpDecided(seat, Decision.BEG)
        elif state.phase is Phase.GIVE_OR_RUN:
            yield TrumpDecided(seat, Decision.GIVE)
            yield TrumpDecided(seat, Decision.RUN)
        elif state.phase is Phase.DISCARD:
            hand = names_in(state.hands[seat], DECK)
            for cards in combinations(hand, len(hand) - HAND_SIZE):
                yield CardsDiscarded(seat, cards)
        else:
            for card in names_in(playable(state, seat), DECK):
                yield CardPlayed(seat, card)
