"""The trial of flipped bits, short: whatever a question makes of one, a round finds it."""

from pathlib import Path

from tests.trials.flipped import Trial


def test_a_bit_that_flips_anywhere_is_found(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "tables", seed=7)
    trial.run(50)
    assert trial.violations == []
    assert trial.made_anew == 1
    assert trial.answers.total() == 50
    assert trial.answers["wrong"], "this is what it is for"
