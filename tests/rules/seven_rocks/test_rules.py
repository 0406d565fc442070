"""The numbered rules of Seven Rocks that no vector has, by their numbers."""

import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import UNSET, OpenerDrawn, TurnPassed, UnsetType
from heptalog.replay.outcomes import MatchWon, RoundEnded
from heptalog.replay.seven_rocks import SEVEN_ROCKS
from heptalog.replay.seven_rocks.events import Arm, TilePlayed
from heptalog.replay.seven_rocks.outcomes import BranchesOpened, HandSettled, PointsScored, SpinnerLaid
from heptalog.replay.seven_rocks.state import hand_of
from heptalog.replay.seven_rocks.tables import TILE_NAMES, TILES
from tests.support.seven_rocks_positions import DOWN, LEFT, RIGHT, UP, Table, dealt, filled, started


@pytest.mark.parametrize("players", [0, 2, 3, 5])
def test_SR_R1_exactly_four_play(players: int) -> None:
    with pytest.raises(Refused) as refused:
        SEVEN_ROCKS.initial(started(players=players))
    assert refused.value.code is Code.PLAYERS_INVALID
    assert refused.value.facts == {"players": players, "low": 4, "high": 4}


def test_SR_R1_two_pairs_begin_at_nothing() -> None:
    state = SEVEN_ROCKS.initial(started())
    assert (state.scores, state.round, state.to_act, state.over, state.winners) == ((0, 0), 0, (), False, ())


@pytest.mark.parametrize(("seat", "winners", "scores"), [(0, (0, 2), (10, 0)), (3, (1, 3), (0, 10))])
def test_SR_R1_partners_sit_opposite_and_win_together(seat: int, winners: tuple[int, ...], scores: tuple[int]) -> None:
    deal = filled(*["6-4" if seat == holder else "" for holder in range(4)])
    table = Table.before_deal(10).take(deal).take(OpenerDrawn(seat))
    assert table.play("6-4")[1] == scores
    assert table.state.winners == winners


def test_SR_R2_28_tiles_and_their_49_spellings() -> None:
    assert len(TILE_NAMES) == 28
    assert len(TILES) == 49
    assert sum(tile.first + tile.second for name, tile in TILES.items() if name in TILE_NAMES) == 168


@pytest.mark.parametrize("tile", ["7-1", "", "6", "6-", "6-44", "66", "6-6 ", "X1", "7D", "\uff16-\uff14"])
def test_SR_R2_other_tiles_are_unknown(tile: str) -> None:
    assert Table.with_round(filled()).refuses_play(tile, UNSET, Code.TILE_UNKNOWN, "SR-R2")


def test_SR_R2_an_unknown_tile_in_a_deal() -> None:
    hands = ["0-0 1-0 1-1 2-0 2-1 2-2 7-7", *[""] * 3]
    refused = Table.before_deal().refusal(dealt(*hands))
    assert (refused.code, refused.facts) == (Code.TILE_UNKNOWN, {"seat": 0, "place": 6})


def test_SR_R3_SR_D27_points_are_noted_when_they_arise() -> None:
    table = Table.with_round(filled("6-4"))
    table.play("6-4")
    assert table.one(PointsScored) == PointsScored(seat=0, side=0, points=10, score=10)


def test_SR_R4_all_tiles_are_dealt_and_hands_kept() -> None:
    state = Table.before_draw().state
    assert [len(hand_of(state, seat)) for seat in range(4)] == [7] * 4
    assert sum(state.dealt) == (1 << 28) - 1


def test_SR_R4_a_tile_not_held_is_refused() -> None:
    assert Table.with_round(filled("5-0", "6-6")).refuses_play("6-6", UNSET, Code.NOT_HELD, "SR-R4")


def test_SR_R4_no_second_deal_in_a_round() -> None:
    assert Table.with_round(filled()).refuses(filled(), Code.WRONG_PHASE, "SR-R4")
    assert Table.before_draw().refuses(filled(), Code.WRONG_PHASE, "SR-R4")
    assert Table.before_deal().refuses(TurnPassed(0), Code.WRONG_PHASE, "SR-R4")


def test_SR_R5_a_draw_opens_the_first_round() -> None:
    table = Table.before_draw()
    assert table.state.to_act == ()
    assert table.refuses(TilePlayed(0, "0-0"), Code.WRONG_PHASE, "SR-R5")
    assert table.take(OpenerDrawn(2)).state.to_act == (2,)
    assert table.refuses(OpenerDrawn(2), Code.WRONG_PHASE, "SR-R5")


@pytest.mark.parametrize("seat", [-1, 4, 4294967295])
def test_SR_R5_nobody_is_drawn(seat: int) -> None:
    assert Table.before_draw().refuses(OpenerDrawn(seat), Code.SEAT_UNKNOWN, "SR-R5")


def test_SR_R6_SR_D25_who_goes_out_opens_and_not_the_partner() -> None:
    table = Table.with_position("6-0", "2-2", "4-4", "3-3", ends=["6", "5"], turn=0)
    table.play("6-0")
    assert table.one(RoundEnded).seat == 0
    assert table.take(filled()).state.to_act == (0,)


def test_SR_R7_a_block_calls_for_a_draw_each_time() -> None:
    table = Table.with_position("1-2", "1-1", "2-3", "4-4", ends=["0", "0"], turn=1)
    table.knock(4).take(filled())
    assert table.refuses(TilePlayed(1, "6-6"), Code.WRONG_PHASE, "SR-R5")
    assert table.refuses(OpenerDrawn(7), Code.SEAT_UNKNOWN, "SR-R7")
    assert table.take(OpenerDrawn(3)).state.to_act == (3,)


def test_SR_R9_any_tile_opens_either_way_round() -> None:
    table = Table.with_round(filled("6-6 0-1 3-4"))
    moves = list(SEVEN_ROCKS.legal(table.state))
    assert len({move.tile for move in moves if isinstance(move, TilePlayed)}) == len(moves)
    assert {"6-6", "0-1", "1-0", "3-4", "4-3"} <= {move.tile for move in moves if isinstance(move, TilePlayed)}


@pytest.mark.parametrize(("tile", "left", "right"), [("4-6", "4-2", "6-2"), ("6-4", "6-2", "4-2")])
def test_SR_R9_first_half_of_the_opening_lies_left(tile: str, left: str, right: str) -> None:
    table = Table.with_round(filled("4-6", "4-2 6-2"))
    table.play(tile)
    assert (table.offers(left), table.offers(right)) == ({LEFT}, {RIGHT})


@pytest.mark.parametrize("arm", [LEFT, RIGHT, UP, DOWN])
def test_SR_R9_the_opening_tile_has_no_arm(arm: Arm) -> None:
    table = Table.with_round(filled("4-6"))
    assert table.refuses(TilePlayed(0, "4-6", arm), Code.ILLEGAL_MOVE, "game-file")


def test_SR_R10_turns_pass_clockwise() -> None:
    table = Table.with_round(filled("5-5", "5-0", "5-2", "5-3"), opener=3)
    table.play("5-3")
    assert table.state.to_act == (0,)
    assert table.refuses(TilePlayed(1, "5-0", LEFT), Code.NOT_YOUR_TURN, "SR-R10")
    assert table.refuses(TurnPassed(3), Code.NOT_YOUR_TURN, "SR-R10")
    assert table.refusal(TurnPassed(3)).facts == {"seat": 3, "to_act": (0,)}


@pytest.mark.parametrize("seat", [-1, 4, 4294967295])
def test_SR_R10_no_such_seat(seat: int) -> None:
    for table in (Table.with_round(filled()), Table.before_deal(), Table.before_draw()):
        assert table.refuses(TilePlayed(seat, "0-0"), Code.SEAT_UNKNOWN, "SR-R1")
        assert table.refuses(TurnPassed(seat), Code.SEAT_UNKNOWN, "SR-R1")


def test_SR_R11_equal_values_touch() -> None:
    table = Table.with_round(filled("4-6", "4-2 5-1"))
    table.play("4-6")
    assert table.refuses_play("5-1", LEFT, Code.ILLEGAL_MOVE, "SR-R11")
    assert table.refuses_play("4-2", RIGHT, Code.ILLEGAL_MOVE, "SR-R11")
    assert table.play("4-2", LEFT)[0] == 2 + 6


def test_SR_R15_SR_D28_the_first_double_is_the_spinner() -> None:
    table = Table.with_round(filled("4-6", "6-6", "4-4"))
    table.play("4-6")
    table.play("6-6")
    assert table.one(SpinnerLaid) == SpinnerLaid(seat=1, tile="6-6")
    table.play("4-4")
    assert not table.every(SpinnerLaid)


def test_SR_R16_branches_open_when_both_sides_are_taken() -> None:
    table = Table.with_round(filled("3-3", "3-4", "3-6", "3-0"))
    for tile, arm, opens in (("3-3", UNSET, 0), ("3-4", LEFT, 0), ("3-6", RIGHT, 1), ("3-0", DOWN, 0)):
        table.play(tile, arm)
        assert table.every(BranchesOpened) == [BranchesOpened("3-3")] * opens


def test_SR_R16_a_line_without_spinner_has_no_branches() -> None:
    table = Table.with_round(filled("4-6", "4-2"))
    table.play("4-6")
    for arm in (UP, DOWN):
        assert table.refuses_play("4-2", arm, Code.ILLEGAL_MOVE, "SR-R16")


def test_SR_R17_every_branch_adds_an_end() -> None:
    table = Table.with_round(filled("1-1 1-5", "1-2", "1-3", "1-4"))
    moves: list[tuple[str, Arm | UnsetType]] = [
        ("1-1", UNSET),
        ("1-2", LEFT),
        ("1-3", RIGHT),
        ("1-4", UP),
        ("1-5", DOWN),
    ]
    assert [table.play(tile, arm)[0] for tile, arm in moves] == [2, 4, 5, 9, 14]


def test_SR_R21_only_ends_count_not_every_free_side() -> None:
    table = Table.with_round(filled("6-6", "6-1", "6-3", "6-0"))
    moves: list[tuple[str, Arm | UnsetType]] = [("6-6", UNSET), ("6-1", LEFT), ("6-3", RIGHT), ("6-0", UP)]
    # Two, one, two and one free side of the six: none of them adds anything.
    assert [table.play(tile, arm)[0] for tile, arm in moves] == [12, 13, 4, 4]


def test_SR_R24_nothing_is_added_at_the_end_of_a_round() -> None:
    table = Table.with_position("1-2", "1-1", "2-3", "4-4", ends=["0", "5"], turn=0)
    table.knock(4)
    assert not table.every(PointsScored)


def test_SR_R25_four_entries_in_seat_order_show_the_hands() -> None:
    table = Table.with_position("1-2", "1-1", "2-3 6-6", "4-4", ends=["0", "0"], turn=0)
    table.knock(4)
    assert table.every(HandSettled) == [
        HandSettled(seat=0, side=0, tiles=("2-1",), pips=3, deduction=5, score=-5),
        HandSettled(seat=1, side=1, tiles=("1-1",), pips=2, deduction=0, score=0),
        HandSettled(seat=2, side=0, tiles=("3-2", "6-6"), pips=17, deduction=15, score=-20),
        HandSettled(seat=3, side=1, tiles=("4-4",), pips=8, deduction=10, score=-10),
    ]


@pytest.mark.parametrize(("target", "over"), [(1, True), (10, True), (11, False), (100_000, False), (UNSET, False)])
def test_SR_R28_target_is_an_option(target: int, over: bool) -> None:
    table = Table.before_deal(target).take(filled("6-4")).take(OpenerDrawn(0))
    table.play("6-4")
    assert table.state.over is over
    assert bool(table.every(MatchWon)) is over


@pytest.mark.parametrize("target", [0, 100_001, 4294967295])
def test_SR_R28_target_out_of_range(target: int) -> None:
    with pytest.raises(Refused) as refused:
        SEVEN_ROCKS.initial(started(target))
    assert (refused.value.code, refused.value.rule) == (Code.OPTION_OUT_OF_RANGE, "game-file")
    assert refused.value.facts == {"option": "target", "value": target, "low": 1, "high": 100_000}


def test_SR_R28_absent_target_is_250() -> None:
    assert SEVEN_ROCKS.initial(started()).target == 250


def test_SR_R29_nothing_follows_a_win() -> None:
    table = Table.before_deal(10).take(filled("6-4", "6-6")).take(OpenerDrawn(0))
    table.play("6-4")
    for body in (TilePlayed(1, "6-6", LEFT), TurnPassed(9), filled(), OpenerDrawn(0)):
        assert table.refuses(body, Code.GAME_OVER, "SR-R29")
    assert list(SEVEN_ROCKS.legal(table.state)) == []
    assert table.state.round == 1


def test_SR_D29_a_round_of_any_number_is_followed_by_another() -> None:
    table = Table.with_position("1-2", "1-1", "2-3", "4-4", ends=["0", "0"], turn=1)
    table.state = replace(table.state, round=1_000_000)
    assert table.knock(4).take(filled()).state.round == 1_000_001


def test_SR_R30_only_the_pair_that_places_scores() -> None:
    table = Table.with_position("5-1 6-0", "6-6", "4-4", "3-3", ends=["5", "2-2", "3", "2"], turn=0, scores=(0, 245))
    assert table.play("5-1") == (10, (10, 245))
    assert not table.state.over
