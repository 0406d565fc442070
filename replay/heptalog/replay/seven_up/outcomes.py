"""What can follow from an event of Seven Up. Every point names its side and that side's score after it."""

from enum import StrEnum

from heptalog.replay.outcomes import Outcome
from heptalog.replay.seven_up.state import NOBODY


class JackTurned(Outcome, frozen=True, gc=False):
    """The dealer scores one for a turned jack whose suit is not rejected (SU-R6)."""

    seat: int
    side: int
    card: str
    score: int


class GiftScored(Outcome, frozen=True, gc=False):
    """Elder hand scores one because the dealer keeps the suit (SU-R9)."""

    seat: int
    side: int
    score: int


class SuitRejected(Outcome, frozen=True, gc=False):
    """A suit cannot become trump any more in this deal (SU-R8, SU-R11)."""

    suit: str


class RunAgain(Outcome, frozen=True, gc=False):
    """The turned card is of a rejected suit: the cards are run once more, without a decision (SU-D7)."""

    card: str


class VoidReason(StrEnum):
    """Why no more cards can be run."""

    STOCK_SHORT = "STOCK_SHORT"  # SU-D8: fewer than seven cards are left
    SUITS_REJECTED = "SUITS_REJECTED"  # SU-D9: no suit is left


class DealVoided(Outcome, frozen=True, gc=False):
    """Nobody can fix trump any more; `seat` deals again (SU-D8, SU-D9, SU-D11)."""

    seat: int
    reason: VoidReason


class TrumpFixed(Outcome, frozen=True, gc=False):
    """The suit of the turned card is trump (SU-R8, SU-R9)."""

    suit: str
    card: str


class TrickWon(Outcome, frozen=True, gc=False):
    """`seat` takes trick `number`; `cards` are as played, from `leader` on clockwise (SU-R18)."""

    number: int
    leader: int
    seat: int
    side: int
    cards: tuple[str, ...]


class HighScored(Outcome, frozen=True, gc=False):
    """`seat` held the highest trump at the first lead (SU-R21)."""

    seat: int
    side: int
    card: str
    score: int


class LowScored(Outcome, frozen=True, gc=False):
    """`seat` held the lowest trump at the first lead, whoever took it (SU-R22, SU-D34)."""

    seat: int
    side: int
    card: str
    score: int


class JackScored(Outcome, frozen=True, gc=False):
    """`seat` took the jack of trumps (SU-R23)."""

    seat: int
    side: int
    card: str
    score: int


class GameCounted(Outcome, frozen=True, gc=False):
    """The pips each side took; `side` scores one for Game, or NOBODY does (SU-R25, SU-D31 to SU-D33)."""

    pips: tuple[int, ...]
    tied: bool
    side: int = NOBODY
    score: int = 0


class InfractionCharged(Outcome, frozen=True, gc=False):
    """`seat` broke a rule: `side` gains one, or with three players the offender's loses it (SU-R19, SU-D29)."""

    seat: int
    side: int
    points: int
    score: int
