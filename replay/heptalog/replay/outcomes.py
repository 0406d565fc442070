"""What can follow from an event, in every game. Outcomes are derived: printed and projected, never recorded."""

from enum import StrEnum
from typing import Any, ClassVar

from msgspec import Struct, to_builtins

from heptalog.replay.events import camel_case


class Outcome(Struct, frozen=True, gc=False):
    """Something that follows from an event by the rules. What only one game has stands in its folder."""

    # The field with the seat of whose hidden hand it tells, where it tells of one.
    shows_hand_of: ClassVar[str] = ""


def fields_of(outcome: Outcome) -> dict[str, Any]:
    """What an outcome says, as plain values named as in JSON."""
    return {camel_case(name): value for name, value in to_builtins(outcome).items()}


class RoundEndedBy(StrEnum):
    """Why a round ended."""

    EMPTY_HAND = "EMPTY_HAND"  # SR-R23, SB-R15
    BLOCKED = "BLOCKED"  # SR-R24
    EXHAUSTED = "EXHAUSTED"  # SB-D20h
    TRICKS_PLAYED = "TRICKS_PLAYED"  # SU-R14
    VOID = "VOID"  # SU-D8, SU-D9


class RoundEnded(Outcome, frozen=True, gc=False):
    """A round is over. `seat` is who ended it by an empty hand; -1 where nobody did."""

    round: int
    by: RoundEndedBy
    seat: int = -1


class MatchWon(Outcome, frozen=True, gc=False):
    """The match is over; `winners` are seats, ascending."""

    winners: tuple[int, ...]


class MovesTakenBack(Outcome, frozen=True, gc=False):
    """The state is again what it was after `to_sequence`."""

    to_sequence: int


class GameEndedByArbiter(Outcome, frozen=True, gc=False):
    """The arbiter closed the game."""

    winners: tuple[int, ...]
