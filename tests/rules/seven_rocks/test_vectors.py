"""The test vectors of Seven Rocks, by their numbers."""

import pytest

from heptalog.replay.errors import Code
from heptalog.replay.events import UNSET, Draw, Lot, OpenerDrawn, TurnPassed, UnsetType
from heptalog.replay.outcomes import MatchWon, RoundEnded, RoundEndedBy
from heptalog.replay.seven_rocks.events import Arm
from heptalog.replay.seven_rocks.outcomes import HandSettled, PointsScored, TileLaid
from heptalog.replay.seven_rocks.scoring import rounded
from heptalog.replay.seven_rocks.state import Phase
from tests.support.seven_rocks_positions import DOWN, LEFT, RIGHT, UP, Table, dealt, filled


def test_SR_V1_SR_R18_SR_R19_SR_R20_the_example_of_the_rules() -> None:
    table = Table.with_round(filled("5-5", "5-0", "5-2", "5-3"))
    assert table.play("5-5") == (10, (10, 0))
    assert table.play("5-0", RIGHT) == (10, (10, 10))
    assert table.play("5-2", LEFT) == (2, (10, 10))
    assert table.play("5-3", UP) == (5, (10, 15))


def test_SR_V2_nought_is_no_score() -> None:
    table = Table.with_round(filled("0-0", "0-5"))
    assert table.play("0-0") == (0, (0, 0))
    assert not table.every(PointsScored)
    assert table.play("0-5", LEFT) == (5, (0, 5))


@pytest.mark.parametrize(("tile", "total", "points"), [("4-6", 10, 10), ("5-0", 5, 5), ("6-5", 11, 0)])
def test_SR_V3_SR_D3_both_halves_of_an_opening_tile_count(tile: str, total: int, points: int) -> None:
    assert Table.with_round(filled(tile)).play(tile) == (total, (points, 0))


def with_later_spinner() -> Table:
    table = Table.with_round(filled("4-6 1-1", "6-6 1-3", "6-1 1-5", "6-0"))
    assert table.play("4-6") == (10, (10, 0))
    assert table.play("6-6", RIGHT) == (16, (10, 0))
    assert table.play("6-1", RIGHT) == (5, (15, 0))
    assert table.play("6-0", DOWN) == (5, (15, 5))
    return table


def test_SR_V4_spinner_played_later() -> None:
    with_later_spinner()


def test_SR_V5_SR_D11_later_doubles_do_not_branch() -> None:
    table = with_later_spinner()
    assert table.play("1-1", RIGHT) == (6, (15, 5))
    assert table.play("1-3", RIGHT) == (7, (15, 5))
    for arm in (LEFT, RIGHT, UP, DOWN, UNSET):
        assert table.refuses_play("1-5", arm, Code.ILLEGAL_MOVE, "SR-R11")


def test_SR_V6_SR_D7_branches_only_after_both_sides() -> None:
    table = Table.with_round(filled("3-3", "3-4", "3-6", "3-0"))
    table.play("3-3")
    assert table.play("3-4", LEFT) == (10, (0, 10))
    assert table.refuses_play("3-6", UP, Code.ILLEGAL_MOVE, "SR-R16")
    assert table.play("3-6", RIGHT) == (10, (10, 10))
    assert table.play("3-0", UP) == (10, (10, 20))


def test_SR_V7_SR_R18_SR_D6_spinner_counts_twice_beside_one_arm() -> None:
    table = Table.with_round(filled("2-2", "2-6"))
    assert table.play("2-2") == (4, (0, 0))
    assert table.play("2-6", LEFT) == (10, (0, 10))


def with_two_fives() -> Table:
    table = Table.with_round(filled("1-1 5-5", "1-5 5-0", "1-6", "6-5"))
    assert table.play("1-1") == (2, (0, 0))
    assert table.play("1-5", LEFT) == (7, (0, 0))
    assert table.play("1-6", RIGHT) == (11, (0, 0))
    assert table.play("6-5", RIGHT) == (10, (0, 10))
    return table


@pytest.mark.parametrize("arm", [LEFT, RIGHT])
def test_SR_V8_SR_R14_double_counts_twice_until_continued(arm: Arm) -> None:
    table = with_two_fives()
    assert table.play("5-5", arm) == (15, (15, 10))
    assert table.play("5-0", arm) == (5, (15, 15))


def test_SR_V9_SR_D8_SR_D9_equal_values_are_two_moves() -> None:
    table = with_two_fives()
    assert table.offers("5-5") == {LEFT, RIGHT}
    assert table.refuses_play("5-5", UNSET, Code.ARM_AMBIGUOUS, "SR-D8")


def test_SR_V10_SR_R12_who_can_play_must() -> None:
    table = Table.with_position("6-1", "6-2", "6-3 4-4", "6-4", ends=["3", "0"], turn=2)
    assert table.refuses(TurnPassed(2), Code.MUST_PLAY, "SR-R12")
    assert table.refuses_play("4-4", UNSET, Code.ILLEGAL_MOVE, "SR-R11")
    table.play("6-3")
    assert table.one(TileLaid).arm is LEFT


def test_SR_V11_SR_R13_SR_R24_four_passes_block_and_settle() -> None:
    table = Table.with_position("1-2", "1-1", "2-3", "4-4", ends=["0"] * 4, turn=0, scores=(40, 5))
    assert table.knock(3).state.phase is Phase.PLAY
    table.knock()
    assert table.one(RoundEnded) == RoundEnded(1, RoundEndedBy.BLOCKED)
    assert [entry.deduction for entry in table.every(HandSettled)] == [5, 0, 5, 10]
    assert table.state.scores == (30, -5)
    assert table.take(filled()).state.phase is Phase.DRAW


@pytest.mark.parametrize(
    ("points", "pips"), [(0, range(3)), (5, range(3, 8)), (10, range(8, 13)), (15, range(13, 18)), (20, [18])]
)
def test_SR_V12_SR_D23_rounding(points: int, pips: range) -> None:
    assert {rounded(pip) for pip in pips} == {points}


def test_SR_V13_SR_R26_partners_are_rounded_apart() -> None:
    table = Table.with_position("5-2", "3-0", "1-0", "2-1", ends=["5", "6"], turn=0, scores=(50, 50))
    table.play("5-2")
    assert [entry.deduction for entry in table.every(HandSettled)] == [0, 5, 0, 5]
    assert table.state.scores == (50, 40)


def test_SR_V14_SR_R23_SR_R27_SR_D20_last_tile_scores_then_settles() -> None:
    table = Table.with_position("4-4", "6-6", "3-5", "6-5 2-0", ends=["3", "5-5"], turn=2, scores=(200, 90), spinner=5)
    assert table.play("3-5", LEFT) == (15, (205, 65))
    assert table.one(PointsScored).score == 215
    assert [(entry.pips, entry.deduction) for entry in table.every(HandSettled)] == [
        (8, 10),
        (12, 10),
        (0, 0),
        (13, 15),
    ]
    table.take(filled())
    assert (table.state.phase, table.state.turn) == (Phase.OPEN, 2)
    assert table.refuses(OpenerDrawn(2), Code.WRONG_PHASE, "SR-R7")


@pytest.mark.parametrize("hand", ["5-1 6-0 6-1", "5-1"])
def test_SR_V15_SR_D19_target_wins_at_once(hand: str) -> None:
    table = Table.with_position(hand, "6-6", "4-4", "3-3", ends=["5", "2-2", "3", "2"], turn=0, scores=(240, 245))
    assert table.play("5-1") == (10, (250, 245))
    assert (table.state.over, table.state.winners, table.state.to_act) == (True, (0, 2), ())
    assert table.outcomes[-1] == MatchWon((0, 2))
    assert not table.every(HandSettled)
    assert not table.every(RoundEnded)


def test_SR_V15_below_the_target_play_goes_on() -> None:
    table = Table.with_position("5-1 6-0", "6-6", "4-4", "3-3", ends=["5", "2-2", "3", "2"], turn=0, scores=(235, 245))
    assert table.play("5-1") == (10, (245, 245))
    assert table.state.to_act == (1,)


@pytest.mark.parametrize(("last", "total", "points"), [("2-5", 35, 35), ("2-6", 36, 0)])
def test_SR_V16_SR_R22_largest_sums(last: str, total: int, points: int) -> None:
    table = Table.with_round(filled(f"3-3 3-2 {last} 3-0", "3-6 6-6", "3-5 5-5", "3-4 4-4"))
    moves: list[tuple[str, Arm | UnsetType]] = [
        ("3-3", UNSET), ("3-6", LEFT), ("3-5", RIGHT), ("3-4", UP),
        ("3-2", DOWN), ("6-6", LEFT), ("5-5", RIGHT), ("4-4", UP),
    ]  # fmt: skip
    sums = [table.play(tile, arm)[0] for tile, arm in moves]
    assert sums == [6, 12, 11, 15, 17, 23, 28, 32]
    assert table.state.scores == (0, 15)
    assert table.play(last, DOWN) == (total, (points, 15))
    assert not table.offers("3-0")


def lot(*draws: tuple[int, int]) -> Lot:
    return Lot(tuple(Draw(seat, value) for seat, value in draws))


FIRST_LOT = lot((0, 6), (1, 6), (2, 2), (3, 1))


def test_SR_V17_SR_R8_tied_draw_is_repeated() -> None:
    table = Table.before_draw()
    table.take(OpenerDrawn(1, (FIRST_LOT, lot((0, 3), (1, 5)))))
    assert table.state.to_act == (1,)


@pytest.mark.parametrize(
    "second", [lot((0, 3), (1, 5), (2, 1)), lot((0, 4), (1, 4)), lot((1, 5)), lot((0, 3), (0, 4), (1, 5))]
)
def test_SR_V17_SR_R8_wrong_second_lot(second: Lot) -> None:
    assert Table.before_draw().refuses(OpenerDrawn(1, (FIRST_LOT, second)), Code.DRAW_INVALID, "C-4")


def test_SR_V18_SR_D21_last_tile_that_blocks_is_a_domino() -> None:
    table = Table.with_position("1-1", "2-2", "4-4", "6-0", ends=["6", "5"], turn=3)
    table.play("6-0", LEFT)
    assert table.one(RoundEnded) == RoundEnded(1, RoundEndedBy.EMPTY_HAND, 3)
    table.take(filled())
    assert (table.state.phase, table.state.to_act) == (Phase.OPEN, (3,))


def test_SR_V19_SR_R9_opener_chooses_but_plays() -> None:
    table = Table.with_round(filled("6-6 0-1"))
    assert table.refuses(TurnPassed(0), Code.MUST_PLAY, "SR-R9")
    assert table.play("0-1") == (1, (0, 0))


HANDS = (
    "0-3 4-5 2-4 1-1 6-6 3-4 1-5",
    "1-2 0-0 3-5 1-6 0-4 4-6 2-5",
    "2-2 0-5 5-5 2-6 1-3 0-1 3-6",
    "3-3 1-4 0-2 4-4 2-3 0-6 5-6",
)


@pytest.mark.parametrize(
    ("seat", "hand", "rule"),
    [
        (3, "3-3 1-4 0-2 4-4 2-3 0-6", "SR-R4"),
        (3, "3-3 1-4 0-2 4-4 2-3 0-6 6-5 0-3", "SR-R4"),
        (3, "3-3 1-4 0-2 4-4 2-3 0-6 0-6", "SR-R2"),
        (3, "3-3 1-4 0-2 4-4 2-3 0-6 3-0", "SR-R2"),
    ],
)
def test_SR_V20_wrong_deals(seat: int, hand: str, rule: str) -> None:
    hands = [*HANDS]
    hands[seat] = hand
    assert Table.before_deal().refuses(dealt(*hands), Code.DEAL_INVALID, rule)


def test_SR_V20_hands_of_eight_and_six() -> None:
    hands = [f"{HANDS[0]} 1-2", HANDS[1].removeprefix("1-2 "), *HANDS[2:]]
    assert Table.before_deal().refuses(dealt(*hands), Code.DEAL_INVALID, "SR-R4")
    assert Table.before_deal().refuses(dealt(*HANDS[:3]), Code.DEAL_INVALID, "SR-R4")
    assert Table.before_deal().take(dealt(*HANDS)).state.phase is Phase.DRAW
