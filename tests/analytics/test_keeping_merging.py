"""Files are few, whatever comes: a year of games, games that go on for long, and games that are looked at again."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from msgspec.structs import replace

from heptalog.analytics.keeping.manifest import Kept, Segment
from heptalog.analytics.keeping.merging import FULL_ROWS, due
from heptalog.analytics.keeping.segments import read
from heptalog.analytics.keeping.series import Series


class Year:
    """Segments that are added and merged as a shelf does it, without their rows."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.count = 0
        self.rows_added = 0
        self.rows_written = 0

    def add(self, rows: int, *, month: str = "2026-11", ruleset: str = "seven_up", is_open: bool = False) -> None:
        """A segment of so many rows, about a hundred a game."""
        self.rows_added += rows
        self._put(rows, max(rows // 100, 1), month, ruleset, is_open=is_open)

    def exclude(self, place: int, games: int) -> None:
        """So many games of a segment are written anew elsewhere."""
        segment = self.segments[place]
        excluded = min(len(segment.excluded) + games, segment.games - 1)
        self.segments[place] = replace(segment, excluded=tuple(range(excluded)))

    def tidy(self) -> None:
        """Put everything in order."""
        while merged := due(self.segments):
            first = merged[0]
            assert {(one.ruleset, one.month, one.is_open) for one in merged} == {
                (first.ruleset, first.month, first.is_open)
            }
            self.segments = [segment for segment in self.segments if segment not in merged]
            games = sum(segment.games - len(segment.excluded) for segment in merged)
            rows = sum(segment.rows_read for segment in merged)
            self._put(rows, games, first.month, first.ruleset, is_open=first.is_open)

    def _put(self, rows: int, games: int, month: str, ruleset: str, *, is_open: bool) -> None:
        self.count += 1
        self.rows_written += rows
        files = {"turns": Kept(rows, rows, "")}
        self.segments.append(Segment(self.count, ruleset, month, is_open, games, 0, self.count, rows, files))


@pytest.mark.parametrize("rows", [100, 3_000, 40_000])
def test_what_comes_in_small_pieces_is_written_a_few_times_and_lies_in_few_files(rows: int) -> None:
    year = Year()
    for _ in range(1_500):
        year.add(rows)
        year.tidy()
    full = year.rows_added // FULL_ROWS
    assert len(year.segments) <= 12 + full
    assert year.rows_written <= 8 * year.rows_added


def test_a_year_of_games_of_all_kinds_lies_in_few_files() -> None:
    year, random = Year(), Random(1)
    for day in range(365):
        for ruleset in ("seven_rocks", "seven_up", "seven_bridge"):
            for is_open in (True, False):
                rows = random.randrange(100, 60_000)
                year.add(rows, month=f"2026-{day // 31 + 1:02}", ruleset=ruleset, is_open=is_open)
        # Somebody looks at an old game again.
        year.exclude(random.randrange(len(year.segments)), 1)
        year.tidy()
    small = [segment for segment in year.segments if segment.rows < FULL_ROWS]
    assert len(small) <= 12 * 6 + 48
    assert len(year.segments) - len(small) <= year.rows_added / FULL_ROWS
    assert sum(bool(segment.excluded) for segment in year.segments) <= 16


def test_what_is_mostly_excluded_is_written_anew() -> None:
    year = Year()
    year.add(2 * FULL_ROWS)
    year.exclude(0, 1_000)
    assert due(year.segments) == ()
    year.exclude(0, 1)
    assert due(year.segments) == tuple(year.segments)
    year.tidy()
    assert not year.segments[0].excluded


def test_games_that_are_running_may_be_excluded_by_half() -> None:
    for is_open, share in ((False, 0.1), (True, 0.5)):
        year = Year()
        year.add(100 * 100, is_open=is_open)
        year.exclude(0, int(100 * share))
        assert due(year.segments) == ()
        year.exclude(0, 1)
        assert due(year.segments)


def test_nothing_is_merged_that_would_be_too_large() -> None:
    year = Year()
    for _ in range(40):
        year.add(FULL_ROWS - 1)
    merged = due(year.segments)
    assert 2 <= len(merged) <= 4


@pytest.mark.parametrize("patience", [0, 1, 4])
def test_what_is_due_once_is_not_due_for_ever(patience: int) -> None:
    random = Random(patience)
    year = Year()
    for _ in range(60):
        year.add(random.choice((10, 9_000, 100_000, 2 * FULL_ROWS)), month=random.choice(("2026-01", "2026-02")))
        if random.random() < 0.5:
            year.exclude(random.randrange(len(year.segments)), random.randrange(5))
    for _ in range(200):
        merged = due(year.segments, patience=patience)
        if not merged:
            break
        year.segments = [segment for segment in year.segments if segment not in merged]
        year._put(
            sum(segment.rows_read for segment in merged),
            sum(segment.games - len(segment.excluded) for segment in merged),
            merged[0].month,
            merged[0].ruleset,
            is_open=False,
        )
    else:
        pytest.fail("it goes on and on")
    if not patience:
        small = [segment for segment in year.segments if segment.rows < FULL_ROWS]
        assert len(small) <= 2, "one a month"


def test_a_series_is_cut_and_gone_on_with(tmp_path: Path) -> None:
    numbers = iter(range(1, 1_000))
    series = Series(tmp_path, "refusals", "refusal_number", (), lambda: next(numbers))
    expected: list[int] = []
    random = Random(2)
    for _ in range(60):
        if random.random() < 0.3 and expected:
            start = random.randrange(1, expected[-1] + 2)
            series.cut(start)
            expected = [number for number in expected if number < start]
        more = list(range(series.last + 1, series.last + 1 + random.randrange(4)))
        series.add(pa.table({"refusal_number": pa.array(more, pa.int64())}))
        expected += more
        while series.tidy():
            pass
        rows = [read(chunk.path(tmp_path, "refusals")) for chunk in series.chunks]
        assert [number for piece in rows for number in piece["refusal_number"].to_pylist()] == expected
        assert series.last == (expected[-1] if expected else 0)
        assert len(series.chunks) <= 7
