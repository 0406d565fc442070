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


def _check_dealer_drawn(state: State, body: DealerDrawn) -> None:
    if state.phase is not Phase.DRAW:
        _refuse_phase(state, body, rule="SU-R3")
    check_draw(body, seat_count=state.seat_count, rule="SU-R3")


def _check_cards_dealt(state: State, body: CardsDealt) -> None:
    if state.phase is not Phase.DEAL:
        _refuse_phase(state, body, rule="SU-R5")
    if len(body.hands) != state.seat_count:
        raise Refused(Code.DEAL_INVALID, rule="SU-R5", problem=f"{len(body.hands)} hands for {state.seat_count} seats")
    taken = _bit_of(body.turned)
    for seat, hand in enumerate(body.hands):
        if len(hand.cards) != HAND_SIZE:
            problem = f"seat {seat} gets {len(hand.cards)} cards, not {HAND_SIZE}"
            raise Refused(Code.DEAL_INVALID, rule="SU-R5", problem=problem)
        taken |= _cards_of(hand, seat)
    if taken.bit_count() != HAND_SIZE * state.seat_count + 1:
        raise Refused(Code.DEAL_INVALID, rule="SU-D1", problem="a card is there twice")


def _check_trump_decided(state: State, body: TrumpDecided) -> None:
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


def _check_cards_run(state: State, body: CardsRun) -> None:
    if state.phase is not Phase.RUN:
        _refuse_phase(state, body, rule="SU-R10")
    taken = _bit_of(body.turned)
    owners = (("elder hand", elder_of(state), body.elder), ("the dealer", state.dealer, body.dealer))
    for owner, seat, hand in owners:
        if len(hand.cards) != PACKET_SIZE:
            problem = f"{owner} gets {len(hand.cards)} cards, not {PACKET_SIZE}"
            raise Refused(Code.DEAL_INVALID, rule="SU-R10", problem=problem)
        taken |= _cards_of(hand, seat)
    if taken.bit_count() != 2 * PACKET_SIZE + 1:
        raise Refused(Code.DEAL_INVALID, rule="SU-D1", problem="a card is there twice")
    if taken & state.dealt:
        raise Refused(Code.DEAL_INVALID, rule="SU-D1", problem="a card is not in the stock any more")


def _check_cards_discarded(state: State, body: CardsDiscarded) -> None:
    if state.phase is not Phase.DISCARD:
        _refuse_phase(state, body, rule="SU-R13")
    if body.seat not in state.to_act:
        _refuse_seat(state, body.seat, rule="SU-R13")
    hand = state.hands[body.seat]
    for card in body.cards:
        if not hand & _bit_of(card):
            raise Refused(Code.NOT_HELD, rule="SU-R13", seat=body.seat, card=card)
    excess = hand.bit_count() - HAND_SIZE
    if len(body.cards) != excess:
        problem = f"{len(body.cards)} cards, not {excess}"
        raise Refused(Code.DISCARD_INVALID, rule="SU-R13", seat=body.seat, problem=problem)
    if mask_of(body.cards, BITS).bit_count() != excess:
        raise Refused(Code.DISCARD_INVALID, rule="SU-R13", seat=body.seat, problem="a card is there twice")


def _check_card_played(state: State, body: CardPlayed) -> None:
    if state.phase is not _PLAY:
        _refuse_phase(state, body, rule="SU-R14")
    seat = body.seat
    if seat not in state.to_act:
        _refuse_seat(state, seat, rule="SU-R14")
    bit = _bit_of(body.card)
    if body.stands_for:
        raise Refused(Code.ILLEGAL_MOVE, rule="game-file", problem="no card stands for another here")
    if bit & playable(state, seat):
        return
    if not bit & state.hands[seat]:
        raise Refused(Code.NOT_HELD, rule="SU-R14", seat=seat, card=body.card)
    led = SUIT_OF[state.trick[0]]
    rule = "SU-R15" if state.trick_number == 1 else "SU-R17" if led == state.trump else "SU-R16"
    raise Refused(
        Code.MUST_FOLLOW, rule=rule, seat=seat, card=body.card, led=SUIT_LETTER[led], trump=SUIT_LETTER[state.trump]
    )


def _check_infraction_called(state: State, body: InfractionCalled) -> None:
    if state.phase is not Phase.PLAY:
        _refuse_phase(state, body, rule="SU-D27")
    if not 0 <= body.seat < state.seat_count:
        raise Refused(Code.SEAT_UNKNOWN, rule="SU-R19", seat=body.seat, seats=state.seat_count)


def _bit_of(card: str) -> int:
    bit = BITS.get(card)
    if bit is None:
        raise Refused(Code.CARD_UNKNOWN, rule="SU-D1", card=card)
    return bit


def _cards_of(hand: CardHand, seat: int) -> int:
    cards = 0
    for place, name in enumerate(hand.cards):
        bit = BITS.get(name)
        if bit is None:
            # Not its name: a slip of the pen may still tell what somebody holds.
            raise Refused(Code.CARD_UNKNOWN, rule="SU-D1", seat=seat, place=place)
        cards |= bit
    return cards


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
# The keys are this game's bodies, and each function takes the type it stands under.
_CHECKS: Final[Mapping[type[Body], Callable[[State, Any], None]]] = MappingProxyType(
    {
        DealerDrawn: _check_dealer_drawn,
        CardsDealt: _check_cards_dealt,
        TrumpDecided: _check_trump_decided,
        CardsRun: _check_cards_run,
        CardsDiscarded: _check_cards_discarded,
        CardPlayed: _check_card_played,
        InfractionCalled: _check_infraction_called,
    }
)
