"""The games there are. A further game needs its folder, its proto file, its bodies in event.proto and a line here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import UNSET, GameStarted, Options
from heptalog.replay.rules import AnyRules
from heptalog.replay.seven_bridge import SEVEN_BRIDGE
from heptalog.replay.seven_rocks import SEVEN_ROCKS
from heptalog.replay.seven_up import SEVEN_UP

# Every version of every game, the newest of a key last. None is ever taken out: recorded games need them.
GAMES: Final[tuple[AnyRules, ...]] = (SEVEN_ROCKS, SEVEN_UP, SEVEN_BRIDGE)

REGISTRY: Final[Mapping[tuple[str, int], AnyRules]] = MappingProxyType(
    {(rules.key, rules.version): rules for rules in GAMES}
)
# What new games are played by: the newest version of each.
NEWEST: Final[Mapping[str, AnyRules]] = MappingProxyType({rules.key: rules for rules in GAMES})
# The games whose points are penalties. What is told of a game is told of all its versions, so they agree in this.
LOWEST_IS_BEST: Final[tuple[str, ...]] = tuple(key for key, rules in NEWEST.items() if rules.is_lowest_best)
# Each game's options once: versions of a game share them, unless one has its own.
OPTIONS: Final[Mapping[type[Options], str]] = MappingProxyType({rules.options: rules.key for rules in GAMES})


def rules_of(started: GameStarted) -> AnyRules:
    """The rules that a game was started under. Raises Refused for a version that is not known here."""
    key = OPTIONS[type(started.rules)]
    # An absent version is 1 for ever, so that the oldest records keep their meaning.
    version = 1 if started.rules_version is UNSET else started.rules_version
    rules = REGISTRY.get((key, version))
    if rules is None or type(started.rules) is not rules.options:
        raise Refused(Code.RULESET_UNKNOWN, rule="game-file", ruleset=key, version=version)
    return rules
