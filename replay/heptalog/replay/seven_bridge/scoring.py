"""The end of a round and of the match: penalties, bonuses, totals, ties."""

from typing import TypeAlias

from msgspec.structs import replace

from heptalog.replay.cards import names_in
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.seven_bridge.events import Scoring
from heptalog.replay.seven_bridge.outcomes import BonusBooked, DecidingRoundCalled, PenaltyBooked, TotalsBooked
from heptalog.replay.seven_bridge.state import NOBODY, Phase, State, Terms, seats_in
from heptalog.replay.seven_bridge.tables import CARDS_BY_POWER, COUNT_PENALTY, DECK, JOKER_BITS, NEXT_SEAT

Scored: TypeAlias = tuple[State, tuple[Outcome, ...]]


def penalty_of(cards: int, terms: Terms) -> int:
    """What these cards cost (SB-R17, SB-R18, SB-D20f)."""
    if terms.scoring is Scoring.COUNT:
        return COUNT_PENALTY * cards.bit_count()
    jokers = terms.joker_penalty * (cards & JOKER_BITS).bit_count()
    return jokers + sum([power * (cards & kind).bit_count() for power, kind in CARDS_BY_POWER])


def end_round(state: State, *, by: RoundEndedBy, seat: int = NOBODY) -> Scored:
    """Close the round that `seat` won, or nobody where it is exhausted (SB-R15, SB-D20h)."""
    ended = RoundEnded(state.round, by, seat)
    if state.is_deciding:
        # SB-D19: an empty hand wins the match; nothing is booked, so the same seats are still tied without one.
        state, outcomes = _call_deciding_round(state, state.seats) if seat == NOBODY else _win(state, seat)
        return state, (ended, *outcomes)
    state, booked = _book(state)
    state, outcomes = _go_on(state)
    return state, (ended, *booked, *outcomes)


def _book(state: State) -> Scored:
    """Add penalties and take bonuses off; the winner's empty hand costs nothing (SB-R16, SB-D15)."""
    terms = state.terms
    totals = list(state.scores)
    penalties: list[Outcome] = []
    bonuses: list[Outcome] = []
    for seat, (hand, shown) in enumerate(zip(state.hands, state.shown, strict=True)):
        cards = hand | shown
        penalty = penalty_of(cards, terms)
        totals[seat] += penalty
        penalties.append(PenaltyBooked(seat, names_in(cards, DECK), penalty, shown != 0))
        bonus = terms.kings_race * state.columns[seat]
        if bonus:
            totals[seat] -= bonus
            bonuses.append(BonusBooked(seat, state.columns[seat], bonus))
    scores = tuple(totals)
    return replace(state, scores=scores), (*penalties, *bonuses, TotalsBooked(state.round, scores))


def _go_on(state: State) -> Scored:
    """Deal again, or end the match: the lowest total wins, a tie is decided by another round (SB-R19..SB-R21)."""
    terms, scores = state.terms, state.scores
    # SB-D17: exactly the limit is not more than the limit.
    is_last = max(scores) > terms.limit if terms.limit else state.round >= terms.rounds
    if not is_last:
        return _deal_again(state, state.seats), ()
    lowest = min(scores)
    if scores.count(lowest) == 1:
        return _win(state, scores.index(lowest))
    return _call_deciding_round(state, sum(1 << seat for seat, total in enumerate(scores) if total == lowest))


def _call_deciding_round(state: State, seats: int) -> Scored:
    state = replace(_deal_again(state, seats), is_deciding=True)
    return state, (DecidingRoundCalled(seats_in(seats), state.dealer),)


def _deal_again(state: State, seats: int) -> State:
    """Let the next of these seats deal, clockwise after the last dealer (SB-R2, SB-D19)."""
    return replace(state, phase=Phase.DEAL, turn=NOBODY, seats=seats, dealer=NEXT_SEAT[seats][state.dealer])


def _win(state: State, seat: int) -> Scored:
    return replace(state, phase=Phase.OVER, turn=NOBODY, winners=(seat,)), (MatchWon((seat,)),)
