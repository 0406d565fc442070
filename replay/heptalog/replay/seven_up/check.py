"""May this event happen now? Refusals carry a code, a rule and facts, and never tell a hidden card."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

from heptalog.replay.cards import mask_of
from heptalog.replay.draws import check_draw
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import Body, CardHand, CardPlayed, CardsDealt, DealerDrawn
from heptalog.replay.seven_up.events import CardsDiscarded, CardsRun, Decision, InfractionCalled, TrumpDecided
from heptalog.replay.seven_up.state import Phase, State, elder_of, playable
from heptalog.replay.seven_up.tables import BITS, HAND_SIZE, PACKET_SIZE, SUIT_LETTER, SUIT_OF

# Looked up once: asking an enum for a member costs as much as the rest of a check.
_PLAY: Final = Phase.PLAY


def check(state: State, body: Body) -> None:
    """Raise Refused unless `body` may happen now. Changes nothing (C-3)."""
    _CHECKS[type(body)](state, body)


def check_dealer_drawn(state: State, body: DealerDrawn) -> None:
    """Raise Refused unless a draw is due, and led to this seat."""
    if state.phase is not Phase.DRAW:
        _refuse_phase(state, body, rule="SU-R3")
    check_draw(body, seat_count=state.seat_count, rule="SU-R3")


def checked_deal(state: State, body: CardsDealt) -> tuple[tuple[int, ...], int]:
    """The hands and the turned card. Raises Refused unless this may be dealt now."""
    if state.phase is not Phase.DEAL:
        _refuse_phase(state, body, rule="SU-R5")
    if len(body.hands) != state.seat_count:
        raise Refused(Code.DEAL_INVALID, rule="SU-R5", problem=f"{len(body.hands)} hands for {state.seat_count} seats")
    turned = taken = _bit_of(body.turned)
    hands = []
    for seat, hand in enumerate(body.hands):
        if len(hand.cards) != HAND_SIZE:
            problem = f"seat {seat} gets {len(hand.cards)} cards, not {HAND_SIZE}"
            raise Refused(Code.DEAL_INVALID, rule="SU-R5", problem=problem)
        cards = _cards_of(hand, seat)
        taken |= cards
        hands.append(cards)
    if taken.bit_count() != HAND_SIZE * state.seat_count + 1:
        raise Refused(Code.DEAL_INVALID, rule="SU-D1", problem="a card is there twice")
    return tuple(hands), turned


def check_trump_decided(state: State, body: TrumpDecided) -> None:
    """Raise Refused unless this seat is asked, and may say this."""
    choices = _CHOICES.get(state.phase)
    if choices is None:
        _refuse_phase(state, body, rule="SU-R8")
    if body.seat not in state.to_act:
        _refuse_seat(state, body.seat, rule="SU-R8")
    if body.decision not in choices:
        raise Refused(
            Code.ILLEGAL_MOVE,
            rule="SU-R8" if state.phase is Phase.STAND_OR_BEG else "SU-R9",
            problem=f"seat {body.seat} says {choices[0]} or {choices[1]}",
        )


def checked_run(state: State, body: CardsRun) -> tuple[int, int, int]:
    """Elder hand's cards, the dealer's, and the turned one. Raises Refused unless they may be run now."""
    if state.phase is not Phase.RUN:
        _refuse_phase(state, body, rule="SU-R10")
    turned = _bit_of(body.turned)
    elder = _packet_of(body.elder, elder_of(state), owner="elder hand")
    dealer = _packet_of(body.dealer, state.dealer, owner="the dealer")
    taken = turned | elder | dealer
    if taken.bit_count() != 2 * PACKET_SIZE + 1:
        raise Refused(Code.DEAL_INVALID, rule="SU-D1", problem="a card is there twice")
    if taken & state.dealt:
        raise Refused(Code.DEAL_INVALID, rule="SU-D1", problem="a card is not in the stock any more")
    return elder, dealer, turned


def checked_discards(state: State, body: CardsDiscarded) -> int:
    """The cards that go, as a set. Raises Refused unless this seat may discard them now."""
    if state.phase is not Phase.DISCARD:
        _refuse_phase(state, body, rule="SU-R13")
    seat = body.seat
    if seat not in state.to_act:
        _refuse_seat(state, seat, rule="SU-R13")
    hand = state.hands[seat]
    discards = 0
    for card in body.cards:
        bit = _bit_of(card)
        if not hand & bit:
            raise Refused(Code.NOT_HELD, rule="SU-R13", seat=seat, card=card)
        discards |= bit
    excess = hand.bit_count() - HAND_SIZE
    if len(body.cards) != excess:
        problem = f"{len(body.cards)} cards, not {excess}"
        raise Refused(Code.DISCARD_INVALID, rule="SU-R13", seat=seat, problem=problem)
    if discards.bit_count() != excess:
        raise Refused(Code.DISCARD_INVALID, rule="SU-R13", seat=seat, problem="a card is there twice")
    return discards


def checked_card(state: State, body: CardPlayed) -> int:
    """The card that is played. Raises Refused unless this seat may play it now."""
    if state.phase is not _PLAY:
        _refuse_phase(state, body, rule="SU-R14")
    seat = body.seat
    if seat not in state.to_act:
        _refuse_seat(state, seat, rule="SU-R14")
    bit = _bit_of(body.card)
    if body.stands_for:
        raise Refused(Code.ILLEGAL_MOVE, rule="game-file", problem="no card stands for another here")
    if bit & playable(state, seat):
        return bit
    if not bit & state.hands[seat]:
        raise Refused(Code.NOT_HELD, rule="SU-R14", seat=seat, card=body.card)
    led = SUIT_OF[state.trick[0]]
    rule = "SU-R15" if state.trick_number == 1 else "SU-R17" if led == state.trump else "SU-R16"
    raise Refused(
        Code.MUST_FOLLOW, rule=rule, seat=seat, card=body.card, led=SUIT_LETTER[led], trump=SUIT_LETTER[state.trump]
    )


def check_infraction_called(state: State, body: InfractionCalled) -> None:
    """Raise Refused unless cards are being played and this seat is there."""
    if state.phase is not Phase.PLAY:
        _refuse_phase(state, body, rule="SU-D27")
    if not 0 <= body.seat < state.seat_count:
        raise Refused(Code.SEAT_UNKNOWN, rule="SU-R19", seat=body.seat, seats=state.seat_count)


def _bit_of(card: str) -> int:
    try:
        return BITS[card]
    except KeyError:
        raise Refused(Code.CARD_UNKNOWN, rule="SU-D1", card=card) from None


def _packet_of(hand: CardHand, seat: int, *, owner: str) -> int:
    if len(hand.cards) != PACKET_SIZE:
        problem = f"{owner} gets {len(hand.cards)} cards, not {PACKET_SIZE}"
        raise Refused(Code.DEAL_INVALID, rule="SU-R10", problem=problem)
    return _cards_of(hand, seat)


def _cards_of(hand: CardHand, seat: int) -> int:
    try:
        return mask_of(hand.cards, BITS)
    except KeyError:
        # Not its name: a slip of the pen may still tell what somebody holds.
        place = next(place for place, card in enumerate(hand.cards) if card not in BITS)
        raise Refused(Code.CARD_UNKNOWN, rule="SU-D1", seat=seat, place=place) from None


def _refuse_phase(state: State, body: Body, *, rule: str) -> NoReturn:
    if state.phase is Phase.OVER:
        raise Refused(Code.GAME_OVER, rule="SU-R2")
    raise Refused(Code.WRONG_PHASE, rule=rule, kind=type(body).__name__, phase=str(state.phase))


def _refuse_seat(state: State, seat: int, *, rule: str) -> NoReturn:
    if not 0 <= seat < state.seat_count:
        raise Refused(Code.SEAT_UNKNOWN, rule=rule, seat=seat, seats=state.seat_count)
    raise Refused(Code.NOT_YOUR_TURN, rule=rule, seat=seat, to_act=state.to_act)


_CHOICES: Final[Mapping[Phase, tuple[Decision, Decision]]] = MappingProxyType(
    {
        Phase.STAND_OR_BEG: (Decision.STAND, Decision.BEG),  # SU-R8
        Phase.GIVE_OR_RUN: (Decision.GIVE, Decision.RUN),  # SU-R9
    }
)
# The keys are this game's bodies, and each function takes the type it stands under. What it finds is for `apply`.
_CHECKS: Final[Mapping[type[Body], Callable[[State, Any], object]]] = MappingProxyType(
    {
        DealerDrawn: check_dealer_drawn,
        CardsDealt: checked_deal,
        TrumpDecided: check_trump_decided,
        CardsRun: checked_run,
        CardsDiscarded: checked_discards,
        CardPlayed: checked_card,
        InfractionCalled: check_infraction_called,
    }
)
