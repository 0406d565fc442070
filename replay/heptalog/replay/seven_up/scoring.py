"""Points, tricks and the count. Every point is one, goes to one side and may win the match (SU-R2, SU-I2)."""

from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec.structs import replace

from heptalog.replay.outcomes import Outcome
from heptalog.replay.seven_up.outcomes import GameCounted, HighScored, JackScored, LowScored
from heptalog.replay.seven_up.state import NOBODY, Phase, State, side_of
from heptalog.replay.seven_up.tables import JACKS, NAME_OF, PIPS_OF_RANK, SUIT_OF

Counted: TypeAlias = tuple[State, tuple[Outcome, ...]]

_OVER: Final = Phase.OVER


def add_point(state: State, side: int) -> State:
    """One point for `side`; the match is over at the moment that this reaches the target (SU-R2)."""
    scores = list(state.scores)
    scores[side] += 1
    if scores[side] >= state.target:
        return replace(state, scores=tuple(scores), phase=_OVER, to_act=())
    return replace(state, scores=tuple(scores))


def winning_card(trick: tuple[int, ...], trump: int) -> int:
    """The highest trump, or without trumps the highest card of the suit led (SU-R18)."""
    laid = sum(trick)
    return _highest(laid & trump or laid & SUIT_OF[trick[0]])


def count_round(state: State) -> Counted:
    """High, Low, Jack and Game in this order, stopping as soon as the match is won (SU-D35)."""
    outcomes: tuple[Outcome, ...] = ()
    for count in _COUNTS:
        state, counted = count(state)
        outcomes += counted
        if state.phase is _OVER:
            break
    return state, outcomes


def pips_of(cards: int) -> int:
    """What captured cards count for Game (SU-R25)."""
    return sum([pips * (cards & rank).bit_count() for pips, rank in PIPS_OF_RANK])


def game_winner(pips: tuple[int, ...], dealer_side: int) -> int:
    """The side that wins Game, or NOBODY: a tie goes to the one non-dealer in it (SU-R25, SU-D31 to SU-D33)."""
    best = max(pips)
    top = [side for side, count in enumerate(pips) if count == best]
    if len(top) > 1:
        top = [side for side in top if side != dealer_side]
    return top[0] if len(top) == 1 else NOBODY


def _count_high(state: State) -> Counted:
    trumps = sum(state.kept) & state.trump
    if not trumps:
        return state, ()  # SU-D19
    return _score_card(state, HighScored, card=_highest(trumps), owners=state.kept)


def _count_low(state: State) -> Counted:
    trumps = sum(state.kept) & state.trump
    if not trumps:
        return state, ()  # SU-D19
    return _score_card(state, LowScored, card=trumps & -trumps, owners=state.kept)


def _count_jack(state: State) -> Counted:
    jack = state.trump & JACKS
    if not sum(state.captured) & jack:
        return state, ()  # in the stock, discarded, or the turned card itself (SU-D16)
    return _score_card(state, JackScored, card=jack, owners=state.captured)


def _count_game(state: State) -> Counted:
    side_count = len(state.scores)
    pips = tuple([pips_of(sum(state.captured[side::side_count])) for side in range(side_count)])
    tied = pips.count(max(pips)) > 1
    side = game_winner(pips, side_of(state, state.dealer))
    if side == NOBODY:
        return state, (GameCounted(pips=pips, tied=tied),)
    state = add_point(state, side)
    return state, (GameCounted(pips=pips, tied=tied, side=side, score=state.scores[side]),)


def _score_card(
    state: State, scored: type[HighScored | LowScored | JackScored], *, card: int, owners: tuple[int, ...]
) -> Counted:
    seat = [cards & card for cards in owners].index(card)
    side = side_of(state, seat)
    state = add_point(state, side)
    return state, (scored(seat=seat, side=side, card=NAME_OF[card], score=state.scores[side]),)


def _highest(cards: int) -> int:
    return 1 << (cards.bit_length() - 1)


_COUNTS: Final[tuple[Callable[[State], Counted], ...]] = (_count_high, _count_low, _count_jack, _count_game)
