"""What counts as a turn: by kind of event, what a row says of it."""

from collections.abc import Callable, Mapping
from sys import intern
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from heptalog.replay.events import UNSET, Body, CardPlayed, TurnPassed
from heptalog.replay.seven_rocks.events import TilePlayed
from heptalog.replay.seven_up.events import CardsDiscarded, TrumpDecided

# Kind, piece and detail as columns.
Told: TypeAlias = tuple[str, str | None, str | None]


def _tile_played(body: TilePlayed) -> Told:
    return "TILE_PLAYED", intern(body.tile), None if body.arm is UNSET else str(body.arm)


def _card_played(body: CardPlayed) -> Told:
    return "CARD_PLAYED", intern(body.card), intern(body.stands_for) if body.stands_for else None


def _turn_passed(_: TurnPassed) -> Told:
    return "TURN_PASSED", None, None


def _trump_decided(body: TrumpDecided) -> Told:
    return "TRUMP_DECIDED", None, None if body.decision is UNSET else str(body.decision)


def _cards_discarded(_: CardsDiscarded) -> Told:
    # What went away lies face down (SU-R13).
    return "CARDS_DISCARDED", None, None


# The keys are the bodies that seats record when it is their turn; each function takes the type it stands under.
TURNS: Final[Mapping[type[Body], Callable[[Any], Told]]] = MappingProxyType(
    {
        TilePlayed: _tile_played,
        CardPlayed: _card_played,
        TurnPassed: _turn_passed,
        TrumpDecided: _trump_decided,
        CardsDiscarded: _cards_discarded,
    }
)
