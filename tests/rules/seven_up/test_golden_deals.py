"""SU-G1 to SU-G3: one deck at three table sizes, every move given."""

from collections.abc import Sequence
from itertools import count
from typing import Final

import pytest
from msgspec import Struct

from heptalog.replay.outcomes import Outcome
from heptalog.replay.seven_up.dealing import cards_dealt, cards_run
from heptalog.replay.seven_up.outcomes import (
    GameCounted,
    HighScored,
    JackScored,
    JackTurned,
    LowScored,
    RunAgain,
    SuitRejected,
    TrickWon,
    TrumpFixed,
)
from heptalog.replay.seven_up.state import Phase, State
from heptalog.replay.seven_up.tables import HAND_SIZE, NAME_OF, RUN_SIZE
from tests.support.seven_up_positions import (
    advance,
    awaiting_deal,
    beg,
    discard,
    hand,
    plays,
    reject,
    stand,
)

TOP: Final = "KS TD 7S 4D AC JH 8C 5H 2C QS 9D 6S 3D KC TH 7C 4H AD JS 8D 5S 2D QC 9H 6C 3H"
BOTTOM: Final = "KD TS 7D 4S AH JC 8H 5C 2H QD 9S 6D 3S KH TC 7H 4C AS JD 8S 5D 2S QH 9C 6H 3C"
DECK: Final = (*TOP.split(), *BOTTOM.split())


class Golden(Struct, frozen=True):
    """What the rule book says of one table."""

    turned: str
    steps: tuple[Outcome, ...]
    discards: tuple[str, str]  # of elder hand, of the dealer
    hands: tuple[str, ...]
    tricks: tuple[str, ...]
    winners: tuple[int, ...]
    scores: tuple[int, ...]


SU_G1 = Golden(
    turned="3D 8D KD 5C",
    steps=(
        SuitRejected("D"),
        RunAgain("8D"),
        RunAgain("KD"),
        TrumpFixed(suit="C", card="5C"),
        HighScored(seat=0, side=0, card="AC", score=1),
        LowScored(seat=1, side=1, card="2C", score=1),
        JackScored(seat=0, side=0, card="JC", score=2),
        GameCounted(pips=(8, 15), tied=False, side=1, score=2),
    ),
    discards=("2D 4S 5H 5S 7S 7D TD TH TS", "3H 4D 4H 6S 8H 9D 9H JH JS"),
    hands=("AC QS AD 6C AH JC", "KS 8C 2C KC 7C QC"),
    tricks=("1 KS, 0 QS", "1 2C, 0 6C", "0 AH, 1 7C", "1 8C, 0 JC", "0 AD, 1 QC", "1 KC, 0 AC"),
    winners=(1, 0, 1, 0, 1, 0),
    scores=(2, 2),
)
SU_G2 = Golden(
    turned="JS 3H",
    steps=(
        JackTurned(seat=0, side=0, card="JS", score=1),
        SuitRejected("S"),
        TrumpFixed(suit="H", card="3H"),
        HighScored(seat=2, side=2, card="JH", score=1),
        LowScored(seat=0, side=0, card="4H", score=2),
        JackScored(seat=2, side=2, card="JH", score=2),
        GameCounted(pips=(4, 0, 15), tied=False, side=2, score=3),
    ),
    discards=("2D 5S 6S", "2C 6C 7C"),
    hands=("8C 5H 4H AD QC 9H", "KS TD 7S QS 9D 8D", "4D AC JH 3D KC TH"),
    tricks=(
        "1 7S, 2 TH, 0 4H",
        "2 JH, 0 5H, 1 QS",
        "2 3D, 0 9H, 1 8D",
        "0 AD, 1 9D, 2 4D",
        "0 8C, 1 KS, 2 KC",
        "2 AC, 0 QC, 1 TD",
    ),
    winners=(2, 2, 0, 0, 2, 2),
    scores=(2, 0, 3),
)
SU_G3 = Golden(
    turned="6C JC 3S",
    steps=(
        SuitRejected("C"),
        RunAgain("JC"),
        TrumpFixed(suit="S", card="3S"),
        HighScored(seat=1, side=1, card="KS", score=1),
        LowScored(seat=0, side=0, card="4S", score=1),
        JackScored(seat=3, side=1, card="JS", score=2),
        GameCounted(pips=(22, 5), tied=False, side=0, score=2),
    ),
    discards=("2H 3D 3H 5C 8H TD", "2D 6D 7D 9D 9H QC"),
    hands=("QS 6S 4S AH QD 9S", "KS 7S KC TH KD TS", "4D AC JH 7C 4H AD", "8C 5H 2C JS 8D 5S"),
    tricks=(
        "1 7S, 2 4H, 3 5S, 0 4S",
        "1 TS, 2 JH, 3 JS, 0 6S",
        "3 5H, 0 9S, 1 KS, 2 4D",
        "1 TH, 2 AD, 3 8D, 0 QS",
        "0 AH, 1 KD, 2 7C, 3 2C",
        "0 QD, 1 KC, 2 AC, 3 8C",
    ),
    winners=(1, 3, 1, 0, 0, 0),
    scores=(2, 2),
)


def up_to_the_first_lead(golden: Golden) -> tuple[State, list[Outcome]]:
    """Elder hand begs while no suit is rejected and stands afterwards; the dealer always agrees."""
    seats = len(golden.hands)
    state, outcomes = advance(awaiting_deal(seats), cards_dealt(DECK, seat_count=seats, elder=1), beg(1), reject(0))
    for start in count(HAND_SIZE * seats + 1, RUN_SIZE):
        state, followed = advance(state, cards_run(DECK[start : start + RUN_SIZE]))
        outcomes += followed
        if state.phase is not Phase.RUN:
            break
    assert [NAME_OF[card] for card in state.turned] == golden.turned.split()
    elder, dealer = golden.discards
    state, followed = advance(state, stand(1), discard(1, elder), discard(0, dealer))
    return state, outcomes + followed


def scoring(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """What followed up to the count, without the tricks and the end of the round."""
    return tuple(outcome for outcome in outcomes if not isinstance(outcome, TrickWon))[:-1]


@pytest.mark.parametrize("golden", [SU_G1, SU_G2, SU_G3], ids=["SU_G1", "SU_G2", "SU_G3"])
def test_SU_G1_SU_G2_SU_G3_one_deck_at_three_tables(golden: Golden) -> None:
    state, outcomes = up_to_the_first_lead(golden)
    assert [hand(state, seat) for seat in range(len(golden.hands))] == [set(cards.split()) for cards in golden.hands]
    for number, (trick, winner) in enumerate(zip(golden.tricks, golden.winners, strict=True), start=1):
        state, followed = advance(state, *plays(trick))
        won = followed[0]
        assert isinstance(won, TrickWon)
        assert (won.number, won.seat) == (number, winner)
        outcomes += followed
    assert scoring(outcomes) == golden.steps
    assert state.scores == golden.scores
