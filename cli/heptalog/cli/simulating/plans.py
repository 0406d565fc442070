"""What is simulated. Every game is a function of the plan and its number, so more games change none of the first."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

PLAYERS_DEFAULT: Final = 400
TOURNAMENTS_DEFAULT: Final = 6
MONTHS_DEFAULT: Final = 6
# Raised with anything that makes other games of the same arguments; it is part of every game's chance.
_VERSION: Final = 1


class Bots(StrEnum):
    """Who plays."""

    RANDOM = "random"  # any legal move
    GREEDY = "greedy"  # the move that looks best
    MIXED = "mixed"  # everybody a mixture of their own


class Plan(Struct, frozen=True):
    """What shapes the games: two plans that differ in anything have no game in common.

    `rulesets` are keys of rules, `tournaments` how many there are in the first season, `months` how long a season is;
    with a `tournament` all games belong to it.
    """

    rulesets: tuple[str, ...]
    seed: int = 7
    bots: Bots = Bots.MIXED
    players: int = PLAYERS_DEFAULT
    tournament: str = ""
    tournaments: int = TOURNAMENTS_DEFAULT
    months: int = MONTHS_DEFAULT

    def key(self, *parts: object) -> str:
        """The text that all chance of one part of the plan comes from."""
        shape = (
            self.seed,
            self.rulesets,
            self.bots.value,
            self.players,
            self.tournament,
            self.tournaments,
            self.months,
        )
        return f"heptalog.simulate.{_VERSION} {shape} {parts}"
