"""Arithmetic on counts: quantiles, bins that people like, and how far chance goes."""

from collections.abc import Iterable, Sequence
from math import ceil, sqrt
from typing import Final, NamedTuple

# Widths of bins that are easy to read, times a power of ten.
_WIDTHS: Final = (1, 2, 5, 10)


class Bin(NamedTuple):
    """From `start` up to, but without, `end`."""

    start: int
    end: int

    @property
    def label(self) -> str:
        """`10`, or `10 to 14`."""
        last = self.end - 1
        return str(self.start) if last == self.start else f"{self.start} to {last}"


def quantile(counts: Sequence[tuple[float, int]], part: float) -> float:
    """The least value that so great a part of all does not exceed; the counts are by value, ascending."""
    wanted = ceil(part * sum(count for _, count in counts))
    for value, count in counts:
        wanted -= count
        if wanted <= 0:
            return value
    return counts[-1][0]


def mean(counts: Iterable[tuple[float, int]]) -> float:
    """The mean of values that occur so often."""
    pairs = list(counts)
    whole = sum(count for _, count in pairs)
    return sum(value * count for value, count in pairs) / whole if whole else 0.0


def bins_for(low: int, high: int, *, bins_max: int) -> list[Bin]:
    """Bins of one width that hold all from `low` to `high`, no more than so many."""
    width, power = 1, 1
    while (high // width - low // width) + 1 > bins_max:
        width = next((factor * power for factor in _WIDTHS if factor * power > width), width * 2)
        if width >= 10 * power:
            power *= 10
    return [Bin(start, start + width) for start in range(low // width * width, high + 1, width)]


def standard_error(rate: float, count: int) -> float:
    """What chance alone makes of a rate among so many."""
    return sqrt(rate * (1 - rate) / count) if count else 0.0


def correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """How two numbers go together, from -1 to 1; 0 where one of them never changes."""
    count = len(pairs)
    if not count:
        return 0.0
    mean_x, mean_y = sum(x for x, _ in pairs) / count, sum(y for _, y in pairs) / count
    spread_x, spread_y = sum((x - mean_x) ** 2 for x, _ in pairs), sum((y - mean_y) ** 2 for _, y in pairs)
    if not spread_x or not spread_y:
        return 0.0
    return sum((x - mean_x) * (y - mean_y) for x, y in pairs) / sqrt(spread_x * spread_y)
