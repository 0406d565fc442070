"""The disk-full trial, short: a small disk is filled with a reserve, and without one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heptalog.replay.errors import Code
from tests.trials.disk_full import with_reserve, without_reserve
from tests.trials.disks import small_disk, why_not


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    if reason := why_not(tmp_path):
        pytest.skip(reason)
    with small_disk(tmp_path / "disk", megabytes=8) as mounted:
        yield mounted


def test_with_a_reserve_appends_are_refused_in_time_and_go_on_by_themselves(disk: Path) -> None:
    filled = with_reserve(disk, seed=1, ballast_megabytes=4, reserve="1MiB")
    assert filled.violations == []
    assert (filled.reason, filled.goes_on) == (Code.DISK_RESERVE, True)
    assert filled.events > 1_000


def test_a_full_disk_loses_nothing_and_a_restart_is_enough(disk: Path) -> None:
    filled = without_reserve(disk, seed=1, ballast_megabytes=2)
    assert filled.violations == []
    assert filled.reason != Code.DISK_RESERVE
    assert filled.events > 500
