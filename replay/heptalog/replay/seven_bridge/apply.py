"""What an event does to the state and what follows, where `check` lets it through: each kind of event asks it first."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from heptalog.replay.cards import JOKERS, names_in
from heptalog.replay.events import Body, CardPlayed, CardsDealt, DealerDrawn, TurnPassed
from heptalog.replay.outcomes import Outcome, RoundEndedBy
from heptalog.replay.seven_bridge.check import check_dealer_drawn, check_turn_passed, checked_card, checked_deal
from heptalog.replay.seven_bridge.outcomes import (
    ColumnCompleted,
    ColumnOpened,
    ExposedCardPlayed,
    GhostMade,
    JokerCovered,
    RoundOpened,
    TokenSpent,
    TurnWaited,
)
from heptalog.replay.seven_bridge.scoring import end_round, penalty_of
from heptalog.replay.seven_bridge.state import Phase, State, seats_in
from heptalog.replay.seven_bridge.tables import (
    ALL_PLACES,
    BITS,
    COLUMN_MARKS,
    COLUMNS,
    DECK,
    JOKER_BITS,
    NEXT_SEAT,
    OPENS,
    SEVENS,
)

Outcomes: TypeAlias = tuple[Outcome, ...]
Applied: TypeAlias = tuple[State, Outcomes]


# Looked up once: asking an enum for a member costs as much as replacing three fields of a state.
_OPEN: Final = Phase.OPEN
_PLAY: Final = Phase.PLAY


def apply(state: State, body: Body) -> Applied:
    """The next state and what follows. Raises Refused, as check does, unless this may happen now."""
    return STEPS[type(body)](state, body)


def _apply_card_played(state: State, body: CardPlayed) -> Applied:
    """One card of the mover, or one that a ghost exposed, goes to its place (SB-R9, SB-D9)."""
    bit = checked_card(state, body)
    seat = body.seat
    hand = state.hands[seat]
    hands, exposed = state.hands, state.exposed
    turn = NEXT_SEAT[state.active][seat]
    outcomes: Outcomes = ()
    if hand & bit:
        hand ^= bit
        hands = _with(hands, seat, hand)
    else:
        exposed ^= bit
        outcomes = (ExposedCardPlayed(seat, body.card, _owner_of(state, bit)),)
    if bit & state.stand_ins:
        state = replace(state, hands=hands, exposed=exposed, stand_ins=state.stand_ins ^ bit, turn=turn)
        outcomes += (JokerCovered(seat, body.card),)
    else:
        if bit & JOKER_BITS:
            bit = BITS[body.stands_for]
            state = _with_joker(state, body.card, bit)
        state = replace(
            state,
            phase=_PLAY,
            hands=hands,
            exposed=exposed,
            filled=state.filled | bit,
            border=_border_after(state, bit),
            turn=turn,
        )
        if bit & COLUMN_MARKS:
            state, column = _mark_column(state, seat, bit)
            outcomes += column
    if not hand:
        state, ending = end_round(state, by=RoundEndedBy.EMPTY_HAND, seat=seat)
    elif state.filled == ALL_PLACES and not state.stand_ins:
        # SB-D20h: every real card lies in the layout, so a joker has nothing left to stand for.
        state, ending = end_round(state, by=RoundEndedBy.EXHAUSTED)
    else:
        return state, outcomes
    return state, outcomes + ending


def _border_after(state: State, place: int) -> int:
    """The border once this place is filled; every seven is in it from when the opening one lies (SB-R10)."""
    border = SEVENS if state.phase is _OPEN else state.border
    return border ^ place | OPENS[place]


def _with_joker(state: State, joker: str, place: int) -> State:
    """A joker lies for good on the place it stands for (SB-D20b, SB-D20c)."""
    first, second = state.joker_places
    places = (place, second) if joker == JOKERS[0] else (first, place)
    return replace(state, joker_places=places, stand_ins=state.stand_ins | place)


def _mark_column(state: State, seat: int, place: int) -> Applied:
    """A seven opens its column; the second end to be filled completes it, by joker or not (SB-D15, SB-D20i)."""
    suit = DECK[place.bit_length() - 1][1]
    if place & SEVENS:
        return state, (ColumnOpened(seat, suit),)
    if COLUMNS[suit] & ~state.filled:
        return state, ()
    columns = _with(state.columns, seat, state.columns[seat] + 1)
    return replace(state, columns=columns), (ColumnCompleted(seat, suit),)


def _apply_turn_passed(state: State, body: TurnPassed) -> Applied:
    """A token goes, or the player becomes a ghost, or waits (SB-R12, SB-R13, SB-R23)."""
    check_turn_passed(state, body)
    seat = body.seat
    left = state.tokens[seat] - 1
    if left >= 0:
        turn = NEXT_SEAT[state.active][seat]
        return replace(state, tokens=_with(state.tokens, seat, left), turn=turn), (TokenSpent(seat, left),)
    if state.terms.ghosts:
        return _make_ghost(state, seat)
    return replace(state, turn=NEXT_SEAT[state.active][seat]), (TurnWaited(seat),)


def _make_ghost(state: State, seat: int) -> Applied:
    """Expose the hand; what is shown stays as it is, so the penalty is frozen (SB-R13, SB-R14, SB-D11)."""
    cards = state.hands[seat]
    assert not cards & state.border, "who holds a card of the border can play (SB-I5)"
    active = state.active & ~(1 << seat)
    assert active, "one player can always play on (SB-D14)"
    ghost = GhostMade(seat, names_in(cards, DECK), penalty_of(cards, state.terms))
    return replace(
        state,
        hands=_with(state.hands, seat, 0),
        shown=_with(state.shown, seat, cards),
        exposed=state.exposed | cards,
        active=active,
        turn=NEXT_SEAT[active][seat],
    ), (ghost,)


def _apply_dealer_drawn(state: State, body: DealerDrawn) -> Applied:
    check_dealer_drawn(state, body)
    return replace(state, phase=Phase.DEAL, dealer=body.seat), ()


def _apply_cards_dealt(state: State, body: CardsDealt) -> Applied:
    """A round begins: full tokens, an empty layout, and the holder of the opening seven to act (SB-R6, SB-R7)."""
    hands = checked_deal(state, body)
    terms = state.terms
    nothing = (0,) * len(hands)
    opening = BITS[terms.opening_seven]
    opener = [hand & opening for hand in hands].index(opening)
    number = state.round + 1
    seats = seats_in(state.seats)
    return replace(
        state,
        phase=Phase.OPEN,
        round=number,
        active=state.seats,
        turn=opener,
        tokens=tuple([terms.pass_tokens if seat in seats else 0 for seat in range(len(hands))]),
        hands=hands,
        shown=nothing,
        exposed=0,
        filled=0,
        border=opening,
        stand_ins=0,
        joker_places=(0, 0),
        columns=nothing,
    ), (RoundOpened(number, state.dealer, opener, seats, state.is_deciding),)


def _owner_of(state: State, bit: int) -> int:
    """The ghost who exposed this card."""
    return next(seat for seat, cards in enumerate(state.shown) if cards & bit)


def _with(values: tuple[int, ...], seat: int, value: int) -> tuple[int, ...]:
    """The same values by seat, but for this one."""
    changed = list(values)
    changed[seat] = value
    return tuple(changed)


# The keys are this game's bodies, and each function takes the type it stands under.
STEPS: Final[Mapping[type[Body], Callable[[State, Any], Applied]]] = MappingProxyType(
    {
        CardPlayed: _apply_card_played,
        TurnPassed: _apply_turn_passed,
        CardsDealt: _apply_cards_dealt,
        DealerDrawn: _apply_dealer_drawn,
    }
)
