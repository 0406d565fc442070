"""The backup trial, short: backups under load, of which somebody is killed, restored and compared."""

from pathlib import Path

from tests.trials.backup import run


def test_whoever_is_killed_the_backup_is_the_beginning_of_the_log(tmp_path: Path) -> None:
    trial = run(tmp_path / "log.duckdb", rounds=3, seconds=0, seed=4, clients=2)
    assert trial.violations == []
    assert trial.ledger.found_count > 100
    assert set(trial.victims) == {"server", "backup", "nobody"}
