"""Seven Bridge (Shichi Narabe): the layout game of sevens with pass tokens and ghosts."""

from heptalog.replay.events import Body, CardPlayed, CardsDealt, DealerDrawn, Options, TurnPassed
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded
from heptalog.replay.rules import NO_UPCASTS, Steps, Upcasts, Words
from heptalog.replay.seven_bridge.apply import STEPS, apply
from heptalog.replay.seven_bridge.check import check
from heptalog.replay.seven_bridge.dealing import deal
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_bridge.legal import legal
from heptalog.replay.seven_bridge.outcomes import (
    BonusBooked,
    ColumnCompleted,
    ColumnOpened,
    DecidingRoundCalled,
    ExposedCardPlayed,
    GhostMade,
    JokerCovered,
    PenaltyBooked,
    RoundOpened,
    TokenSpent,
    TotalsBooked,
    TurnWaited,
)
from heptalog.replay.seven_bridge.state import State, initial
from heptalog.replay.seven_bridge.view import has_seen, owners, view
from heptalog.replay.seven_bridge.words import SevenBridgeWords


class SevenBridgeRules:
    """Seven Bridge at version 1 of its rules."""

    key: str = "seven_bridge"
    version: int = 1
    options: type[Options] = SevenBridge
    is_lowest_best: bool = True  # SB-R19
    bodies: tuple[type[Body], ...] = (DealerDrawn, CardsDealt, CardPlayed, TurnPassed)
    steps: Steps = STEPS
    upcasts: Upcasts = NO_UPCASTS
    outcomes: tuple[type[Outcome], ...] = (
        RoundOpened,
        ColumnOpened,
        ColumnCompleted,
        ExposedCardPlayed,
        JokerCovered,
        TokenSpent,
        TurnWaited,
        GhostMade,
        RoundEnded,
        PenaltyBooked,
        BonusBooked,
        TotalsBooked,
        DecidingRoundCalled,
        MatchWon,
    )
    state: type[State] = State
    words: Words[State] = SevenBridgeWords()

    initial = staticmethod(initial)
    check = staticmethod(check)
    apply = staticmethod(apply)
    legal = staticmethod(legal)
    deal = staticmethod(deal)
    view = staticmethod(view)
    owners = staticmethod(owners)
    has_seen = staticmethod(has_seen)


SEVEN_BRIDGE = SevenBridgeRules()
