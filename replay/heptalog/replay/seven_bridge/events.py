"""The options of Seven Bridge; all its events are shared ones."""

from enum import StrEnum

from heptalog.replay.events import UNSET, Options, Uint32, UnsetType


class Scoring(StrEnum):
    """What a card left in hand costs."""

    VALUES = "VALUES"  # SB-R17
    COUNT = "COUNT"  # SB-R18


class SevenBridge(Options, frozen=True, gc=False):
    """The options as recorded; an absent one has the default of `tables`."""

    pass_tokens: Uint32 | UnsetType = UNSET
    opening_seven: str | UnsetType = UNSET
    ghosts: bool | UnsetType = UNSET
    jokers: Uint32 = 0
    joker_penalty: Uint32 | UnsetType = UNSET
    kings_race: Uint32 = 0
    scoring: Scoring | UnsetType = UNSET
    rounds: Uint32 | UnsetType = UNSET
    limit: Uint32 = 0
