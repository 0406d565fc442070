"""Seven Up, a game of the All Fours family for two, three or four players (SU)."""

from heptalog.replay.events import Body, CardPlayed, CardsDealt, DealerDrawn, Options
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded
from heptalog.replay.rules import NO_UPCASTS, Steps, Upcasts, Words
from heptalog.replay.seven_up.apply import STEPS, apply
from heptalog.replay.seven_up.check import check
from heptalog.replay.seven_up.dealing import deal
from heptalog.replay.seven_up.events import CardsDiscarded, CardsRun, InfractionCalled, SevenUp, TrumpDecided
from heptalog.replay.seven_up.legal import legal
from heptalog.replay.seven_up.outcomes import (
    DealVoided,
    GameCounted,
    GiftScored,
    HighScored,
    InfractionCharged,
    JackScored,
    JackTurned,
    LowScored,
    RunAgain,
    SuitRejected,
    TrickWon,
    TrumpFixed,
)
from heptalog.replay.seven_up.state import State, initial
from heptalog.replay.seven_up.view import has_seen, owners, view
from heptalog.replay.seven_up.words import SevenUpWords


class SevenUpRules:
    """Seven Up at version 1 of its rules."""

    key: str = "seven_up"
    version: int = 1
    options: type[Options] = SevenUp
    is_lowest_best: bool = False
    bodies: tuple[type[Body], ...] = (
        DealerDrawn,
        CardsDealt,
        TrumpDecided,
        CardsRun,
        CardsDiscarded,
        CardPlayed,
        InfractionCalled,
    )
    steps: Steps = STEPS
    upcasts: Upcasts = NO_UPCASTS
    outcomes: tuple[type[Outcome], ...] = (
        JackTurned,
        GiftScored,
        SuitRejected,
        RunAgain,
        DealVoided,
        TrumpFixed,
        TrickWon,
        HighScored,
        LowScored,
        JackScored,
        GameCounted,
        InfractionCharged,
        RoundEnded,
        MatchWon,
    )
    state: type[State] = State
    words: Words[State] = SevenUpWords()

    initial = staticmethod(initial)
    check = staticmethod(check)
    apply = staticmethod(apply)
    legal = staticmethod(legal)
    deal = staticmethod(deal)
    view = staticmethod(view)
    owners = staticmethod(owners)
    has_seen = staticmethod(has_seen)


SEVEN_UP = SevenUpRules()
