"""The tamper trial, short: some of every kind of change, every forgery, and the same in real databases."""

from pathlib import Path

import pytest

from tests.trials import tampers
from tests.trials.tamper import every_tamper, forged, in_files, in_memory
from tests.trials.tampered import audited, audited_file
from tests.trials.victims import KEYS, Victim, made


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Victim:
    return made(tmp_path_factory.mktemp("tamper") / "victim.duckdb", length=80, games_each=2)


def test_nothing_is_found_where_nothing_was_done(victim: Victim, tmp_path: Path) -> None:
    assert audited(victim.log, keys=KEYS, outside=[victim.outside]) == []
    (tmp_path / "outside").write_text(victim.outside)
    assert audited_file(victim.path, keys=KEYS, outside=[tmp_path / "outside"]) == []
    # There is something of everything to tamper with.
    assert all(victim.log.rows(table) for table in victim.log.tables)


def test_every_change_is_found_at_its_place(victim: Victim) -> None:
    figures = in_memory(victim, every_tamper(victim, byte_step=397, step=31))
    assert figures.wrong == []
    assert len(figures.tried) > 40
    assert figures.tried.total() > 500


def test_a_forgery_is_found_by_whoever_has_kept_a_checkpoint(victim: Victim) -> None:
    figures = forged(victim)
    assert figures.wrong == []
    assert figures.tried.total() > 10


def test_in_a_real_database_the_same_is_found(victim: Victim) -> None:
    some = tampers.shuffled(list(every_tamper(victim, byte_step=997, step=40)), 1, 12)
    figures = in_files(victim, some)
    assert figures.wrong == []
    assert figures.tried["the same in a file"] > 6
