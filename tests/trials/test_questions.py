"""The trial of questions, short: a few clients append and ask while what answers them is killed and made anew."""

from pathlib import Path

from tests.trials.questions import Trial


def test_no_answer_is_older_than_the_last_receipt_whatever_is_killed(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "log.duckdb", seed=3)
    trial.run(seconds=5.0, clients=2, answers=4)
    assert trial.violations == []
    assert len(trial.questions) > 3
