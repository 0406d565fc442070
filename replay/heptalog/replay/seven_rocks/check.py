"""May this event happen now? Refusals carry a code, the rule and facts that reveal nobody's hand."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias

from heptalog.replay.draws import check_draw
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import UNSET, Body, OpenerDrawn, TurnPassed
from heptalog.replay.seven_rocks.events import TilePlayed, TilesDealt
from heptalog.replay.seven_rocks.state import NOBODY, Phase, State, arms_for, playable
from heptalog.replay.seven_rocks.tables import (
    ARM_INDEXES,
    ARMS,
    CLOSED,
    HAND_SIZE,
    MISFIT,
    SEAT_COUNT,
    TILES,
    UP,
    Tile,
)

_OPEN: Final = Phase.OPEN


def check(state: State, body: Body) -> None:
    """Raise Refused unless this may happen now. Changes nothing."""
    _CHECKS[type(body)](state, body)


def _check_tile_played(state: State, body: TilePlayed) -> None:
    seat = body.seat
    if seat != state.turn or seat < 0:
        _refuse_turn(state, body, seat)
    tile = TILES.get(body.tile)
    if tile is None:
        raise Refused(Code.TILE_UNKNOWN, rule="SR-R2", seat=seat, tile=body.tile)
    if not state.dealt[seat] & ~state.laid & tile.bit:
        raise Refused(Code.NOT_HELD, rule="SR-R4", seat=seat, tile=body.tile)
    arm = body.arm
    if state.phase is _OPEN:
        if arm is not UNSET:
            raise Refused(
                Code.ILLEGAL_MOVE, rule="game-file", tile=body.tile, arm=str(arm), problem="the opening tile has no arm"
            )
    elif arm is UNSET:
        _check_one_arm(state, tile, body.tile)
    elif tile.onto[state.ends[ARM_INDEXES[arm]]] == MISFIT:
        _refuse_arm(state, body.tile, ARM_INDEXES[arm])


def _check_turn_passed(state: State, body: TurnPassed) -> None:
    seat = body.seat
    if seat != state.turn or seat < 0:
        _refuse_turn(state, body, seat)
    if state.phase is _OPEN:
        raise Refused(Code.MUST_PLAY, rule="SR-R9", seat=seat)
    if state.dealt[seat] & ~state.laid & playable(state):
        raise Refused(Code.MUST_PLAY, rule="SR-R12", seat=seat)


def _check_tiles_dealt(state: State, body: TilesDealt) -> None:
    _check_phase(state, body, Phase.DEAL, rule="SR-R4")
    if len(body.hands) != SEAT_COUNT:
        raise Refused(Code.DEAL_INVALID, rule="SR-R4", problem=f"{SEAT_COUNT} hands are dealt", hands=len(body.hands))
    seen = 0
    for seat, hand in enumerate(body.hands):
        if len(hand.tiles) != HAND_SIZE:
            raise Refused(
                Code.DEAL_INVALID,
                rule="SR-R4",
                problem=f"a hand has {HAND_SIZE} tiles",
                seat=seat,
                tiles=len(hand.tiles),
            )
        for place, name in enumerate(hand.tiles):
            tile = TILES.get(name)
            if tile is None:
                # Not its name: a slip of the pen may still tell what somebody holds.
                raise Refused(Code.TILE_UNKNOWN, rule="SR-R2", seat=seat, place=place)
            if seen & tile.bit:
                raise Refused(Code.DEAL_INVALID, rule="SR-R2", problem="a tile is dealt twice", seat=seat)
            seen |= tile.bit


def _check_opener_drawn(state: State, body: OpenerDrawn) -> None:
    rule = "SR-R5" if state.round <= 1 else "SR-R7"
    _check_phase(state, body, Phase.DRAW, rule=rule)
    check_draw(body, seat_count=SEAT_COUNT, rule=rule)


def _check_phase(state: State, body: Body, phase: Phase, *, rule: str) -> None:
    if state.phase is Phase.OVER:
        raise Refused(Code.GAME_OVER, rule="SR-R29")
    if state.phase is not phase:
        raise Refused(Code.WRONG_PHASE, rule=rule, kind=type(body).__name__, phase=str(state.phase))


def _refuse_turn(state: State, body: Body, seat: int) -> NoReturn:
    if state.phase is Phase.OVER:
        raise Refused(Code.GAME_OVER, rule="SR-R29")
    if not 0 <= seat < SEAT_COUNT:
        raise Refused(Code.SEAT_UNKNOWN, rule="SR-R1", seat=seat, seats=SEAT_COUNT)
    if state.turn == NOBODY:
        rule = "SR-R4" if state.phase is Phase.DEAL else "SR-R5"
        raise Refused(Code.WRONG_PHASE, rule=rule, kind=type(body).__name__, phase=str(state.phase))
    raise Refused(Code.NOT_YOUR_TURN, rule="SR-R10", seat=seat, to_act=state.to_act)


def _check_one_arm(state: State, tile: Tile, name: str) -> None:
    arms = arms_for(state, tile)
    if not arms:
        raise Refused(Code.ILLEGAL_MOVE, rule="SR-R11", tile=name, problem="it fits no end")
    if len(arms) > 1:
        raise Refused(Code.ARM_AMBIGUOUS, rule="SR-D8", tile=name, arms=", ".join(ARMS[arm] for arm in arms))


def _refuse_arm(state: State, name: str, arm: int) -> NoReturn:
    if state.ends[arm] == CLOSED and arm >= UP:
        rule, problem = "SR-R16", "branches open once both in-line sides of the spinner are taken"
    else:
        rule, problem = "SR-R11", "it does not fit there"
    raise Refused(Code.ILLEGAL_MOVE, rule=rule, tile=name, arm=str(ARMS[arm]), problem=problem)


_Check: TypeAlias = Callable[[State, Any], None]
_CHECKS: Final[Mapping[type[Body], _Check]] = MappingProxyType(
    {
        TilePlayed: _check_tile_played,
        TurnPassed: _check_turn_passed,
        TilesDealt: _check_tiles_dealt,
        OpenerDrawn: _check_opener_drawn,
    }
)
