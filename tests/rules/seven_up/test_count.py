"""High, Low, Jack and Game after six tricks (SU-R21 to SU-R25)."""

import pytest
from msgspec.structs import replace

from heptalog.replay.cards import mask_of
from heptalog.replay.outcomes import MatchWon, Outcome, RoundEnded, RoundEndedBy
from heptalog.replay.seven_up.outcomes import GameCounted, HighScored, JackScored, LowScored, TrickWon
from heptalog.replay.seven_up.scoring import game_winner, pips_of
from heptalog.replay.seven_up.state import State
from heptalog.replay.seven_up.tables import BITS
from tests.support.seven_up_positions import advance, after, awaiting_deal, dealt, in_play, plays, stand

V16_HANDS = {0: "AH JH 4S KS 5D QC", 1: "KH 2H AS TS 9D 3C"}
V16_PLAYS = "1 9D, 0 5D, 1 AS, 0 JH, 0 QC, 1 2H, 1 TS, 0 KS, 0 AH, 1 KH, 0 4S, 1 3C"


def first_lead(hands: dict[int, str], *, turned: str, scores: tuple[int, int] = (0, 0)) -> State:
    """Two players, dealer 0, no run: seat 1 is about to lead."""
    return after(awaiting_deal(2, scores=scores), dealt(2, turned, hands), stand(1))


def counted(outcomes: list[Outcome]) -> list[Outcome]:
    """What followed, without the tricks."""
    return [outcome for outcome in outcomes if not isinstance(outcome, TrickWon)]


def test_SU_V16_SU_R21_to_SU_R25_a_full_hand() -> None:
    state, outcomes = advance(first_lead(V16_HANDS, turned="8H"), *plays(V16_PLAYS))
    assert state.scores == (3, 1)
    assert counted(outcomes) == [
        HighScored(seat=0, side=0, card="AH", score=1),
        LowScored(seat=1, side=1, card="2H", score=1),
        JackScored(seat=0, side=0, card="JH", score=2),
        GameCounted(pips=(15, 2), tied=False, side=0, score=3),
        RoundEnded(round=1, by=RoundEndedBy.TRICKS_PLAYED),
    ]


def test_SU_V17_SU_R22_SU_D34_SU_B8_low_stays_with_its_first_holder() -> None:
    state, outcomes = advance(
        first_lead(V16_HANDS, turned="8H"),
        *plays("1 9D, 0 5D, 1 AS, 0 JH, 0 AH, 1 2H, 0 KS, 1 TS, 0 QC, 1 3C, 0 4S, 1 KH"),
    )
    assert state.scores == (3, 1)
    assert LowScored(seat=1, side=1, card="2H", score=1) in outcomes
    assert GameCounted(pips=(14, 3), tied=False, side=0, score=3) in outcomes


def test_SU_V18_SU_R2_SU_D35_SU_B2_SU_B4_the_count_stops_at_seven() -> None:
    state, outcomes = advance(first_lead(V16_HANDS, turned="8H", scores=(6, 6)), *plays(V16_PLAYS))
    assert (state.scores, state.over, state.winners, state.to_act) == ((7, 6), True, (0,), ())
    assert counted(outcomes) == [
        HighScored(seat=0, side=0, card="AH", score=7),
        RoundEnded(round=1, by=RoundEndedBy.TRICKS_PLAYED),
        MatchWon((0,)),
    ]


def test_SU_D35_low_wins_before_jack_and_game_are_counted() -> None:
    state, outcomes = advance(first_lead(V16_HANDS, turned="8H", scores=(5, 6)), *plays(V16_PLAYS))
    assert (state.scores, state.winners) == ((6, 7), (1,))
    assert not any(isinstance(outcome, JackScored | GameCounted) for outcome in outcomes)


def test_SU_V19_SU_R24_SU_D31_a_lone_jack_of_trumps_scores_three_and_the_tie_goes_to_the_other_side() -> None:
    hands = {0: "JH 4S 8S 5D 6D 7C", 1: "AS TS 9D 3C KC QD"}
    state, outcomes = advance(
        first_lead(hands, turned="8H"),
        *plays("1 9D, 0 6D, 1 AS, 0 JH, 0 7C, 1 KC, 1 3C, 0 4S, 1 QD, 0 5D, 1 TS, 0 8S"),
    )
    assert state.scores == (3, 1)
    assert counted(outcomes)[:4] == [
        HighScored(seat=0, side=0, card="JH", score=1),
        LowScored(seat=0, side=0, card="JH", score=2),
        JackScored(seat=0, side=0, card="JH", score=3),
        GameCounted(pips=(5, 5), tied=True, side=1, score=1),
    ]


def test_SU_V20_SU_R25_tens_count_nothing() -> None:
    hands = {0: "TS TD TC JC 2D 3H", 1: "9S QH 9D 8C 4D 5H"}
    state, outcomes = advance(
        first_lead(hands, turned="2S"),
        *plays("1 9S, 0 TS, 0 TD, 1 9D, 0 TC, 1 8C, 0 2D, 1 4D, 1 QH, 0 3H, 1 5H, 0 JC"),
    )
    assert state.scores == (1, 2)
    assert counted(outcomes)[:3] == [
        HighScored(seat=0, side=0, card="TS", score=1),
        LowScored(seat=1, side=1, card="9S", score=1),
        GameCounted(pips=(0, 3), tied=False, side=1, score=2),
    ]


def test_SU_R23_SU_B9_only_the_jack_of_trumps_scores_and_only_who_takes_it() -> None:
    _, outcomes = advance(in_play("JS", "KS", trump="S", number=6), *plays("1 KS, 0 JS"))
    assert JackScored(seat=1, side=1, card="JS", score=2) in outcomes
    _, outcomes = advance(in_play("JD", "KD", trump="S", number=6), *plays("1 KD, 0 JD"))
    assert not any(isinstance(outcome, JackScored) for outcome in outcomes)


def test_SU_D16_SU_V7_the_turned_jack_cannot_be_taken() -> None:
    state = first_lead({0: "2S 3S 4S 5S 6S 7S", 1: "2D 3D 4D 5D 6D 7D"}, turned="JD")
    assert state.scores == (1, 0)
    state, outcomes = advance(state, *plays("1 2D, 0 2S, 1 3D, 0 3S, 1 4D, 0 4S, 1 5D, 0 5S, 1 6D, 0 6S, 1 7D, 0 7S"))
    assert not any(isinstance(outcome, JackScored) for outcome in outcomes)
    assert HighScored(seat=1, side=1, card="7D", score=1) in outcomes


def test_SU_D19_without_trumps_only_game_is_counted() -> None:
    _, outcomes = advance(in_play("AD", "KD", trump="S", number=6), *plays("1 KD, 0 AD"))
    assert counted(outcomes)[:-1] == [GameCounted(pips=(7, 0), tied=False, side=0, score=1)]


def test_SU_R25_partners_count_together() -> None:
    state = in_play("2C", "AS", "KC", "QC", trump="H", number=6, leader=0)
    state = replace(state, captured=(0, mask_of(["AD"], BITS), mask_of(["AH", "KH"], BITS), mask_of(["JD"], BITS)))
    _, outcomes = advance(state, *plays("0 2C, 1 AS, 2 KC, 3 QC"))
    assert GameCounted(pips=(16, 5), tied=False, side=0, score=1) in outcomes


@pytest.mark.parametrize(
    ("pips", "side"),
    [
        ((6, 6), 1),
        ((0, 0), 1),
        ((5, 5, 2), 1),
        ((5, 2, 5), 2),
        ((2, 5, 5), -1),
        ((4, 4, 4), -1),
        ((9, 9), 1),
        ((9, 8), 0),
        ((1, 2, 3), 2),
    ],
)
def test_SU_V21_SU_D31_SU_D32_SU_D33_SU_B3_ties_for_game(pips: tuple[int, ...], side: int) -> None:
    assert game_winner(pips, 0) == side


def test_SU_D33_nobody_scores_where_the_others_tie() -> None:
    state = in_play("2C", "3C", "4C", trump="H", number=6)
    state = replace(state, captured=(0, mask_of(["AD"], BITS), mask_of(["AH"], BITS)))
    state, outcomes = advance(state, *plays("1 3C, 2 4C, 0 2C"))
    assert GameCounted(pips=(0, 4, 4), tied=True) in outcomes
    assert state.scores == (0, 0, 0)


@pytest.mark.parametrize(("cards", "pips"), [("AS", 4), ("KS", 3), ("QS", 2), ("JS", 1), ("TS 9S 2S", 0), ("", 0)])
def test_SU_R25_what_cards_count(cards: str, pips: int) -> None:
    assert pips_of(mask_of(cards.split(), BITS)) == pips


def test_SU_R25_a_whole_pack_counts_forty() -> None:
    assert pips_of(mask_of(BITS, BITS)) == 40
