"""State and event to the next state and what follows, where `check` lets the event through: each kind asks it first."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from heptalog.replay.events import Body, OpenerDrawn, TurnPassed
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.seven_rocks.check import check_opener_drawn, check_turn_passed, checked_deal, checked_placement
from heptalog.replay.seven_rocks.events import TilePlayed, TilesDealt
from heptalog.replay.seven_rocks.outcomes import BranchesOpened, PointsScored, SpinnerLaid, TileLaid
from heptalog.replay.seven_rocks.scoring import add_to, counted_ends, points_for, settle
from heptalog.replay.seven_rocks.state import NOBODY, Phase, State, side_of
from heptalog.replay.seven_rocks.tables import (
    CLOSED,
    DOUBLE,
    DOWN,
    LEFT_OF,
    NAMED_ARMS,
    NO_ENDS,
    OPENING,
    PASSES_TO_BLOCK,
    PLAIN,
    SIDE,
    SIDES,
    SPINNER,
    UP,
    Tile,
)

Ends: TypeAlias = tuple[int, ...]
Applied: TypeAlias = tuple[State, tuple[Outcome, ...]]

_OPEN: Final = Phase.OPEN
_PLAY: Final = Phase.PLAY


def apply(state: State, body: Body) -> Applied:
    """The next state and what follows. Raises Refused, as check does, unless this may happen now."""
    return STEPS[type(body)](state, body)


def _apply_tile_played(state: State, body: TilePlayed) -> Applied:
    # The order is a rule: count, score, win, then the empty hand, then the turn (SR-R20, SR-R28, SR-D19, SR-D20).
    tile, arm = checked_placement(state, body)
    seat = body.seat
    if arm == OPENING:
        ends, halves = opening_ends(tile), tile.opening
    else:
        ends, halves = ends_after(state, tile, arm), tile.halves[state.ends[arm]]
    counted = counted_ends(ends)
    total = sum(counted)
    outcomes: tuple[Outcome, ...] = (TileLaid(seat, tile.name, NAMED_ARMS[arm], counted, total),)
    spinner, scores, winner = state.spinner, state.scores, NOBODY
    if tile.is_double and spinner < 0:
        spinner = tile.first
        outcomes += (SpinnerLaid(seat, tile.name),)
    elif ends[UP] != CLOSED and state.ends[UP] == CLOSED:
        outcomes += (BranchesOpened(f"{spinner}-{spinner}"),)
    points = points_for(total)
    if points:
        side = side_of(seat)
        scores = add_to(scores, side, points)
        winner = side if scores[side] >= state.target else NOBODY
        outcomes += (PointsScored(seat, side, points, scores[side]),)
    laid = state.laid | tile.bit
    placed = (arm << 6 | halves,)
    following = replace(
        state,
        phase=_PLAY,
        scores=scores,
        turn=LEFT_OF[seat],
        passes=0,
        spinner=spinner,
        ends=ends,
        laid=laid,
        line=state.line + placed,
    )
    if winner != NOBODY:
        return _win(following, winner, outcomes)
    if not state.dealt[seat] & ~laid:
        return _end_round(following, RoundEnded(state.round, RoundEndedBy.EMPTY_HAND, seat), outcomes)
    return following, outcomes


def _apply_turn_passed(state: State, body: TurnPassed) -> Applied:
    check_turn_passed(state, body)
    passes = state.passes + 1
    if passes == PASSES_TO_BLOCK:
        return _end_round(state, RoundEnded(state.round, RoundEndedBy.BLOCKED), ())
    return replace(state, turn=LEFT_OF[body.seat], passes=passes), ()


def _apply_tiles_dealt(state: State, body: TilesDealt) -> Applied:
    hands = checked_deal(state, body)
    opener = state.opener
    return replace(
        state,
        phase=Phase.DRAW if opener == NOBODY else _OPEN,
        round=state.round + 1,
        turn=opener,
        passes=0,
        spinner=-1,
        ends=NO_ENDS,
        laid=0,
        dealt=hands,
        line=(),
        opener=NOBODY,
    ), ()


def _apply_opener_drawn(state: State, body: OpenerDrawn) -> Applied:
    check_opener_drawn(state, body)
    return replace(state, phase=_OPEN, turn=body.seat), ()


def opening_ends(tile: Tile) -> Ends:
    """The ends of the line that this tile opens."""
    if tile.is_double:
        # Both in-line sides are free, and only one of them carries the count (SR-D4).
        return SPINNER + tile.first, SIDE + tile.first, CLOSED, CLOSED
    return PLAIN + tile.first, PLAIN + tile.second, CLOSED, CLOSED


def ends_after(state: State, tile: Tile, arm: int) -> Ends:
    """The ends of the line once this tile, which fits, is laid to an arm."""
    ends = list(state.ends)
    end = ends[arm]
    ends[arm] = tile.onto[end]
    if tile.is_double and state.spinner < 0:
        # The line it lies against is its first in-line side; the other keeps this arm's name (SR-D5).
        ends[arm] += SPINNER - DOUBLE
    elif end >= SPINNER:
        # The side on which the spinner counted is taken, and that is always an in-line one.
        across = 1 - arm
        if ends[across] >= SIDE:
            ends[across] += SPINNER - SIDE
        else:
            ends[UP] = ends[DOWN] = end + SIDE - SPINNER
    return tuple(ends)


def _win(state: State, side: int, outcomes: tuple[Outcome, ...]) -> Applied:
    # Nothing is continued and nothing settled (SR-R29).
    won = replace(state, phase=Phase.OVER, turn=NOBODY, winner=side)
    return won, (*outcomes, MatchWon(SIDES[side]))


def _end_round(state: State, ended: RoundEnded, outcomes: tuple[Outcome, ...]) -> Applied:
    # Who went out opens the next round; after a block there is a draw (SR-R6, SR-R7).
    scores, settled = settle(state, state.scores)
    waiting = replace(state, phase=Phase.DEAL, scores=scores, turn=NOBODY, passes=0, opener=ended.seat)
    return waiting, (*outcomes, ended, *settled)


# The keys are this game's bodies, and each function takes the type it stands under.
STEPS: Final[Mapping[type[Body], Callable[[State, Any], Applied]]] = MappingProxyType(
    {
        TilePlayed: _apply_tile_played,
        TurnPassed: _apply_turn_passed,
        TilesDealt: _apply_tiles_dealt,
        OpenerDrawn: _apply_opener_drawn,
    }
)
