"""A game of Seven Rocks at one moment, how it begins, and small questions about it."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from heptalog.replay.cards import names_in
from heptalog.replay.events import GameStarted
from heptalog.replay.options import check_player_count, given_or, in_range
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.replay.seven_rocks.tables import (
    FITTING,
    MISFIT,
    NO_ENDS,
    PLAYERS_HIGH,
    PLAYERS_LOW,
    RANGES,
    SIDES,
    TARGET_DEFAULT,
    TILE_NAMES,
    Tile,
)

NOBODY: Final = -1


class Phase(StrEnum):
    """What the table waits for."""

    DEAL = "DEAL"  # seven tiles each (SR-R4)
    DRAW = "DRAW"  # the draw for who opens (SR-R5, SR-R7)
    OPEN = "OPEN"  # the opening tile (SR-R9)
    PLAY = "PLAY"  # a tile or a knock of the seat on turn (SR-R10)
    OVER = "OVER"  # nothing: the match is won (SR-R28)


class State(Struct, frozen=True, gc=False):
    """Everything that the rules remember. Seats and sides are NOBODY where there is none, the spinner -1.

    Sets of tiles are bits in the order of `tables.TILE_NAMES`; `ends` are those of `tables`. What was dealt and laid
    stays until the next deal, so that the hands left at a settlement can be seen.
    """

    target: int
    phase: Phase = Phase.DEAL
    round: int = 0
    scores: tuple[int, ...] = (0, 0)
    turn: int = NOBODY
    passes: int = 0  # in a row
    spinner: int = -1  # the value of the first double of the round
    ends: tuple[int, ...] = NO_ENDS  # by arm
    laid: int = 0
    dealt: tuple[int, ...] = (0, 0, 0, 0)  # by seat
    # One number a tile in the order laid: arm, touching half, outer half as octal digits; first half, second half for
    # the opening tile. Rules do not read it: it is there to draw the line.
    line: tuple[int, ...] = ()
    opener: int = NOBODY  # who opens without a draw
    winner: int = NOBODY  # the side

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seat on turn, or nobody."""
        return () if self.turn == NOBODY else (self.turn,)

    @property
    def over(self) -> bool:
        """Whether a pair has won."""
        return self.phase is Phase.OVER

    @property
    def winners(self) -> tuple[int, ...]:
        """Both partners of the pair that won (SR-R28)."""
        return () if self.winner == NOBODY else SIDES[self.winner]


def initial(started: GameStarted) -> State:
    """Begin at 0 to 0 with nothing dealt (SR-R1). Raises Refused for another number of players or a wild target."""
    check_player_count(len(started.players), low=PLAYERS_LOW, high=PLAYERS_HIGH, rule="SR-R1")
    options = started.rules
    assert isinstance(options, SevenRocks), "the registry chooses rules by their options"
    return State(in_range("target", given_or(options.target, default=TARGET_DEFAULT), ranges=RANGES))


def side_of(seat: int) -> int:
    """The pair that a seat scores for (SR-R1)."""
    return seat % len(SIDES)


def held(state: State, seat: int) -> int:
    """The tiles in a seat's hand, as a set."""
    return state.dealt[seat] & ~state.laid


def hand_of(state: State, seat: int) -> tuple[str, ...]:
    """The tiles in a seat's hand, by name."""
    return names_in(held(state, seat), TILE_NAMES)


def are_hands_public(state: State) -> bool:
    """Whether the hands left are shown: from a settlement until the next deal (SR-D30).

    A round that was won in the middle is not settled (SR-R29).
    """
    return state.phase is Phase.DEAL and state.round > 0


def playable(state: State) -> int:
    """The tiles, whoever holds them, that fit somewhere in the line, as a set (SR-R11)."""
    left, right, up, down = state.ends
    return FITTING[left] | FITTING[right] | FITTING[up] | FITTING[down]


def arms_for(state: State, tile: Tile) -> list[int]:
    """The indexes of the arms that a tile fits (SR-D9: equal values on two arms are two)."""
    return [index for index, end in enumerate(state.ends) if tile.onto[end] != MISFIT]
