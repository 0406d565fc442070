"""A bounded run over every target, the same in every run, and everything that ever failed.

`python -m tests.trials.fuzz` looks for longer, and writes what it finds into `corpus/`.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import databases, requests
from tests.fuzz.proofs import PROOFS
from tests.fuzz.running import CORPUS, Figures, TooSlow, attempt, run
from tests.fuzz.targets import LIBRARY, Target

NAMES = (*(target.name for target in (*LIBRARY, *PROOFS)), "request", "database")
KEPT = [path for path in sorted(CORPUS.iterdir()) if path.suffix.removeprefix(".") in NAMES]


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Target]]:
    """All targets by their names; a server and a process stand behind two of them."""
    server = requests.Fuzzed(tmp_path_factory.mktemp("server"))
    verifying = databases.Verifying()
    every = (*LIBRARY, *PROOFS, requests.target_of(server), databases.target_of(verifying))
    yield {target.name: target for target in every}
    server.close()
    verifying.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_bounded_run(name: str, targets: dict[str, Target]) -> None:
    target = targets[name]
    # Redacted copies, and requests that are wrong on purpose, are seeds that are refused.
    assert any(attempt(target, data).is_accepted for data in target.seeds())
    figures = Figures(name)
    run(target, Random(f"bounded {name}"), figures, is_over=lambda: figures.inputs >= target.tries, keep=None)
    assert figures.refused, "what is changed is found"


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_what_failed_once(path: Path, targets: dict[str, Target]) -> None:
    tried = attempt(targets[path.suffix.removeprefix(".")], path.read_bytes())
    assert tried.failure is None
    assert not (path.name.startswith("refused-") and tried.is_accepted)


def test_what_fails_is_kept_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def check(data: bytes) -> bool:
        if data == b"crash":
            raise KeyError("a bug")
        if data == b"slow":
            raise TooSlow
        return data == b"good"

    seeds = (b"good", b"bad", b"crash", b"slow")
    target = Target("planted", lambda: seeds, lambda data, _: data, check)
    figures = Figures(target.name)
    run(target, Random(1), figures, is_over=lambda: figures.inputs == 40, keep=tmp_path)
    assert figures.accepted + figures.refused + len(figures.failures) == 40
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"crash", b"slow"}
    assert "KeyError" in capsys.readouterr().out
