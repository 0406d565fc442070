"""Which segments are to be made one: few enough to be read fast, and each row is written anew only a few times.

Segments of one ruleset and month are merged by size, as soon as there are several of about one; those with running
games by themselves, for these are soon excluded. A large one is written anew only where too much in it is excluded.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from heptalog.analytics.keeping.manifest import Segment

# A segment with so many rows is merged no more; where rows of a game are written, about half of them are turns.
FULL_ROWS: Final = 500_000
# Below this, and then eight times as many each, segments count as of one size.
_SIZES: Final = (1_000, 8_000, 64_000, FULL_ROWS)
# So many of one size are merged.
_ALIKE_MAX: Final = 4
# A segment is written anew where more than this of its games are excluded: each is looked for in every question.
_EXCLUDED_MAX: Final = 1_000
_EXCLUDED_SHARE: Final = 0.1
_EXCLUDED_SHARE_OPEN: Final = 0.5
# Each with something excluded is a part of its own of the question.
_PARTLY_READ_MAX: Final = 16
# Each is some files to open: so many more may be merged than there are rulesets and months to merge them in.
_SPARE_MAX: Final = 48


def due(segments: Iterable[Segment], *, patience: int = 1) -> tuple[Segment, ...]:
    """Those that are to be made one next, or one that is to be written anew; none where all is in order.

    With `patience` more may be in disorder: so many times of each; without any, nothing that can be merged is left.
    """
    everything = sorted(segments, key=_line)
    for _, some in groupby(everything, _line):
        line = list(some)
        for size in range(len(_SIZES)):
            alike = [segment for segment in line if _size(segment) == size]
            if len(alike) >= max(_ALIKE_MAX * patience, 2):
                return _bounded(alike)
    stale = [segment for segment in everything if _is_stale(segment, patience)]
    if stale:
        return (min(stale, key=_rows),)
    partly = [segment for segment in everything if segment.excluded]
    if len(partly) > _PARTLY_READ_MAX * patience:
        return (min(partly, key=_rows),)
    small = [segment for segment in everything if _size(segment) < len(_SIZES)]
    if len(small) > len({_line(segment) for segment in small}) + _SPARE_MAX * patience:
        return _smallest_line(small)
    return ()


def _is_stale(segment: Segment, patience: int) -> bool:
    share = _EXCLUDED_SHARE_OPEN if segment.is_open else _EXCLUDED_SHARE
    # Of a small one much is excluded at once, and it is soon merged anyway.
    limit = max(segment.games * share, _ALIKE_MAX)
    return len(segment.excluded) > min(limit, _EXCLUDED_MAX) * patience


def _smallest_line(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The fewest rows that lie in several segments which could be one; there are such."""
    lines = [list(some) for _, some in groupby(segments, _line)]
    several = [_bounded(line) for line in lines if len(line) > 1]
    return min(several, key=lambda line: sum(segment.rows_read for segment in line))


def _bounded(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """As many of these, the smallest first, as make one that is held in memory easily; two at least."""
    chosen: list[Segment] = []
    rows = 0
    for segment in sorted(segments, key=_rows):
        if len(chosen) >= 2 and rows + segment.rows_read > _ALIKE_MAX * FULL_ROWS:
            break
        chosen.append(segment)
        rows += segment.rows_read
    return tuple(sorted(chosen, key=_first))


def _size(segment: Segment) -> int:
    return next((size for size, rows in enumerate(_SIZES) if segment.rows_read < rows), len(_SIZES))


def _line(segment: Segment) -> tuple[str, str, bool]:
    """Only segments that have this in common are merged."""
    return segment.month, segment.ruleset, segment.is_open


def _rows(segment: Segment) -> tuple[int, int]:
    return segment.rows_read, segment.number


def _first(segment: Segment) -> int:
    return segment.first
