"""What can follow from an event of Seven Bridge. Nothing here says more than the table sees."""

from typing import ClassVar

from heptalog.replay.outcomes import Outcome


class RoundOpened(Outcome, frozen=True, gc=False):
    """Cards are dealt and the holder of the opening seven is known (SB-R7)."""

    round: int
    dealer: int
    opener: int
    seats: tuple[int, ...]
    is_deciding: bool = False


class ColumnOpened(Outcome, frozen=True, gc=False):
    """The place of a seven is filled, by it or by a joker (SB-R10a)."""

    seat: int
    suit: str


class ColumnCompleted(Outcome, frozen=True, gc=False):
    """All thirteen places of a column are filled; `seat` filled the last one (SB-D15, SB-D20i)."""

    seat: int
    suit: str


class ExposedCardPlayed(Outcome, frozen=True, gc=False):
    """The card came from those that ghost `owner` exposed; it still counts against the ghost (SB-D9, SB-D11)."""

    shows_hand_of: ClassVar[str] = "owner"

    seat: int
    card: str
    owner: int


class JokerCovered(Outcome, frozen=True, gc=False):
    """The real card is laid on the joker that stood for it; no border changes (SB-D20c)."""

    seat: int
    card: str


class TokenSpent(Outcome, frozen=True, gc=False):
    """A pass cost one token; `left` remain. Whether it was forced is not said (SB-R12)."""

    seat: int
    left: int


class TurnWaited(Outcome, frozen=True, gc=False):
    """Without ghosts, a player with neither a token nor a legal play waits; it costs nothing (SB-R23)."""

    seat: int


class GhostMade(Outcome, frozen=True, gc=False):
    """A pass without a token left: the hand is exposed and its penalty is frozen (SB-R13, SB-D11)."""

    shows_hand_of: ClassVar[str] = "seat"
    seat: int
    cards: tuple[str, ...]
    penalty: int


class PenaltyBooked(Outcome, frozen=True, gc=False):
    """What the cards left cost at the end of a round, one for each seat; the winner's is 0 (SB-R16, SB-R17)."""

    shows_hand_of: ClassVar[str] = "seat"
    seat: int
    cards: tuple[str, ...]
    penalty: int
    was_ghost: bool = False


class BonusBooked(Outcome, frozen=True, gc=False):
    """Points taken off for completed columns in a Race to the Kings (SB-R26)."""

    seat: int
    columns: int
    bonus: int


class TotalsBooked(Outcome, frozen=True, gc=False):
    """The penalty totals by seat after a round."""

    round: int
    totals: tuple[int, ...]


class DecidingRoundCalled(Outcome, frozen=True, gc=False):
    """These seats share the lowest total, or their last deciding round had no winner: they play another (SB-R21)."""

    seats: tuple[int, ...]
    dealer: int
