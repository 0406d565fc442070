"""A game of Seven Rocks at one moment, how it begins, and small questions about it."""

from enum import StrEnum

from msgspec import UNSET, Struct

from heptalog.replay.cards import names_in
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import GameStarted
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.replay.seven_rocks.tables import (
    FITTING,
    MISFIT,
    NO_ENDS,
    SEAT_COUNT,
    SIDES,
    TARGET_DEFAULT,
    TARGET_HIGH,
    TARGET_LOW,
    TILE_NAMES,
    Tile,
)


class Phase(StrEnum):
    """What the game waits for."""

    DEAL = "DEAL"
    DRAW = "DRAW"
    OPENING = "OPENING"
    PLAYING = "PLAYING"
    OVER = "OVER"


class State(Struct, frozen=True, gc=False):
    """Everything that the rules remember. Seats, sides and spinner are -1 where there is none.

    Sets of tiles are bits in the order of `tables.TILE_NAMES`; `ends` are those of `tables`. What was dealt and laid
    stays until the next deal, so that the hands left at a settlement can be seen.
    """

    target: int
    phase: Phase = Phase.DEAL
    round: int = 0
    scores: tuple[int, int] = (0, 0)
    turn: int = -1
    passes: int = 0  # in a row
    spinner: int = -1  # the value of the first double of the round
    ends: tuple[int, int, int, int] = NO_ENDS
    laid: int = 0
    dealt: tuple[int, int, int, int] = (0, 0, 0, 0)
    # One number a tile in the order laid: arm, touching half, outer half as octal digits; first half, second half for
    # the opening tile. Rules do not read it: it is there to draw the line.
    line: tuple[int, ...] = ()
    opener: int = -1  # who opens without a draw
    winner: int = -1  # the side

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seat on turn, or nobody."""
        return (self.turn,) if self.turn >= 0 else ()

    @property
    def over(self) -> bool:
        """Whether a pair has won."""
        return self.phase is Phase.OVER

    @property
    def winners(self) -> tuple[int, ...]:
        """Both partners of the pair that won (SR-R28)."""
        return SIDES[self.winner] if self.winner >= 0 else ()


def initial(started: GameStarted) -> State:
    """Begin at 0 to 0 with nothing dealt (SR-R1). Raises Refused for another number of players or a wild target."""
    players = len(started.players)
    if players != SEAT_COUNT:
        raise Refused(Code.PLAYERS_INVALID, rule="SR-R1", count=players, low=SEAT_COUNT, high=SEAT_COUNT)
    assert isinstance(started.rules, SevenRocks), "the registry chooses rules by their options"
    target = TARGET_DEFAULT if started.rules.target is UNSET else started.rules.target
    if not TARGET_LOW <= target <= TARGET_HIGH:
        raise Refused(
            Code.OPTION_OUT_OF_RANGE, rule="game-file", option="target", value=target, low=TARGET_LOW, high=TARGET_HIGH
        )
    return State(target)


def held(state: State, seat: int) -> int:
    """The tiles in a seat's hand, as a set."""
    return state.dealt[seat] & ~state.laid


def hand_of(state: State, seat: int) -> tuple[str, ...]:
    """The tiles in a seat's hand, by name."""
    return names_in(held(state, seat), TILE_NAMES)


def playable(state: State) -> int:
    """The tiles, whoever holds them, that fit somewhere in the line, as a set (SR-R11)."""
    left, right, up, down = state.ends
    return FITTING[left] | FITTING[right] | FITTING[up] | FITTING[down]


def arms_for(state: State, tile: Tile) -> list[int]:
    """The indexes of the arms that a tile fits (SR-D9: equal values on two arms are two)."""
    return [index for index, end in enumerate(state.ends) if tile.onto[end] != MISFIT]
