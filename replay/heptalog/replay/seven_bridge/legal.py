"""All moves that the seat on turn has now."""

from collections.abc import Iterator

from heptalog.replay.cards import names_in
from heptalog.replay.events import Body, CardPlayed, TurnPassed
from heptalog.replay.seven_bridge.state import NOBODY, Phase, State
from heptalog.replay.seven_bridge.tables import DECK, JOKER_BITS


def legal(state: State) -> Iterator[Body]:
    """Plays in the order of the deck, then jokers by the place they fill, then the pass where it is allowed."""
    seat = state.turn
    if seat == NOBODY:
        return
    cards = state.hands[seat] | state.exposed
    plays = cards & (state.border | state.stand_ins)
    for card in names_in(plays, DECK):
        yield CardPlayed(seat, card)
    if state.phase is Phase.OPEN:
        return  # SB-D5, SB-D20b: neither a pass nor a joker before the opening seven lies
    jokers = cards & JOKER_BITS if state.border else 0
    for joker in names_in(jokers, DECK):
        for place in names_in(state.border, DECK):
            yield CardPlayed(seat, joker, place)
    if state.tokens[seat] or not plays | jokers:
        yield TurnPassed(seat)  # SB-D4, SB-D6
