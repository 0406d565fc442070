"""How a game is played: by how many, and by which options. A game that is not known here has its own defaults."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final, TypeAlias

from heptalog.cli.simulating.chance import Chance
from heptalog.replay.errors import Refused
from heptalog.replay.events import UNSET, GameStarted, Options, Player, UnsetType
from heptalog.replay.registry import NEWEST
from heptalog.replay.rules import AnyRules
from heptalog.replay.seven_bridge.events import Scoring, SevenBridge
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.replay.seven_up.events import SevenUp

Vary: TypeAlias = Callable[[Chance], Options]

_SEATS_MAX: Final = 12
# The usual table has four; these are the others, of which each has the same chance.
_USUAL: Final = 4
_OTHERS_ONE_IN: Final = 3


def options_for(rules: AnyRules, chance: Chance) -> Options:
    """Options for a game of these rules."""
    vary = _VARIED.get(rules.key)
    return rules.options() if vary is None else vary(chance)


def seat_count_for(rules: AnyRules, chance: Chance, *, players: int) -> int:
    """How many play: four most of the time, where they may, and never more than there are."""
    counts = [count for count in _seat_counts(rules.key) if count <= players]
    if _USUAL in counts and not chance.is_one_in(_OTHERS_ONE_IN):
        return _USUAL
    return chance.one_of(counts)


def seats_least(key: str) -> int:
    """How many it takes for a game of these rules."""
    return min(_seat_counts(key))


@cache
def _seat_counts(key: str) -> tuple[int, ...]:
    """The numbers of players that a game itself accepts."""
    return tuple(count for count in range(1, _SEATS_MAX + 1) if _is_accepted(NEWEST[key], count))


def _is_accepted(rules: AnyRules, count: int) -> bool:
    try:
        rules.initial(GameStarted(tuple(Player(str(seat)) for seat in range(count)), rules.options()))
    except Refused:
        return False
    return True


def _seven_rocks(chance: Chance) -> Options:
    targets: Sequence[int | UnsetType] = (UNSET, UNSET, UNSET, 150, 100)
    return SevenRocks(chance.one_of(targets))


def _seven_up(chance: Chance) -> Options:
    targets: Sequence[int | UnsetType] = (UNSET, UNSET, UNSET, UNSET, 11)
    return SevenUp(chance.one_of(targets))


def _seven_bridge(chance: Chance) -> Options:
    return SevenBridge(
        pass_tokens=5 if chance.is_one_in(5) else UNSET,
        opening_seven="7H" if chance.is_one_in(4) else UNSET,
        ghosts=False if chance.is_one_in(6) else UNSET,
        jokers=2 if chance.is_one_in(4) else 0,
        kings_race=5 if chance.is_one_in(4) else 0,
        scoring=Scoring.COUNT if chance.is_one_in(4) else UNSET,
        rounds=chance.one_of((1, 2, 2, 3)),
    )


_VARIED: Final[Mapping[str, Vary]] = MappingProxyType(
    {"seven_rocks": _seven_rocks, "seven_up": _seven_up, "seven_bridge": _seven_bridge}
)
