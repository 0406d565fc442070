"""The decisions on open questions of Seven Rocks, and bugs seen in similar programs, by their numbers."""

import pytest

from heptalog.replay.errors import Code
from heptalog.replay.events import UNSET, OpenerDrawn, TurnPassed
from heptalog.replay.outcomes import RoundEnded, RoundEndedBy
from heptalog.replay.seven_rocks import SEVEN_ROCKS
from heptalog.replay.seven_rocks.events import Arm, TilePlayed
from heptalog.replay.seven_rocks.outcomes import HandSettled, PointsScored, TileLaid
from heptalog.replay.seven_rocks.state import Phase, hand_of
from tests.support.seven_rocks_positions import DOWN, LEFT, RIGHT, UP, Table, filled


def test_SR_D1_a_draw_may_be_a_bare_outcome() -> None:
    assert Table.before_draw().take(OpenerDrawn(3)).state.to_act == (3,)


def test_SR_D2_the_deal_comes_before_the_draw() -> None:
    assert Table.before_deal().refuses(OpenerDrawn(0), Code.WRONG_PHASE, "SR-R5")


@pytest.mark.parametrize("value", range(7))
def test_SR_D4_a_lone_double_counts_twice_its_value_once(value: int) -> None:
    table = Table.with_round(filled(f"{value}-{value}"))
    assert table.play(f"{value}-{value}")[0] == 2 * value
    assert table.one(TileLaid).ends == (2 * value,)


@pytest.mark.parametrize(("first", "second"), [(LEFT, RIGHT), (RIGHT, LEFT)])
def test_SR_D4_either_side_of_a_lone_double_comes_first(first: Arm, second: Arm) -> None:
    table = Table.with_round(filled("4-4", "4-1", "4-2", "4-3"))
    table.play("4-4")
    assert table.offers("4-1") == {LEFT, RIGHT}
    assert table.refuses_play("4-1", UNSET, Code.ARM_AMBIGUOUS, "SR-D8")
    assert table.play("4-1", first)[0] == 8 + 1
    assert table.offers("4-2") == {second}
    assert table.refuses_play("4-2", first, Code.ILLEGAL_MOVE, "SR-R11")
    assert table.play("4-2", second)[0] == 1 + 2
    assert table.offers("4-3") == {UP, DOWN}
    assert table.refuses_play("4-3", UNSET, Code.ARM_AMBIGUOUS, "SR-D8")


@pytest.mark.parametrize("arm", [LEFT, RIGHT])
def test_SR_D5_the_line_of_a_later_spinner_is_its_first_side(arm: Arm) -> None:
    table = Table.with_round(filled("4-6" if arm is RIGHT else "6-4", "6-6", "6-1", "6-0"))
    table.play("4-6" if arm is RIGHT else "6-4")
    assert table.play("6-6", arm)[0] == 4 + 12
    assert table.offers("6-1") == {arm}
    assert table.play("6-1")[0] == 4 + 1
    assert table.one(TileLaid).arm is arm
    assert table.offers("6-0") == {UP, DOWN}


def test_SR_D5_the_far_end_does_not_open_the_branches() -> None:
    table = Table.with_round(filled("4-6", "6-6", "4-1", "6-0"))
    table.play("4-6")
    table.play("6-6", RIGHT)
    assert table.play("4-1", LEFT)[0] == 1 + 12
    assert table.offers("6-0") == {RIGHT}
    assert table.refuses_play("6-0", UP, Code.ILLEGAL_MOVE, "SR-R16")


def test_SR_D6_a_used_side_counts_beside_the_spinner() -> None:
    table = Table.with_round(filled("5-5", "5-0"))
    table.play("5-5")
    table.play("5-0", LEFT)
    assert table.one(TileLaid).ends == (0, 10)


def test_SR_D8_an_arm_may_be_left_out_where_one_fits() -> None:
    table = Table.with_round(filled("4-6", "4-1", "6-3", "6-1"))
    table.play("4-6")
    table.play("1-4")
    assert table.one(TileLaid) == TileLaid(seat=1, tile="4-1", arm=LEFT, ends=(1, 6), sum=7)
    table.play("6-3")
    assert table.one(TileLaid).arm is RIGHT


def test_SR_D8_two_values_on_two_ends_are_two_arms() -> None:
    table = Table.with_round(filled("4-6 2-2", "4-1", "1-6"))
    table.play("4-6")
    table.play("4-1")
    refused = table.refusal(TilePlayed(2, "6-1"))
    assert (refused.code, refused.facts) == (Code.ARM_AMBIGUOUS, {"tile": "6-1", "arms": "LEFT, RIGHT"})
    assert table.play("6-1", RIGHT)[0] == 1 + 1


def test_SR_D8_the_last_branch_may_be_left_out() -> None:
    table = Table.with_round(filled("1-1 1-5", "1-2", "1-3", "1-4"))
    for tile, arm in (("1-1", UNSET), ("1-2", LEFT), ("1-3", RIGHT), ("1-4", UP)):
        table.play(tile, arm)
    table.play("1-5")
    assert table.one(TileLaid).arm is DOWN


def test_SR_D9_double_and_single_ends_of_one_value_differ() -> None:
    table = Table.with_position("5-1 6-6", "6-0", "6-1", "6-2", ends=["5", "5-5"], turn=0)
    after = {arm: Table(table.state).play("5-1", arm)[0] for arm in (LEFT, RIGHT)}
    assert after == {LEFT: 1 + 10, RIGHT: 5 + 1}


@pytest.mark.parametrize("tile", ["4-1", "1-4"])
def test_SR_D10_the_touching_half_lies_inside(tile: str) -> None:
    table = Table.with_round(filled("4-6", "4-1"))
    table.play("4-6")
    assert table.play(tile, LEFT)[0] == 1 + 6
    assert table.state.ends[0] == 1


def test_SR_D12_nought_makes_no_score() -> None:
    table = Table.with_position("0-1 6-6", "5-5", "4-4", "3-3", ends=["1", "0"], turn=0)
    assert table.play("0-1", LEFT) == (0, (0, 0))
    assert not table.every(PointsScored)


def test_SR_D13_a_refused_pass_costs_nothing() -> None:
    table = Table.with_position("0-1 6-6", "5-5", "4-4", "3-3", ends=["1", "0"], turn=0)
    assert table.refuses(TurnPassed(0), Code.MUST_PLAY, "SR-R12")
    assert (table.state.to_act, table.state.scores) == ((0,), (0, 0))


def test_SR_D14_passing_is_one_move() -> None:
    table = Table.with_position("1-2", "1-1", "2-3", "4-4", ends=["0", "0"], turn=0)
    assert list(SEVEN_ROCKS.legal(table.state)) == [TurnPassed(0)]


def test_SR_D15_a_placement_breaks_the_row_of_passes() -> None:
    table = Table.with_position("1-2", "1-1", "2-3", "4-0 5-5", ends=["0", "0"], turn=0)
    table.knock(3)
    table.play("4-0", LEFT)
    table.knock(3)
    assert (table.state.phase, table.state.passes, table.state.to_act) == (Phase.PLAY, 3, (3,))
    table.knock()
    assert table.one(RoundEnded).by is RoundEndedBy.BLOCKED


def test_SR_D16_nobody_passes_without_an_event() -> None:
    # Nobody but seat 3 can play, and still each of the three knocks in turn.
    table = Table.with_position("1-2", "1-1", "2-3", "4-0", ends=["0", "0"], turn=0)
    for seat in range(3):
        assert table.state.to_act == (seat,)
        table.knock()
    assert table.state.to_act == (3,)


def test_SR_D17_scores_may_be_negative() -> None:
    table = Table.with_position("6-6", "5-5", "4-4", "3-3", ends=["0", "0"], turn=0)
    assert table.knock(4).state.scores == (-20, -15)


def test_SR_D18_a_settlement_wins_nothing() -> None:
    table = Table.with_position("1-2", "1-1", "2-3", "4-4", ends=["0", "0"], turn=0, scores=(245, 245))
    assert not table.knock(4).state.over


def test_SR_D22_a_block_has_no_winner() -> None:
    table = Table.with_position("1-0", "6-6", "1-1", "4-4", ends=["5", "5"], turn=0)
    table.knock(4)
    assert table.one(RoundEnded).seat == -1
    assert table.state.scores == (0, -20)


def test_SR_D24_every_hand_is_an_entry() -> None:
    table = Table.with_position("6-0", "2-2", "", "3-3", ends=["6", "5"], turn=0)
    table.play("6-0")
    assert [entry.seat for entry in table.every(HandSettled)] == [0, 1, 2, 3]


def test_SR_D26_a_seat_that_cannot_play_draws_nothing() -> None:
    table = Table.with_position("1-2", "1-1", "2-3", "4-4", ends=["0", "0"], turn=0)
    held_before = hand_of(table.state, 0)
    assert hand_of(table.knock().state, 0) == held_before


def test_SR_D31_every_deal_stands() -> None:
    table = Table.before_deal().take(filled("0-0 1-1 2-2 3-3 4-4 5-5 6-6"))
    assert table.state.phase is Phase.DRAW


def test_SR_B1_a_pass_scores_nothing() -> None:
    table = Table.with_position("1-2", "1-1", "2-3", "4-4", ends=["5", "5"], turn=0)
    table.knock()
    assert table.outcomes == ()
    assert table.state.scores == (0, 0)


def test_SR_B2_the_second_of_two_equal_ends_can_be_chosen() -> None:
    table = Table.with_position("5-1 6-6", "6-0", "6-1", "6-2", ends=["5", "5"], turn=0)
    table.play("5-1", RIGHT)
    assert table.state.ends[:2] == (5, 1)


def test_SR_B3_the_spinner_is_first_in_time_not_in_place() -> None:
    # The row reads 4-4 4-6 6-6: the first double in place is not the first in time.
    table = Table.with_round(filled("4-6 4-1", "6-6 6-2", "4-4", "6-1"))
    for tile in ("4-6", "6-6", "4-4", "6-1"):
        table.play(tile)
    assert table.state.spinner == 6
    assert table.offers("4-1") == {LEFT, RIGHT}
    table.play("4-1", LEFT)
    assert table.offers("6-2") == {UP, DOWN}


def test_SR_B4_a_later_double_can_be_the_spinner_and_opens_in_order() -> None:
    table = Table.with_round(filled("4-6", "6-6", "6-1", "6-0"))
    table.play("4-6")
    table.play("6-6")
    assert table.offers("6-1") == {RIGHT}


@pytest.mark.parametrize("arm", [UP, DOWN])
def test_SR_B5_branches_count_like_any_end(arm: Arm) -> None:
    table = Table.with_round(filled("3-3 4-4", "3-1", "3-2", "3-4"))
    for tile, side in (("3-3", UNSET), ("3-1", LEFT), ("3-2", RIGHT), ("3-4", arm)):
        table.play(tile, side)
    assert table.one(TileLaid).sum == 1 + 2 + 4
    assert table.play("4-4", arm)[0] == 1 + 2 + 8


def test_SR_B6_a_lone_five_five_is_ten() -> None:
    assert Table.with_round(filled("5-5")).play("5-5") == (10, (10, 0))
