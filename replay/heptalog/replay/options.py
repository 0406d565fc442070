"""What a game may begin with: its number of players and its options, each held against the game's tables."""

from collections.abc import Mapping
from typing import TypeVar

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import UnsetType

T = TypeVar("T")


def check_player_count(count: int, *, low: int, high: int, rule: str) -> None:
    """Raise Refused unless so many can play."""
    if not low <= count <= high:
        raise Refused(Code.PLAYERS_INVALID, rule=rule, players=count, low=low, high=high)


def given_or(given: T | UnsetType, *, default: T) -> T:
    """An option as it was given, or the default of an absent one."""
    return default if isinstance(given, UnsetType) else given


def in_range(option: str, value: int, *, ranges: Mapping[str, tuple[int, int]]) -> int:
    """The value of an option. Raises Refused where it is out of its range."""
    low, high = ranges[option]
    if not low <= value <= high:
        raise Refused(Code.OPTION_OUT_OF_RANGE, rule="game-file", option=option, value=value, low=low, high=high)
    return value


def one_of(option: str, value: T, *, choices: tuple[T, ...]) -> T:
    """The value of an option. Raises Refused where it is none of a few."""
    if value not in choices:
        raise Refused(
            Code.OPTION_OUT_OF_RANGE,
            rule="game-file",
            option=option,
            value=value,
            low=choices[0],
            high=choices[-1],
            choices=" or ".join(map(str, choices)),
        )
    return value
