"""May this event happen now? Refusals carry a code, the rule and facts that reveal nobody's hand."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

from heptalog.replay.cards import mask_of
from heptalog.replay.draws import check_draw
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import UNSET, Body, OpenerDrawn, TurnPassed
from heptalog.replay.seven_rocks.events import TilePlayed, TilesDealt
from heptalog.replay.seven_rocks.state import NOBODY, Phase, State, arms_for, playable
from heptalog.replay.seven_rocks.tables import (
    ARM_INDEXES,
    ARMS,
    BITS,
    CLOSED,
    HAND_SIZE,
    MISFIT,
    OPENING,
    SEAT_COUNT,
    TILES,
    UP,
    Tile,
)

_OPEN: Final = Phase.OPEN


def check(state: State, body: Body) -> None:
    """Raise Refused unless this may happen now. Changes nothing."""
    _CHECKS[type(body)](state, body)


def checked_placement(state: State, body: TilePlayed) -> tuple[Tile, int]:
    """The tile and the arm that it goes to, OPENING where it opens. Raises Refused unless it may be laid now."""
    seat = body.seat
    if seat != state.turn or seat < 0:
        _refuse_turn(state, body, seat)
    name, arm = body.tile, body.arm
    try:
        tile = TILES[name]
    except KeyError:
        raise Refused(Code.TILE_UNKNOWN, rule="SR-R2", seat=seat, tile=name) from None
    if not state.dealt[seat] & ~state.laid & tile.bit:
        raise Refused(Code.NOT_HELD, rule="SR-R4", seat=seat, tile=name)
    if state.phase is _OPEN:
        if arm is not UNSET:
            problem = "the opening tile has no arm"
            raise Refused(Code.ILLEGAL_MOVE, rule="game-file", tile=name, arm=str(arm), problem=problem)
        return tile, OPENING
    if arm is UNSET:
        return tile, _only_arm(state, tile, name)
    index = ARM_INDEXES[arm]
    if tile.onto[state.ends[index]] == MISFIT:
        _refuse_arm(state, name, index)
    return tile, index


def check_turn_passed(state: State, body: TurnPassed) -> None:
    """Raise Refused unless this seat must pass: its turn, and nothing fits."""
    seat = body.seat
    if seat != state.turn or seat < 0:
        _refuse_turn(state, body, seat)
    if state.phase is _OPEN:
        raise Refused(Code.MUST_PLAY, rule="SR-R9", seat=seat)
    if state.dealt[seat] & ~state.laid & playable(state):
        raise Refused(Code.MUST_PLAY, rule="SR-R12", seat=seat)


def checked_deal(state: State, body: TilesDealt) -> tuple[int, ...]:
    """What each seat is dealt, as sets. Raises Refused unless it is a whole deal of this set, and due now."""
    _check_phase(state, body, Phase.DEAL, rule="SR-R4")
    if len(body.hands) != SEAT_COUNT:
        raise Refused(Code.DEAL_INVALID, rule="SR-R4", problem=f"{SEAT_COUNT} hands are dealt", hands=len(body.hands))
    dealt = []
    seen = 0
    for seat, hand in enumerate(body.hands):
        tiles = hand.tiles
        if len(tiles) != HAND_SIZE:
            problem = f"a hand has {HAND_SIZE} tiles"
            raise Refused(Code.DEAL_INVALID, rule="SR-R4", problem=problem, seat=seat, tiles=len(tiles))
        try:
            held = mask_of(tiles, BITS)
        except KeyError:
            held = 0
        if seen & held or held.bit_count() != HAND_SIZE:
            _refuse_hand(tiles, seat, seen)
        seen |= held
        dealt.append(held)
    return tuple(dealt)


def check_opener_drawn(state: State, body: OpenerDrawn) -> None:
    """Raise Refused unless a draw is due, and led to this seat."""
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


def _refuse_hand(tiles: tuple[str, ...], seat: int, seen: int) -> NoReturn:
    """Say what is wrong with the first tile that cannot be dealt after those seen."""
    for place, name in enumerate(tiles):
        tile = TILES.get(name)
        if tile is None:
            # Not its name: a slip of the pen may still tell what somebody holds.
            raise Refused(Code.TILE_UNKNOWN, rule="SR-R2", seat=seat, place=place)
        if seen & tile.bit:
            break
        seen |= tile.bit
    raise Refused(Code.DEAL_INVALID, rule="SR-R2", problem="a tile is dealt twice", seat=seat)


def _only_arm(state: State, tile: Tile, name: str) -> int:
    """The one arm that a tile fits. Raises Refused where there is none, or a choice."""
    arms = arms_for(state, tile)
    if not arms:
        raise Refused(Code.ILLEGAL_MOVE, rule="SR-R11", tile=name, problem="it fits no end")
    if len(arms) > 1:
        raise Refused(Code.ARM_AMBIGUOUS, rule="SR-D8", tile=name, arms=", ".join(ARMS[arm] for arm in arms))
    return arms[0]


def _refuse_arm(state: State, name: str, arm: int) -> NoReturn:
    if state.ends[arm] == CLOSED and arm >= UP:
        rule, problem = "SR-R16", "branches open once both in-line sides of the spinner are taken"
    else:
        rule, problem = "SR-R11", "it does not fit there"
    raise Refused(Code.ILLEGAL_MOVE, rule=rule, tile=name, arm=str(ARMS[arm]), problem=problem)


# The keys are this game's bodies, and each function takes the type it stands under. What it finds is for `apply`.
_CHECKS: Final[Mapping[type[Body], Callable[[State, Any], object]]] = MappingProxyType(
    {
        TilePlayed: checked_placement,
        TurnPassed: check_turn_passed,
        TilesDealt: checked_deal,
        OpenerDrawn: check_opener_drawn,
    }
)
