"""Points, tricks and the count. Every point is one, goes to one side and may win the match (SU-R2, SU-I2)."""

from typing import Final

from msgspec.structs import replace

from heptalog.replay.outcomes import Outcome
from heptalog.replay.seven_up.outcomes import GameCounted, HighScored, JackScored, LowScored
from heptalog.replay.seven_up.state import NOBODY, Phase, State
from heptalog.replay.seven_up.tables import JACKS, NAME_OF, PIPS_OF_RANK, SUIT_OF

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


def count_round(state: State, captured: tuple[int, ...]) -> tuple[tuple[int, ...], list[Outcome]]:
    """The scores after High, Low, Jack and Game, in this order and no further than the match is won (SU-D35)."""
    scores = list(state.scores)
    side_count = len(scores)
    outcomes: list[Outcome] = []
    trumps = sum(state.kept) & state.trump
    # There need be no trump at the first lead (SU-D19); the jack may be in the stock, discarded or turned (SU-D16).
    for scored, card, owners in (
        (HighScored, _highest(trumps), state.kept),
        (LowScored, trumps & -trumps, state.kept),
        (JackScored, sum(captured) & state.trump & JACKS, captured),
    ):
        if card:
            seat = [cards & card for cards in owners].index(card)
            side = seat % side_count
            scores[side] += 1
            outcomes.append(scored(seat, side, NAME_OF[card], scores[side]))
            if scores[side] >= state.target:
                return tuple(scores), outcomes
    pips = tuple([pips_of(sum(captured[side::side_count])) for side in range(side_count)])
    tied = pips.count(max(pips)) > 1
    side = game_winner(pips, state.dealer % side_count)
    if side == NOBODY:
        outcomes.append(GameCounted(pips, tied))
    else:
        scores[side] += 1
        outcomes.append(GameCounted(pips, tied, side, scores[side]))
    return tuple(scores), outcomes


def pips_of(cards: int) -> int:
    """What captured cards count for Game (SU-R25)."""
    total = 0
    for pips, rank in PIPS_OF_RANK:
        total += pips * (cards & rank).bit_count()
    return total


def game_winner(pips: tuple[int, ...], dealer_side: int) -> int:
    """The side that wins Game, or NOBODY: a tie goes to the one non-dealer in it (SU-R25, SU-D31 to SU-D33)."""
    best = max(pips)
    if pips.count(best) == 1:
        return pips.index(best)
    top = [side for side, count in enumerate(pips) if count == best and side != dealer_side]
    return top[0] if len(top) == 1 else NOBODY


def _highest(cards: int) -> int:
    """The highest of these cards, or none where there are none."""
    return 1 << cards.bit_length() >> 1
