"""Infractions are the arbiter's to call (SU-R19, SU-R20, SU-D25 to SU-D30)."""

from heptalog.replay.errors import Code
from heptalog.replay.outcomes import MatchWon
from heptalog.replay.seven_up.events import InfractionCalled
from heptalog.replay.seven_up.outcomes import InfractionCharged
from tests.support.seven_up_positions import (
    advance,
    after,
    awaiting_deal,
    beg,
    dealt,
    discard,
    in_play,
    plays,
    refusal,
    reject,
    run,
    stand,
)


def test_SU_V22a_SU_D28_the_point_of_an_infraction_can_win_the_match() -> None:
    state, outcomes = advance(in_play("2C", "3C", trump="H", number=2, scores=(3, 6)), InfractionCalled(0))
    assert (state.scores, state.over, state.winners, state.to_act) == ((3, 7), True, (1,), ())
    assert outcomes == [InfractionCharged(seat=0, side=1, points=1, score=7), MatchWon((1,))]
    assert refusal(state, InfractionCalled(0)).code is Code.GAME_OVER


def test_SU_V22b_SU_R19_SU_R20_SU_D26_the_other_pair_gains_at_once_and_play_goes_on() -> None:
    given = in_play("2C", "3C", "4C", "5C", trump="H", number=2, scores=(5, 5), trick="9C")
    state, outcomes = advance(given, InfractionCalled(2))
    assert (state.scores, state.to_act, state.trick, state.hands) == ((5, 6), given.to_act, given.trick, given.hands)
    assert outcomes == [InfractionCharged(seat=2, side=1, points=1, score=6)]


def test_SU_V22c_SU_D29_of_three_the_offender_loses_one_below_zero_too() -> None:
    state, outcomes = advance(in_play("2C", "3C", "4C", trump="H", scores=(0, 4, 6)), InfractionCalled(0))
    assert (state.scores, state.over) == ((-1, 4, 6), False)
    assert outcomes == [InfractionCharged(seat=0, side=0, points=-1, score=-1)]


def test_SU_D30_each_infraction_costs_one() -> None:
    state = after(in_play("2C", "3C", trump="H"), InfractionCalled(0), InfractionCalled(0), InfractionCalled(1))
    assert state.scores == (1, 2)


def test_SU_D27_from_the_moment_trump_is_fixed_and_all_hands_are_six() -> None:
    state = after(awaiting_deal(2), dealt(2, "5S"))
    assert refusal(state, InfractionCalled(0)).code is Code.WRONG_PHASE
    assert after(state, stand(1), InfractionCalled(0)).scores == (0, 1)
    state = after(state, beg(1))
    assert refusal(state, InfractionCalled(0)).code is Code.WRONG_PHASE
    state = after(state, reject(0))
    assert refusal(state, InfractionCalled(0)).code is Code.WRONG_PHASE
    state = after(state, run(state, "TH", elder="AH KH QH", dealer="AD KD QD"), stand(1), discard(1, "AH KH QH"))
    assert refusal(state, InfractionCalled(0)).code is Code.WRONG_PHASE
    assert after(state, discard(0, "AD KD QD"), InfractionCalled(0)).scores == (0, 1)


def test_SU_D27_until_the_last_card_of_trick_six_and_between_tricks() -> None:
    state = in_play("2C AS", "3C 9S", trump="H", number=5)
    between = after(state, *plays("1 3C, 0 2C"), InfractionCalled(1))
    assert between.scores == (1, 0)
    last = after(between, *plays("1 9S"), InfractionCalled(1))
    assert last.scores == (2, 0)
    assert refusal(after(last, *plays("0 AS")), InfractionCalled(1)).code is Code.WRONG_PHASE


def test_SU_D27_any_seat_may_have_offended_but_it_must_be_there() -> None:
    state = in_play("2C", "3C", "4C", trump="H")
    for seat in range(3):
        assert after(state, InfractionCalled(seat)).scores[seat] == -1
    for seat in (3, 2**32 - 1, -1):
        assert refusal(state, InfractionCalled(seat)).code is Code.SEAT_UNKNOWN
