"""Points of Seven Rocks: what the ends add up to, and what the hands left cost."""

from heptalog.replay.seven_rocks.outcomes import HandSettled
from heptalog.replay.seven_rocks.state import State, hand_of, side_of
from heptalog.replay.seven_rocks.tables import COUNTED_PAIRS, PIPS, SEAT_COUNT, UNIT


def counted_ends(ends: tuple[int, ...]) -> tuple[int, ...]:
    """What each end that counts adds, in the order of the arms (SR-R18, SR-R20)."""
    left, right, up, down = ends
    return COUNTED_PAIRS[left][right] + COUNTED_PAIRS[up][down]


def points_for(total: int) -> int:
    """The points for a sum of ends: itself where it is a multiple of five, which for 0 is nothing (SR-R20, SR-D12)."""
    return 0 if total % UNIT else total


def rounded(pips: int) -> int:
    """Pips to the nearest multiple of five (SR-R25, SR-D23)."""
    return UNIT * ((pips + UNIT // 2) // UNIT)


def add_to(scores: tuple[int, ...], side: int, points: int) -> tuple[int, ...]:
    """The scores with points for one side."""
    first, second = scores
    return (first, second + points) if side else (first + points, second)


def settle(state: State, scores: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[HandSettled, ...]]:
    """Take every hand left off its pair's score, each rounded on its own; a score may fall below 0 (SR-R25, SR-D17)."""
    settled = []
    for seat in range(SEAT_COUNT):
        side = side_of(seat)
        tiles = hand_of(state, seat)
        pips = sum([PIPS[tile] for tile in tiles])
        deduction = rounded(pips)
        scores = add_to(scores, side, -deduction)
        settled.append(HandSettled(seat, side, tiles, pips, deduction, scores[side]))
    return scores, tuple(settled)
