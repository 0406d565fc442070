"""The events and options that only Seven Rocks has; fields as in `proto/heptalog/v1/seven_rocks.proto`."""

from enum import StrEnum
from typing import ClassVar

from heptalog.replay.events import UNSET, Body, Options, Part, Seal, Uint32, UnsetType


class SevenRocks(Options, frozen=True, gc=False):
    """Seven Rocks is played; an absent target is 250 (SR-R28)."""

    target: Uint32 | UnsetType = UNSET


class TileHand(Part, frozen=True, gc=False):
    """Tiles that only their owner may see, in the order recorded."""

    value_field: ClassVar[str] = "tiles"
    tiles: tuple[str, ...] = ()
    seal: Seal | UnsetType = UNSET


class TilesDealt(Body, frozen=True, gc=False):
    """Every seat gets its seven tiles (SR-R4)."""

    sealed: ClassVar[tuple[str, ...]] = ("hands",)
    hands: tuple[TileHand, ...] = ()


class Arm(StrEnum):
    """The part of the line that a tile is laid to (game-file)."""

    LEFT = "LEFT"
    RIGHT = "RIGHT"
    UP = "UP"
    DOWN = "DOWN"


class TilePlayed(Body, frozen=True, gc=False):
    """A seat lays one tile (SR-R11).

    The opening tile has no arm, and its first half lies to the left; elsewhere the arm is absent only where exactly
    one fits.
    """

    spare: ClassVar[tuple[str, ...]] = ("arm",)
    seat: Uint32 = 0
    tile: str = ""
    arm: Arm | UnsetType = UNSET
