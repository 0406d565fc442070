"""Seven Rocks: a domino game of two pairs, and its one instance of the rules."""

from heptalog.replay.events import Body, OpenerDrawn, Options, TurnPassed
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded
from heptalog.replay.rules import NO_UPCASTS, Steps, Upcasts, Words
from heptalog.replay.seven_rocks.apply import STEPS, apply
from heptalog.replay.seven_rocks.check import check
from heptalog.replay.seven_rocks.dealing import deal
from heptalog.replay.seven_rocks.events import SevenRocks, TilePlayed, TilesDealt
from heptalog.replay.seven_rocks.legal import legal
from heptalog.replay.seven_rocks.outcomes import BranchesOpened, HandSettled, PointsScored, SpinnerLaid, TileLaid
from heptalog.replay.seven_rocks.state import State, initial
from heptalog.replay.seven_rocks.view import has_seen, owners, view
from heptalog.replay.seven_rocks.words import SevenRocksWords


class SevenRocksRules:
    """Seven Rocks at version 1 of its rules."""

    key: str = "seven_rocks"
    version: int = 1
    options: type[Options] = SevenRocks
    is_lowest_best: bool = False
    bodies: tuple[type[Body], ...] = (TilesDealt, OpenerDrawn, TilePlayed, TurnPassed)
    steps: Steps = STEPS
    upcasts: Upcasts = NO_UPCASTS
    outcomes: tuple[type[Outcome], ...] = (
        TileLaid,
        SpinnerLaid,
        BranchesOpened,
        PointsScored,
        RoundEnded,
        HandSettled,
        MatchWon,
    )
    state: type[State] = State
    words: Words[State] = SevenRocksWords()

    initial = staticmethod(initial)
    check = staticmethod(check)
    apply = staticmethod(apply)
    legal = staticmethod(legal)
    deal = staticmethod(deal)
    view = staticmethod(view)
    owners = staticmethod(owners)
    has_seen = staticmethod(has_seen)


SEVEN_ROCKS = SevenRocksRules()
