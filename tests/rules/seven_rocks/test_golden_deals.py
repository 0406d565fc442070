"""The golden deals of Seven Rocks: whole rounds with every sum and score, from independent checkers."""

import re

import pytest

from heptalog.replay.events import UNSET, UnsetType
from heptalog.replay.outcomes import RoundEnded, RoundEndedBy
from heptalog.replay.seven_rocks.events import Arm
from heptalog.replay.seven_rocks.outcomes import HandSettled, TileLaid
from heptalog.replay.seven_rocks.state import Phase
from tests.support.seven_rocks_positions import DOWN, LEFT, RIGHT, UP, Table, dealt

# In both deals the spinner is laid to the left, so its other in-line side S2 keeps that name.
ARMS: dict[str, Arm | UnsetType] = {"open": UNSET, "L": LEFT, "R": RIGHT, "S2": LEFT, "S3": UP, "S4": DOWN}

SR_G1 = (
    dealt(
        "0-3 4-5 2-4 1-1 6-6 3-4 1-5",
        "1-2 0-0 3-5 1-6 0-4 4-6 2-5",
        "2-2 0-5 5-5 2-6 1-3 0-1 3-6",
        "3-3 1-4 0-2 4-4 2-3 0-6 5-6",
    ),
    0,
    """
    0 0-3 open 3 (0-0)
    1 0-0 L 3 (0-0)
    2 0-1 S2 4 (0-0)
    3 0-2 S3 6 (0-0)
    0 1-1 S2 7 (0-0)
    1 0-4 S4 11 (0-0)
    2 1-3 R 9 (0-0)
    3 1-4 R 12 (0-0)
    0 1-5 S2 15 (15-0)
    1 1-2 S3 14 (15-0)
    2 0-5 S2 9 (15-0)
    3 0-6 S2 15 (15-15)
    0 2-4 R 13 (15-15)
    1 1-6 S3 18 (15-15)
    2 2-2 R 20 (35-15)
    3 2-3 R 19 (35-15)
    0 3-4 R 20 (55-15)
    1 4-6 R 22 (55-15)
    2 2-6 R 18 (55-15)
    3 4-4 S4 22 (55-15)
    0 4-5 S4 19 (55-15)
    1 2-5 R 22 (55-15)
    2 3-6 S3 19 (55-15)
    3 3-3 S3 22 (55-15)
    """,
)

SR_G2 = (
    dealt(
        "0-0 2-5 0-4 3-5 1-2 4-6 1-6",
        "1-5 6-6 2-4 0-3 3-4 1-1 4-5",
        "4-4 1-4 5-6 2-3 0-2 3-3 0-6",
        "0-5 3-6 1-3 5-5 2-2 0-1 2-6",
    ),
    3,
    """
    3 0-1 open 1 (0-0)
    0 0-0 L 1 (0-0)
    1 0-3 S2 4 (0-0)
    2 0-2 S3 6 (0-0)
    3 0-5 S4 11 (0-0)
    0 1-2 R 12 (0-0)
    1 1-5 S4 8 (0-0)
    2 1-4 S4 11 (0-0)
    3 1-3 S2 9 (0-0)
    0 0-4 S4 5 (5-0)
    1 1-1 S2 6 (5-0)
    2 0-6 S4 12 (5-0)
    3 2-2 R 14 (5-0)
    0 1-6 S4 9 (5-0)
    1 2-4 R 9 (5-0)
    2 2-3 S3 10 (15-0)
    3 3-6 S3 13 (15-0)
    0 4-6 R 15 (30-0)
    1 6-6 R 21 (30-0)
    2 5-6 R 14 (30-0)
    3 2-6 S3 10 (30-10)
    0 2-5 R 7 (30-10)
    """,
)


def play_all(table: Table, text: str) -> None:
    moves = re.findall(r"(\d) (\d-\d) (\w+) (\d+) \((\d+)-(\d+)\)", text)
    assert len(moves) == len(text.strip().splitlines())
    for seat, tile, target, total, first, second in moves:
        assert table.state.to_act == (int(seat),)
        assert table.play(tile, ARMS[target]) == (int(total), (int(first), int(second)))


def test_SR_G1_ends_by_an_empty_hand() -> None:
    deal, opener, moves = SR_G1
    table = Table.with_round(deal, opener=opener)
    play_all(table, moves)
    # The last tile: 28 is no score, and the hands left are settled in the same event.
    table.play("6-6", LEFT)
    assert table.one(TileLaid).sum == 28
    assert table.one(RoundEnded) == RoundEnded(1, RoundEndedBy.EMPTY_HAND, 0)
    assert [(entry.pips, entry.deduction) for entry in table.every(HandSettled)] == [
        (0, 0),
        (8, 10),
        (10, 10),
        (11, 10),
    ]
    assert table.state.scores == (45, -5)
    assert table.state.opener == 0


def test_SR_G2_ends_blocked() -> None:
    deal, opener, moves = SR_G2
    table = Table.with_round(deal, opener=opener)
    play_all(table, moves)
    assert table.state.to_act == (1,)
    table.knock(4)
    assert table.one(RoundEnded) == RoundEnded(1, RoundEndedBy.BLOCKED)
    assert [entry.tiles for entry in table.every(HandSettled)] == [
        ("5-3",),
        ("4-3", "5-4"),
        ("3-3", "4-4"),
        ("5-5",),
    ]
    assert [entry.deduction for entry in table.every(HandSettled)] == [10, 15, 15, 10]
    assert table.state.scores == (5, -15)
    assert table.take(deal).state.phase is Phase.DRAW


@pytest.mark.parametrize("moves", [SR_G1[2], SR_G2[2]])
def test_SR_G_never_names_the_side_of_the_first_arm(moves: str) -> None:
    assert "S1" not in moves
