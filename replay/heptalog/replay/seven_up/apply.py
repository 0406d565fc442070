"""State and event to the next state and what follows, where `check` lets the event through: each kind asks it first."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from heptalog.replay.events import Body, CardPlayed, CardsDealt, DealerDrawn
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.seven_up.check import (
    check_dealer_drawn,
    check_infraction_called,
    check_trump_decided,
    checked_card,
    checked_deal,
    checked_discards,
    checked_run,
)
from heptalog.replay.seven_up.events import CardsDiscarded, CardsRun, Decision, InfractionCalled, TrumpDecided
from heptalog.replay.seven_up.outcomes import (
    DealVoided,
    GiftScored,
    InfractionCharged,
    JackTurned,
    RunAgain,
    SuitRejected,
    TrickWon,
    TrumpFixed,
    VoidReason,
)
from heptalog.replay.seven_up.scoring import add_point, count_round, winning_card
from heptalog.replay.seven_up.state import ONLY, Phase, State, elder_of, may_run, side_of
from heptalog.replay.seven_up.tables import JACKS, NAME_OF, PAIRS, SUIT_LETTER, SUIT_OF, TRICK_COUNT, WHOLE_DECK

Applied: TypeAlias = tuple[State, tuple[Outcome, ...]]


_OVER: Final = Phase.OVER


def apply(state: State, body: Body) -> Applied:
    """The next state and what follows from `body`. Raises Refused, as check does, unless it may happen now (C-3)."""
    return STEPS[type(body)](state, body)


def _apply_dealer_drawn(state: State, body: DealerDrawn) -> Applied:
    check_dealer_drawn(state, body)
    return replace(state, phase=Phase.DEAL, dealer=body.seat), ()


def _apply_cards_dealt(state: State, body: CardsDealt) -> Applied:
    hands, card = checked_deal(state, body)
    state = replace(state, round=state.round + 1, hands=hands, dealt=sum(hands) | card, turned=(card,))
    return _offer_suit(state)


def _apply_trump_decided(state: State, body: TrumpDecided) -> Applied:
    check_trump_decided(state, body)
    if body.decision is Decision.STAND:
        return _fix_trump(state)
    if body.decision is Decision.BEG:
        return replace(state, phase=Phase.GIVE_OR_RUN, to_act=ONLY[state.dealer]), ()
    if body.decision is Decision.GIVE:
        return _give(state)
    suit = SUIT_OF[state.turned[-1]]
    return _run_or_void(replace(state, rejected=state.rejected | suit), SuitRejected(SUIT_LETTER[suit]))


def _apply_cards_run(state: State, body: CardsRun) -> Applied:
    elder_cards, dealer_cards, card = checked_run(state, body)
    hands = list(state.hands)
    hands[elder_of(state)] |= elder_cards
    hands[state.dealer] |= dealer_cards
    state = replace(
        state,
        hands=tuple(hands),
        dealt=state.dealt | elder_cards | dealer_cards | card,
        turned=(*state.turned, card),
    )
    if card & state.rejected:
        return _run_or_void(state, RunAgain(body.turned))
    return _offer_suit(state)


def _apply_cards_discarded(state: State, body: CardsDiscarded) -> Applied:
    cards = checked_discards(state, body)
    seat = body.seat
    hands, discards = list(state.hands), list(state.discards)
    hands[seat] ^= cards
    discards[seat] = cards
    still_owing = tuple([other for other in state.to_act if other != seat])
    state = replace(state, hands=tuple(hands), discards=tuple(discards), to_act=still_owing)
    return (state if still_owing else _begin_tricks(state)), ()


def _apply_card_played(state: State, body: CardPlayed) -> Applied:
    card = checked_card(state, body)
    seat, seat_count = body.seat, state.seat_count
    changed = list(state.hands)
    changed[seat] ^= card
    hands = tuple(changed)
    played = (card,)
    trick = state.trick + played
    if len(trick) < seat_count:
        return replace(state, hands=hands, trick=trick, to_act=ONLY[(seat + 1) % seat_count]), ()
    return _take_trick(state, hands, trick)


def _apply_infraction_called(state: State, body: InfractionCalled) -> Applied:
    check_infraction_called(state, body)
    seat = body.seat
    if len(state.scores) > PAIRS:
        # Of three there is no other side to gain, so the offender loses (SU-R19), also below zero (SU-D29).
        scores = list(state.scores)
        scores[seat] -= 1
        state = replace(state, scores=tuple(scores))
        return state, (InfractionCharged(seat=seat, side=seat, points=-1, score=scores[seat]),)
    side = 1 - side_of(state, seat)
    state = add_point(state, side)
    return _and_winners(state, InfractionCharged(seat=seat, side=side, points=1, score=state.scores[side]))


def _offer_suit(state: State) -> Applied:
    """A fresh suit is turned: a jack pays the dealer, whatever is then decided (SU-R6, SU-R7)."""
    state = replace(state, phase=Phase.STAND_OR_BEG, to_act=ONLY[elder_of(state)])
    card = state.turned[-1]
    if not card & JACKS:
        return state, ()
    side = side_of(state, state.dealer)
    state = add_point(state, side)
    return _and_winners(state, JackTurned(seat=state.dealer, side=side, card=NAME_OF[card], score=state.scores[side]))


def _give(state: State) -> Applied:
    """The dealer keeps the suit and elder hand scores; if that wins, trump is never fixed (SU-R9)."""
    elder = elder_of(state)
    side = side_of(state, elder)
    state = add_point(state, side)
    gift = GiftScored(seat=elder, side=side, score=state.scores[side])
    if state.over:
        return _and_winners(state, gift)
    state, outcomes = _fix_trump(state)
    return state, (gift, *outcomes)


def _fix_trump(state: State) -> Applied:
    """The turned suit is trump; without a run nobody has cards to discard (SU-R13, SU-D18)."""
    card = state.turned[-1]
    suit = SUIT_OF[card]
    outcomes = (TrumpFixed(suit=SUIT_LETTER[suit], card=NAME_OF[card]),)
    state = replace(state, trump=suit)
    if len(state.turned) == 1:
        return _begin_tricks(state), outcomes
    owing = tuple(sorted((state.dealer, elder_of(state))))
    return replace(state, phase=Phase.DISCARD, to_act=owing), outcomes


def _run_or_void(state: State, outcome: Outcome) -> Applied:
    """More cards are run, or where that cannot be the same dealer deals again (SU-D7, SU-D8, SU-D9, SU-D11)."""
    if may_run(state):
        return replace(state, phase=Phase.RUN, to_act=()), (outcome,)
    reason = VoidReason.SUITS_REJECTED if state.rejected == WHOLE_DECK else VoidReason.STOCK_SHORT
    voided = DealVoided(seat=state.dealer, reason=reason)
    ended = RoundEnded(round=state.round, by=RoundEndedBy.VOID)
    return _clear_table(state, dealer=state.dealer, scores=state.scores), (outcome, voided, ended)


def _begin_tricks(state: State) -> State:
    elder = elder_of(state)
    return replace(state, phase=Phase.PLAY, kept=state.hands, leader=elder, to_act=ONLY[elder], trick_number=1)


def _take_trick(state: State, hands: tuple[int, ...], trick: tuple[int, ...]) -> Applied:
    """The winner takes the cards and leads the next trick; after the sixth comes the count (SU-R14, SU-R18, SU-D20)."""
    number, leader = state.trick_number, state.leader
    seat = (leader + trick.index(winning_card(trick, state.trump))) % state.seat_count
    taken = list(state.captured)
    taken[seat] |= sum(trick)
    captured = tuple(taken)
    won = TrickWon(number, leader, seat, side_of(state, seat), tuple([NAME_OF[card] for card in trick]))
    if number == TRICK_COUNT:
        return _end_round(state, hands, captured, won)
    state = replace(
        state, hands=hands, captured=captured, trick=(), leader=seat, to_act=ONLY[seat], trick_number=number + 1
    )
    return state, (won,)


def _end_round(state: State, hands: tuple[int, ...], captured: tuple[int, ...], won: TrickWon) -> Applied:
    scores, counted = count_round(state, captured)
    ended = RoundEnded(state.round, RoundEndedBy.TRICKS_PLAYED)
    if max(scores) >= state.target:
        state = replace(state, phase=_OVER, scores=scores, hands=hands, captured=captured, trick=(), to_act=())
        return _and_winners(state, won, *counted, ended)
    # SU-R3: the deal passes clockwise.
    return _clear_table(state, dealer=elder_of(state), scores=scores), (won, *counted, ended)


def _clear_table(state: State, *, dealer: int, scores: tuple[int, ...]) -> State:
    """All cards go back into the pack."""
    empty = (0,) * state.seat_count
    return State(
        seat_count=state.seat_count,
        target=state.target,
        phase=Phase.DEAL,
        scores=scores,
        hands=empty,
        kept=empty,
        discards=empty,
        captured=empty,
        round=state.round,
        dealer=dealer,
    )


def _and_winners(state: State, *outcomes: Outcome) -> Applied:
    return state, (*outcomes, MatchWon(state.winners)) if state.over else outcomes


# The keys are this game's bodies, and each function takes the type it stands under.
STEPS: Final[Mapping[type[Body], Callable[[State, Any], Applied]]] = MappingProxyType(
    {
        DealerDrawn: _apply_dealer_drawn,
        CardsDealt: _apply_cards_dealt,
        TrumpDecided: _apply_trump_decided,
        CardsRun: _apply_cards_run,
        CardsDiscarded: _apply_cards_discarded,
        CardPlayed: _apply_card_played,
        InfractionCalled: _apply_infraction_called,
    }
)
