"""The options and events that only Seven Up has. Names and meanings are those of `proto/heptalog/v1/seven_up.proto`."""

from enum import StrEnum
from typing import ClassVar

from heptalog.replay.events import UNSET, Body, CardHand, Options, Seal, Uint32, UnsetType


class SevenUp(Options, frozen=True, gc=False):
    """The options of Seven Up. An absent `target` is 7 (SU-R2)."""

    target: Uint32 | UnsetType = UNSET


class Decision(StrEnum):
    """What is said about the turned suit (SU-R8, SU-R9)."""

    STAND = "STAND"  # elder hand accepts it
    BEG = "BEG"  # elder hand asks for another
    GIVE = "GIVE"  # the dealer keeps it, and elder hand scores one
    RUN = "RUN"  # the dealer rejects it


class TrumpDecided(Body, frozen=True, gc=False):
    """One word of elder hand or dealer on the turned suit (SU-R8, SU-R9)."""

    seat: Uint32 = 0
    decision: Decision | UnsetType = UNSET


class CardsRun(Body, frozen=True, gc=False):
    """Three more cards for elder hand, three for the dealer, and the next one turned (SU-R10)."""

    sealed: ClassVar[tuple[str, ...]] = ("elder", "dealer")
    elder: CardHand = CardHand()
    dealer: CardHand = CardHand()
    turned: str = ""


class CardsDiscarded(Body, frozen=True, gc=False):
    """Elder hand or dealer is back to six cards; what went is face down (SU-R13)."""

    sealed: ClassVar[tuple[str, ...]] = ("",)
    spare: ClassVar[tuple[str, ...]] = ("seal",)
    value_field: ClassVar[str] = "cards"
    seat: Uint32 = 0
    cards: tuple[str, ...] = ()
    seal: Seal | UnsetType = UNSET


class InfractionCalled(Body, frozen=True, gc=False):
    """The arbiter's ruling that `seat` broke a rule of play (SU-R19, SU-D25)."""

    seat: Uint32 = 0
