"""Whether an event may happen now. Every refusal has its rule, and facts that the mover may see."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

from heptalog.replay.cards import mask_of
from heptalog.replay.draws import check_draw
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import Body, CardHand, CardPlayed, CardsDealt, DealerDrawn, TurnPassed
from heptalog.replay.seven_bridge.state import Phase, State, can_play, is_ghost
from heptalog.replay.seven_bridge.tables import ALL_PLACES, BITS, JOKER_BITS, NEXT_SEAT, hand_sizes

# What the table does in which phase.
_TABLE_PHASES: Final[Mapping[Phase, type[Body]]] = MappingProxyType({Phase.DRAW: DealerDrawn, Phase.DEAL: CardsDealt})


_OPEN: Final = Phase.OPEN


def check(state: State, body: Body) -> None:
    """Raise Refused unless this may happen now. Changes nothing."""
    _CHECKS[type(body)](state, body)


def checked_card(state: State, body: CardPlayed) -> int:
    """The card that is played. Raises Refused unless this seat may play it now."""
    seat = body.seat
    if seat != state.turn or seat < 0:
        _refuse_seat(state, body, seat)
    try:
        bit = BITS[body.card]
    except KeyError:
        bit = 0
    # SB-R10, SB-D8, SB-D20c: its own or an exposed card that fits.
    is_at_hand = state.hands[seat] & bit or state.exposed & bit
    if not is_at_hand or body.stands_for or not (state.border & bit or state.stand_ins & bit):
        _check_unusual_play(state, body, bit)
    return bit


def _check_unusual_play(state: State, body: CardPlayed, bit: int) -> None:
    """Whether this is a joker well placed; anything else is refused here, for the first reason there is."""
    card, stands_for = body.card, body.stands_for
    if not bit & state.terms.deck_mask:
        raise Refused(Code.CARD_UNKNOWN, rule="SB-R3", card=card)
    place = BITS.get(stands_for, 0) & ALL_PLACES
    if stands_for and not place:
        raise Refused(Code.CARD_UNKNOWN, rule="SB-D20b", card=stands_for)
    if not (state.hands[body.seat] | state.exposed) & bit:
        raise Refused(Code.NOT_HELD, rule="SB-R9", card=card)
    if not bit & JOKER_BITS:
        if stands_for:
            _refuse_move("SB-D20b", card, "only a joker stands for another card", stands_for=stands_for)
        if state.phase is Phase.OPEN:
            _refuse_move("SB-R7", card, f"{state.terms.opening_seven} opens")
        _refuse_move("SB-R10", card, "it is not adjacent to the layout")
    if not stands_for:
        _refuse_move("SB-D20b", card, "a joker needs the card it stands for")
    if state.phase is Phase.OPEN:
        _refuse_move("SB-D20b", card, "a joker cannot be the opening seven", stands_for=stands_for)
    if not state.border & place:
        _refuse_move("SB-D20b", card, "that is not an empty border place", stands_for=stands_for)


def check_turn_passed(state: State, body: TurnPassed) -> None:
    """Raise Refused unless this seat may pass: its turn, and a token left or nothing to play."""
    seat = body.seat
    if seat != state.turn or seat < 0:
        _refuse_seat(state, body, seat)
    if state.phase is _OPEN:
        raise Refused(Code.MUST_PLAY, rule="SB-D5", seat=seat, card=state.terms.opening_seven)
    if not state.tokens[seat] and can_play(state, seat):
        raise Refused(Code.MUST_PLAY, rule="SB-D6", seat=seat)


def check_dealer_drawn(state: State, body: DealerDrawn) -> None:
    """Raise Refused unless a draw is due, and led to this seat."""
    _check_phase(state, body)
    check_draw(body, seat_count=len(state.hands), rule="SB-R2")


def checked_deal(state: State, body: CardsDealt) -> tuple[int, ...]:
    """The hands. Raises Refused unless they may be dealt now, by seat and count only: the cards are hidden."""
    _check_phase(state, body)
    seat_count = len(state.hands)
    if body.turned:
        raise Refused(Code.DEAL_INVALID, rule="game-file", problem="no card is turned in this game")
    if len(body.hands) != seat_count:
        raise Refused(Code.DEAL_INVALID, rule="game-file", problem=f"{len(body.hands)} hands for {seat_count} seats")
    deck_mask = state.terms.deck_mask
    hands = []
    taken = 0
    for seat, (hand, size) in enumerate(zip(body.hands, _sizes(state), strict=True)):
        cards = _cards_of(hand, deck_mask, seat)
        if taken & cards or cards.bit_count() < len(hand.cards):
            raise Refused(Code.DEAL_INVALID, rule="SB-R5", seat=seat, problem="a card is dealt twice")
        if len(hand.cards) != size:
            problem = f"seat {seat} gets {size} cards where seat {state.dealer} deals, not {len(hand.cards)}"
            raise Refused(Code.DEAL_INVALID, rule="SB-R5", seat=seat, problem=problem)
        taken |= cards
        hands.append(cards)
    return tuple(hands)


def _cards_of(hand: CardHand, deck_mask: int, seat: int) -> int:
    try:
        cards = mask_of(hand.cards, BITS)
    except KeyError:
        cards = ~deck_mask
    if cards & ~deck_mask:
        raise Refused(Code.CARD_UNKNOWN, rule="SB-R3", seat=seat)
    return cards


def _sizes(state: State) -> list[int]:
    """How many cards each seat gets; who watches a deciding round gets none (SB-D1, SB-D19)."""
    sizes = [0] * len(state.hands)
    seat = state.dealer
    for size in hand_sizes(state.terms.deck_mask.bit_count(), state.seats.bit_count()):
        sizes[seat] = size
        seat = NEXT_SEAT[state.seats][seat]
    return sizes


def _check_phase(state: State, body: Body) -> None:
    if state.phase is Phase.OVER:
        raise Refused(Code.GAME_OVER, rule="SB-R19")
    if type(body) is not _TABLE_PHASES.get(state.phase):
        raise Refused(Code.WRONG_PHASE, rule="SB-R2", kind=type(body).__name__, phase=str(state.phase))


def _refuse_seat(state: State, body: Body, seat: int) -> NoReturn:
    """Say why it is not this seat that may act now."""
    if state.phase is Phase.OVER:
        raise Refused(Code.GAME_OVER, rule="SB-R19")
    if state.phase in _TABLE_PHASES:
        raise Refused(Code.WRONG_PHASE, rule="SB-R7", kind=type(body).__name__, phase=str(state.phase))
    if not 0 <= seat < len(state.hands):
        raise Refused(Code.SEAT_UNKNOWN, rule="SB-R1", seat=seat, seats=len(state.hands))
    if is_ghost(state, seat):
        rule = "SB-R14"
    elif not state.seats >> seat & 1:
        rule = "SB-R21"
    else:
        rule = "SB-R8"
    raise Refused(Code.NOT_YOUR_TURN, rule=rule, seat=seat, to_act=state.to_act)


def _refuse_move(rule: str, card: str, problem: str, **facts: str) -> NoReturn:
    raise Refused(Code.ILLEGAL_MOVE, rule=rule, card=card, **facts, problem=problem)


# The keys are this game's bodies, and each function takes the type it stands under. What it finds is for `apply`.
_CHECKS: Final[Mapping[type[Body], Callable[[State, Any], object]]] = MappingProxyType(
    {
        CardPlayed: checked_card,
        TurnPassed: check_turn_passed,
        CardsDealt: checked_deal,
        DealerDrawn: check_dealer_drawn,
    }
)
