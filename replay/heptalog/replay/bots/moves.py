"""The move of a bot: any legal one, or the one that looks best from where it sits."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from heptalog.replay.bots import seven_bridge, seven_rocks, seven_up
from heptalog.replay.events import Body
from heptalog.replay.playout import any_of
from heptalog.replay.rules import AnyRules, Choose

# A bot of one game: from the state, of which it looks at what its seat sees, to a legal move.
Bot: TypeAlias = Callable[[Any, int, Choose], Body]


class Strength(StrEnum):
    """How well a bot plays."""

    RANDOM = "RANDOM"  # any legal move
    GREEDY = "GREEDY"  # what looks best now


def move(rules: AnyRules, state: Any, seat: int, strength: Strength, choose: Choose) -> Body:
    """A legal move of a seat that may act. A game that nobody has taught a strength is played by chance."""
    bot = (_GREEDY if strength is Strength.GREEDY else _RANDOM).get(rules.key)
    return any_move(rules, state, seat, choose) if bot is None else bot(state, seat, choose)


def any_move(rules: AnyRules, state: Any, seat: int, choose: Choose) -> Body:
    """Any of the first legal moves of a seat, each with the same chance."""
    return any_of((body for body in rules.legal(state) if getattr(body, "seat", seat) == seat), choose)


_GREEDY: Final[Mapping[str, Bot]] = MappingProxyType(
    {
        "seven_rocks": seven_rocks.greedy,
        "seven_up": seven_up.greedy,
        "seven_bridge": seven_bridge.greedy,
    }
)
# Made and not chosen from a list, which is quicker, and for the discards of one seat tens of thousands long.
_RANDOM: Final[Mapping[str, Bot]] = MappingProxyType(
    {
        "seven_rocks": seven_rocks.by_chance,
        "seven_up": seven_up.by_chance,
        "seven_bridge": seven_bridge.by_chance,
    }
)
