"""How a game stands: running, won or closed by the arbiter, and the report after every event."""

from enum import StrEnum

from msgspec import Struct

from heptalog.replay.events import GameClosed
from heptalog.replay.rules import State


class Closed(Struct, frozen=True, gc=False):
    """The State of a game that the arbiter ended: the one that was left, and the ruling on top."""

    state: State
    closing: GameClosed

    @property
    def scores(self) -> tuple[int, ...]:
        return self.state.scores

    @property
    def to_act(self) -> tuple[int, ...]:
        return ()

    @property
    def round(self) -> int:
        return self.state.round

    @property
    def over(self) -> bool:
        return True

    @property
    def winners(self) -> tuple[int, ...]:
        return self.closing.winners


class Status(StrEnum):
    """Where a game is in its life."""

    RUNNING = "RUNNING"
    WON = "WON"  # by the rules
    CLOSED = "CLOSED"  # by the arbiter


class Standing(Struct, frozen=True, rename="camel"):
    """What a replay reports after every event (the contract of the game file)."""

    sequence: int
    scores: tuple[int, ...]
    to_act: tuple[int, ...]
    round: int
    over: bool
    winners: tuple[int, ...]


def standing_of(sequence: int, state: State) -> Standing:
    """The report for a state."""
    return Standing(sequence, state.scores, state.to_act, state.round, state.over, state.winners)


def status_of(state: State) -> Status:
    """Whether a game goes on, was won, or was closed."""
    if isinstance(state, Closed):
        return Status.CLOSED
    return Status.WON if state.over else Status.RUNNING
