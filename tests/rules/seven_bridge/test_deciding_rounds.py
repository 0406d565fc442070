"""Seven Bridge: ties and deciding rounds (SB-R21, SB-D18, SB-D19, SB-D31)."""

from collections.abc import Sequence

import pytest

from heptalog.replay.errors import Code
from heptalog.replay.outcomes import MatchWon, RoundEnded, RoundEndedBy
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_bridge.outcomes import DecidingRoundCalled, RoundOpened
from heptalog.replay.seven_bridge.state import Phase, State, seats_in
from heptalog.replay.seven_bridge.tables import DECK, NATURALS
from tests.support.seven_bridge_positions import (
    DEFAULTS,
    advance,
    advance_with_outcomes,
    passes,
    play,
    position,
    refusal,
    split_deck,
)


def tied(
    totals: Sequence[int], *, dealer: int, round_number: int = 5, options: SevenBridge = DEFAULTS
) -> tuple[State, DecidingRoundCalled]:
    """After a round that seat 0 has won, with these totals booked."""
    aces = ["8D", "AC", "AH", "AS", "2C", "2H", "2S"][: len(totals)]
    costs = [0, 1, 1, 1, 2, 2, 2]
    scores = [total - cost for total, cost in zip(totals, costs, strict=False)]
    state = position(aces, "D7-7", scores=scores, dealer=dealer, round_number=round_number, options=options)
    state, outcomes = advance_with_outcomes(state, play(0, "8D"))
    assert state.scores == tuple(totals)
    called = outcomes[-1]
    assert isinstance(called, DecidingRoundCalled)
    return state, called


def test_SB_V15_SB_R21_SB_D18_SB_D19_two_tie_and_play_a_deciding_round() -> None:
    state, called = tied([40, 33, 33, 51], dealer=1)
    assert called == DecidingRoundCalled((1, 2), dealer=2)
    assert (state.to_act, state.over, state.dealer) == ((), False, 2)
    deal = split_deck(NATURALS, seat_count=4, dealer=2, seats=(1, 2))
    assert [len(hand.cards) for hand in deal.hands] == [0, 26, 26, 0]
    state, outcomes = advance_with_outcomes(state, deal)
    opener = state.turn
    assert outcomes == (RoundOpened(6, 2, opener, (1, 2), is_deciding=True),)
    assert (state.round, state.tokens) == (6, (0, 3, 3, 0))
    other = 3 - opener
    state = advance(state, play(opener, "7D"), passes(other), passes(opener))
    assert state.to_act == (other,)
    refused = refusal(state, passes(0))
    assert (refused.code, refused.rule) == (Code.NOT_YOUR_TURN, "SB-R21")


def test_SB_V15_SB_D18_three_tie_and_the_dealer_gets_eighteen() -> None:
    state, called = tied([33, 33, 33, 51], dealer=1)
    assert called == DecidingRoundCalled((0, 1, 2), dealer=2)
    deal = split_deck(NATURALS, seat_count=4, dealer=2, seats=(0, 1, 2))
    assert [len(hand.cards) for hand in deal.hands] == [17, 17, 18, 0]
    advance(state, deal)
    wrong = split_deck(NATURALS, seat_count=4, dealer=0, seats=(0, 1, 2))
    assert refusal(state, wrong).code is Code.DEAL_INVALID


def test_SB_D18_everybody_may_tie() -> None:
    state, called = tied([20, 20, 20], dealer=2)
    assert called == DecidingRoundCalled((0, 1, 2), dealer=0)
    assert state.is_deciding


@pytest.mark.parametrize(
    ("dealer", "next_dealer"), [(0, 1), (1, 3), (2, 3), (3, 1)], ids=["before", "is tied", "between", "round the table"]
)
def test_SB_D19_the_first_tied_player_after_the_last_dealer_deals(dealer: int, next_dealer: int) -> None:
    _, called = tied([40, 33, 51, 33], dealer=dealer)
    assert called == DecidingRoundCalled((1, 3), dealer=next_dealer)


def test_SB_R21_a_tie_above_the_lowest_total_decides_nothing() -> None:
    state = position(["8D", "AC", "AH"], "D7-7", scores=[5, 9, 9], round_number=5)
    assert advance(state, play(0, "8D")).winners == (0,)


def test_SB_D19_the_watchers_get_no_card() -> None:
    state, _ = tied([40, 33, 33, 51], dealer=1)
    refused = refusal(state, split_deck(NATURALS, seat_count=4, dealer=2))
    assert refused.code is Code.DEAL_INVALID


def test_SB_D31_a_tie_under_a_limit_is_decided_in_the_same_way() -> None:
    _, called = tied([101, 33, 33], dealer=0, round_number=3, options=SevenBridge(limit=100))
    assert called == DecidingRoundCalled((1, 2), dealer=1)


def test_SB_D19_an_empty_hand_wins_the_match_and_books_nothing() -> None:
    options = SevenBridge(kings_race=5)
    state = position(
        ["", "KS", "JD 2C", ""],
        "S1-12 D7-7",
        turn=1,
        scores=[40, 33, 33, 51],
        seats=(1, 2),
        columns=[0, 2, 1, 0],
        round_number=6,
        options=options,
    )
    state, outcomes = advance_with_outcomes(state, play(1, "KS"))
    assert outcomes[1:] == (RoundEnded(6, RoundEndedBy.EMPTY_HAND, 1), MatchWon((1,)))
    assert (state.scores, state.winners, state.over, state.round) == ((40, 33, 33, 51), (1,), True, 6)


def test_SB_R13_ghosts_walk_in_deciding_rounds_too() -> None:
    state = position(["", "6D 8D 9C", "JD 2C"], "D7-7", turn=2, tokens=[0, 3, 0], seats=(1, 2), scores=[9, 3, 3])
    state = advance(state, passes(2))
    assert state.to_act == (1,)
    assert advance(state, play(1, "6D")).to_act == (1,)


def exhausted_deciding_round(seats: tuple[int, ...], dealer: int) -> State:
    hands = [["X1", "X2 AC"][seat == seats[0]] if seat in seats[:2] else "" for seat in range(4)]
    return position(
        hands,
        "C2-13 D1-13 H1-13 S1-13",
        turn=seats[0],
        scores=[40, 33, 33, 33],
        seats=seats,
        dealer=dealer,
        round_number=6,
        options=SevenBridge(jokers=2),
    )


def test_SB_V22_SB_D20h_SB_D19_an_exhausted_deciding_round_calls_another() -> None:
    state, outcomes = advance_with_outcomes(exhausted_deciding_round((1, 2), dealer=2), play(1, "AC"))
    assert outcomes[1:] == (RoundEnded(6, RoundEndedBy.EXHAUSTED), DecidingRoundCalled((1, 2), dealer=1))
    assert (state.scores, state.phase, state.over) == ((40, 33, 33, 33), Phase.DEAL, False)
    assert seats_in(state.seats) == (1, 2)
    state = advance(state, split_deck(DECK, seat_count=4, dealer=1, seats=(1, 2)))
    assert state.round == 7


def test_SB_D19_of_another_deciding_round_the_next_tied_player_is_dealer() -> None:
    for dealer, following in ((1, 2), (2, 3), (3, 1)):
        state = exhausted_deciding_round((1, 2, 3), dealer)
        assert advance(state, play(1, "AC")).dealer == following
