"""What can follow from an event in Seven Rocks: derived, printed and projected, never recorded."""

from typing import ClassVar

from heptalog.replay.outcomes import Outcome
from heptalog.replay.seven_rocks.events import Arm


class TileLaid(Outcome, frozen=True, gc=False):
    """A tile lies in the line, and its ends are added up (SR-R20); with or without points.

    `arm` is the one it was laid to, named or not, and None for the opening tile. `ends` has what each end that counts
    adds, in the order of the arms; a lone double is one end.
    """

    seat: int
    tile: str
    arm: Arm | None
    ends: tuple[int, ...]
    sum: int


class SpinnerLaid(Outcome, frozen=True, gc=False):
    """The first double of the round lies: the one that branches (SR-R15)."""

    seat: int
    tile: str


class BranchesOpened(Outcome, frozen=True, gc=False):
    """Both in-line sides of the spinner are taken: it counts nothing now, and its branches are free (SR-R16)."""

    tile: str


class PointsScored(Outcome, frozen=True, gc=False):
    """A placement made a positive multiple of five; `score` is the pair's from now on (SR-R20)."""

    seat: int
    side: int
    points: int
    score: int


class HandSettled(Outcome, frozen=True, gc=False):
    """What a seat is left with is taken off its pair's score; there are four of these a round (SR-R25, SR-D24)."""

    shows_hand_of: ClassVar[str] = "seat"
    seat: int
    side: int
    tiles: tuple[str, ...]
    pips: int
    deduction: int
    score: int
