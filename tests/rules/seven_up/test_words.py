"""How Seven Up is told to people."""

import pytest
from msgspec import UNSET

from heptalog.replay.events import Body, CardPlayed, DealerDrawn, Draw, Lot, Seal
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.seven_up import SEVEN_UP, words
from heptalog.replay.seven_up.events import CardsDiscarded, InfractionCalled, TrumpDecided
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
    VoidReason,
)
from tests.support.seven_up_positions import (
    NAMES,
    after,
    awaiting_deal,
    beg,
    dealt,
    discard,
    give,
    in_play,
    plays,
    reject,
    run,
    stand,
)

WORDS = SEVEN_UP.words
RUN = run(awaiting_deal(2), "9H")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (DealerDrawn(1), "Bo deals first"),
        (
            DealerDrawn(1, (Lot((Draw(0, 9), Draw(1, 9))), Lot((Draw(0, 2), Draw(1, 4))))),
            "Bo deals first (drawn: Ana 9, Bo 9; then Ana 2, Bo 4)",
        ),
        (dealt(2, "5S"), "Six cards each, 5S is turned"),
        (stand(1), "Bo stands"),
        (beg(1), "Bo begs"),
        (give(0), "Ana gives one and keeps the suit"),
        (reject(0), "Ana runs the cards"),
        (TrumpDecided(0, UNSET), "Ana says nothing"),
        (RUN, "Three cards more for elder hand and dealer, 9H is turned"),
        (discard(0, "2C 3C 4C"), "Ana discards 3 cards"),
        (CardsDiscarded(0, (), Seal(b"", b"", 6)), "Ana discards 6 cards"),
        (CardPlayed(2, "7D"), "Chie plays 7D"),
        (CardPlayed(9, "7D"), "seat 9 plays 7D"),
        (InfractionCalled(3), "The arbiter calls an infraction by Dag"),
    ],
)
def test_SU_words_of_events(body: Body, text: str) -> None:
    assert WORDS.event(body, NAMES) == text


@pytest.mark.parametrize(
    ("outcome", "pairs", "text"),
    [
        (JackTurned(seat=0, side=0, card="JC", score=1), True, "Ana scores 1 for turning JC"),
        (GiftScored(seat=1, side=1, score=1), True, "Bo scores 1 as a gift"),
        (SuitRejected("S"), True, "spades are rejected"),
        (RunAgain("JS"), True, "JS is of a rejected suit"),
        (
            DealVoided(seat=0, reason=VoidReason.STOCK_SHORT),
            True,
            "the deal is void, too few cards are left to run; Ana deals again",
        ),
        (
            DealVoided(seat=0, reason=VoidReason.SUITS_REJECTED),
            True,
            "the deal is void, all four suits are rejected; Ana deals again",
        ),
        (TrumpFixed(suit="H", card="9H"), True, "hearts are trump"),
        (TrickWon(number=2, leader=0, seat=1, side=1, cards=("2C", "3C")), False, "Bo wins trick 2"),
        (HighScored(seat=0, side=0, card="AH", score=1), True, "Ana scores 1 for High (AH)"),
        (LowScored(seat=0, side=0, card="2H", score=1), True, "Ana scores 1 for Low (2H)"),
        (JackScored(seat=0, side=0, card="JH", score=1), True, "Ana scores 1 for Jack (JH)"),
        (GameCounted(pips=(9, 9), tied=True, side=1, score=1), True, "Bo and Dag score 1 for Game (9 to 9, a tie)"),
        (GameCounted(pips=(9, 8), tied=False, side=0, score=1), False, "Ana scores 1 for Game (9 to 8)"),
        (GameCounted(pips=(2, 5, 5), tied=True), False, "nobody scores for Game (2 to 5 to 5, a tie)"),
        (InfractionCharged(seat=0, side=1, points=1, score=1), True, "Bo and Dag score 1 for the infraction"),
        (InfractionCharged(seat=0, side=1, points=1, score=1), False, "Bo scores 1 for the infraction"),
        (InfractionCharged(seat=0, side=0, points=-1, score=-1), False, "Ana loses 1 for the infraction"),
        (RoundEnded(round=3, by=RoundEndedBy.TRICKS_PLAYED), True, "round 3 ends"),
        (RoundEnded(round=3, by=RoundEndedBy.VOID), True, "round 3 ends without a count"),
        (MatchWon((0, 2)), True, "Ana and Chie win the match"),
        (MatchWon((1,)), False, "Bo wins the match"),
    ],
)
def test_SU_words_of_outcomes(outcome: Outcome, *, pairs: bool, text: str) -> None:
    assert WORDS.outcome(outcome, NAMES if pairs else NAMES[:3]) == text


def test_SU_words_of_every_event_and_outcome_are_there() -> None:
    assert set(words._EVENTS) == set(SEVEN_UP.bodies)
    assert set(words._OUTCOMES) == set(SEVEN_UP.outcomes)


def test_SU_words_of_the_table_before_the_draw_and_the_deal() -> None:
    assert WORDS.table(awaiting_deal(2, dealer=1), NAMES[:2]) == [
        "Round 0 · waiting for the deal",
        "Score: Ana 0 · Bo 0",
        "  Ana  elder",
        "  Bo   dealer",
    ]


def test_SU_words_of_the_table_while_the_dealer_decides() -> None:
    state = after(awaiting_deal(4), dealt(4, "JC"), beg(1))
    assert WORDS.table(state, NAMES) == [
        "Round 1 · waiting for the dealer's word · turned JC · stock 27",
        "Score: Ana and Chie 1 · Bo and Dag 0",
        "> Ana   dealer  2C 3C 4C 5C 6C 7C",
        "  Bo    elder   8C 9C TC QC KC AC",
        "  Chie          2D 3D 4D 5D 6D 7D",
        "  Dag           8D 9D TD JD QD KD",
    ]


def test_SU_words_of_the_table_in_a_trick() -> None:
    state = after(in_play("AS 2C", "9S 3C", trump="H", number=2), *plays("1 9S, 0 AS, 0 2C"))
    assert WORDS.table(state, NAMES[:2]) == [
        "Round 1 · trick 3 of 6 · trump H",
        "Score: Ana 0 · Bo 0",
        "  Ana  dealer      (1 trick)",
        "> Bo   elder   3C",
        "Trick: Ana 2C",
    ]


def test_SU_words_of_the_table_stand_in_columns_whatever_the_hands() -> None:
    begun = in_play("AS 2C", "9S 3C 4C 8D", "TS 5C 6D", trump="H", number=4)
    state = after(begun, *plays("1 9S, 2 TS, 0 AS, 0 2C, 1 3C, 2 5C"))
    assert WORDS.table(state, NAMES[:3])[2:] == [
        "  Ana   dealer         (1 trick)",
        "  Bo    elder   4C 8D",
        "> Chie          6D     (1 trick)",
    ]
