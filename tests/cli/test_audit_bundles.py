"""`heptalog audit --checkpoint` with a bundle: whoever has one game has a checkpoint of the whole log."""

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.trials.victims import KEYS, Victim, made


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    """A log with checkpoints."""
    return made(tmp_path / "games.duckdb", length=40, games_each=1)


@pytest.fixture
def bundle(tmp_path: Path, victim: Victim) -> Path:
    """One game of it."""
    path = tmp_path / "game.bundle"
    first, *_ = run("games", victim.path, "--format", "jsonl").lines
    assert run("bundle", f"{victim.path}#{first['gameId']}", "--out", path).code == 0
    return path


def test_the_checkpoint_in_a_bundle_is_held_against_the_log(tmp_path: Path, victim: Victim, bundle: Path) -> None:
    key = tmp_path / "log.pub"
    key.write_text("".join(f"{key.format()}\n" for key in KEYS))
    ended = run("audit", victim.path, "--checkpoint", bundle, "--key", key)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("ok ")


def test_another_log_is_not_the_one_that_a_bundle_is_of(tmp_path: Path, bundle: Path) -> None:
    (tmp_path / "other").mkdir()
    other = made(tmp_path / "other" / "games.duckdb", length=50, games_each=2)
    ended = run("audit", other.path, "--checkpoint", bundle, "--format", "json")
    assert ended.code == 1
    assert [(finding["code"], finding["path"]) for finding in ended.document["findings"]] == [
        ("CHECKPOINT_DIFFERS", bundle.name)
    ]


def test_a_bundle_that_is_none_is_wrong_use(tmp_path: Path, victim: Victim, bundle: Path) -> None:
    torn = tmp_path / "torn.bundle"
    torn.write_bytes(bundle.read_bytes()[:200])
    ended = run("audit", victim.path, "--checkpoint", torn)
    assert (ended.code, ended.out) == (2, "")
    assert f"path {torn} (evidence) [BUNDLE_INVALID]" in ended.err
