"""Seven Bridge: the end of a round, penalties, bonuses and the end of the match (SB-R15 to SB-R20, SB-R26)."""

import pytest

from heptalog.replay.events import CardPlayed
from heptalog.replay.outcomes import MatchWon, RoundEnded, RoundEndedBy
from heptalog.replay.seven_bridge.events import Scoring, SevenBridge
from heptalog.replay.seven_bridge.outcomes import BonusBooked, ColumnCompleted, PenaltyBooked, TotalsBooked
from heptalog.replay.seven_bridge.state import Phase, State
from tests.support.seven_bridge_positions import advance, advance_with_outcomes, passes, play, position

KINGS_RACE = SevenBridge(kings_race=5)
COUNT = SevenBridge(scoring=Scoring.COUNT)


def before_the_end_of_V12(options: SevenBridge) -> State:
    hands = ["AC 10C JS QS KS", "8D", ""]
    return position(hands, "D7-7", turn=1, ghosts={2: "JD KC 2H"}, options=options)


def test_SB_V12_SB_R15_SB_R16_SB_R17_SB_D26_the_last_card_ends_the_round_and_the_others_count() -> None:
    state, outcomes = advance_with_outcomes(before_the_end_of_V12(SevenBridge()), play(1, "8D"))
    assert outcomes == (
        RoundEnded(1, RoundEndedBy.EMPTY_HAND, 1),
        PenaltyBooked(0, ("AC", "TC", "JS", "QS", "KS"), 47),
        PenaltyBooked(1, (), 0),
        PenaltyBooked(2, ("KC", "JD", "2H"), 26, was_ghost=True),
        TotalsBooked(1, (47, 0, 26)),
    )
    assert (state.scores, state.to_act, state.phase, state.round) == ((47, 0, 26), (), Phase.DEAL, 1)


def test_SB_D26_the_round_stops_at_the_first_empty_hand() -> None:
    state = position(["8D", "KS 9D", "AC 2C", "QC"], "D7-7", scores=[1, 2, 3, 4])
    state, outcomes = advance_with_outcomes(state, play(0, "8D"))
    assert (state.scores, state.phase) == ((1, 24, 6, 16), Phase.DEAL)
    assert [type(outcome) for outcome in outcomes] == [RoundEnded, *[PenaltyBooked] * 4, TotalsBooked]


def test_SB_V12_SB_R18_with_count_scoring_each_card_costs_one() -> None:
    assert advance(before_the_end_of_V12(COUNT), play(1, "8D")).scores == (5, 0, 3)


def test_SB_R17_penalties_add_up_over_rounds() -> None:
    state = position(["8D", "KS", "AC"], "D7-7", scores=[10, 20, 30])
    assert advance(state, play(0, "8D")).scores == (10, 33, 31)


def test_SB_R2_the_deal_rotates_clockwise_after_each_round() -> None:
    for dealer, following in ((0, 1), (1, 2), (2, 0)):
        assert advance(position(["8D", "KS", "AC"], "D7-7", dealer=dealer), play(0, "8D")).dealer == following


@pytest.mark.parametrize(("card", "layout"), [("KS", "S1-12"), ("AS", "S2-13")])
def test_SB_V13_SB_R26_SB_D15_who_completes_a_column_is_paid_whichever_end_closes_it(card: str, layout: str) -> None:
    state = position(["8D", "2C", f"{card} KC"], f"{layout} D7-7", turn=2, options=KINGS_RACE)
    state, outcomes = advance_with_outcomes(state, play(2, card))
    assert outcomes == (ColumnCompleted(2, "S"),)
    assert state.columns == (0, 0, 1)
    assert state.scores == (0, 0, 0)  # booked at the end of the round
    state, outcomes = advance_with_outcomes(state, play(0, "8D"))
    assert state.scores == (0, 2, 8)
    assert BonusBooked(2, 1, 5) in outcomes


def test_SB_V13_SB_D15_the_winner_of_the_round_may_end_below_zero() -> None:
    state = position(["8D", "2C", "KS"], "S1-12 D7-7", turn=2, options=KINGS_RACE)
    assert advance(state, play(2, "KS")).scores == (8, 2, -5)


def test_SB_V13_SB_D15_an_exposed_card_completes_a_column_for_who_plays_it() -> None:
    state = position(["8D", "2C", ""], "S1-12 D7-7", turn=1, ghosts={2: "KS"}, options=KINGS_RACE)
    assert advance(state, play(1, "KS"), play(0, "8D")).scores == (0, 2 - 5, 13)


def test_SB_D15_a_ghost_keeps_the_bonus_for_a_column_completed_before() -> None:
    state = position(["8D", "2C", ""], "S1-13 D7-7", ghosts={2: "9C"}, columns=[0, 0, 1], options=KINGS_RACE)
    assert advance(state, play(0, "8D")).scores == (0, 2, 4)


def test_SB_D15_each_column_pays_and_count_scoring_pays_the_same() -> None:
    options = SevenBridge(kings_race=5, scoring=Scoring.COUNT)
    state = position(["KS KH", "2C 3C", "4C"], "S1-12 H1-12", options=options)
    assert advance(state, play(0, "KS"), passes(1), passes(2), play(0, "KH")).scores == (-10, 2, 1)


def test_SB_R26_without_the_race_nothing_is_paid() -> None:
    state, outcomes = advance_with_outcomes(position(["KS", "2C", "4C"], "S1-12"), play(0, "KS"))
    assert state.scores == (0, 2, 4)
    assert not [outcome for outcome in outcomes if isinstance(outcome, BonusBooked)]


def test_SB_R10_a_column_that_still_lacks_an_end_is_not_complete() -> None:
    state, outcomes = advance_with_outcomes(position(["KS 9C", "2C", "4C"], "S2-12"), play(0, "KS"))
    assert (state.columns, outcomes) == ((0, 0, 0), ())


def ended_with(scores: list[int], hands: list[str], options: SevenBridge, *, round_number: int = 1) -> State:
    """After the round that seat 1 wins with its last card."""
    state = position(hands, "D7-7", turn=1, scores=scores, options=options, round_number=round_number)
    return advance(state, CardPlayed(1, "8D"))


def test_SB_V14_SB_R20_SB_D17_exactly_the_limit_is_not_enough() -> None:
    state = ended_with([91, 60, 89], ["9C", "8D", "10C"], SevenBridge(limit=100))
    assert (state.scores, state.over) == ((100, 60, 99), False)
    state = ended_with([91, 60, 99], ["10C", "8D", "AC"], SevenBridge(limit=100))
    assert (state.scores, state.over, state.winners) == ((101, 60, 100), True, (1,))


def test_SB_D17_bonuses_are_booked_before_the_limit_is_tested() -> None:
    options = SevenBridge(limit=100, kings_race=5)
    hands, layout = ["10C", "8D", "AC"], "D7-7"
    state = position(hands, layout, turn=1, scores=[91, 60, 50], columns=[1, 0, 0], options=options)
    state = advance(state, play(1, "8D"))
    assert (state.scores, state.over) == ((96, 60, 51), False)


def test_SB_R20_with_a_limit_the_number_of_rounds_is_not_used() -> None:
    options = SevenBridge(limit=100, rounds=1)
    assert not ended_with([0, 0, 0], ["9C", "8D", "10C"], options, round_number=7).over


def test_SB_R19_SB_D16_after_the_agreed_rounds_the_lowest_total_wins() -> None:
    state = position(["8D", "KS", "AC"], "D7-7", scores=[40, 20, 33], round_number=4)
    assert not advance(state, play(0, "8D")).over
    state = position(["8D", "KS", "AC"], "D7-7", scores=[40, 20, 33], round_number=5)
    state, outcomes = advance_with_outcomes(state, play(0, "8D"))
    assert (state.scores, state.winners, state.round) == ((40, 33, 34), (1,), 5)
    assert outcomes[-1] == MatchWon((1,))


def test_SB_R19_a_match_may_be_one_round() -> None:
    assert ended_with([0, 0, 0], ["9C", "8D", "10C"], SevenBridge(rounds=1)).winners == (1,)
