"""The two forms of the core: as it is written, and compiled from the same source. Both pass the same tests."""

import ast
import tomllib
import traceback
from importlib import import_module
from pathlib import Path

import pytest

from heptalog.replay import Player, SevenRocks, TilePlayed, form
from heptalog.replay.errors import Refused
from heptalog.replay.events import GameStarted
from heptalog.replay.fold import fold_all

ROOT = Path(__file__).parent.parent


@pytest.fixture
def is_compiled(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--compiled"))


def compiled_modules() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["modules"]
    found = [path.relative_to(ROOT / "replay") for pattern in patterns for path in ROOT.glob(pattern)]
    return [".".join(path.with_suffix("").parts) for path in found]


def test_the_form_that_was_asked_for_runs(is_compiled: bool) -> None:
    assert is_compiled == form.IS_COMPILED


@pytest.mark.parametrize("name", compiled_modules())
def test_every_module_has_the_form_of_all(name: str, is_compiled: bool) -> None:
    file = import_module(name).__file__
    assert file is not None
    assert (Path(file).suffix != ".py") == is_compiled, file


@pytest.mark.parametrize("name", compiled_modules())
def test_no_module_makes_what_the_compiler_spoils(name: str) -> None:
    # What a struct or an enum is told in the line of its class gets lost.
    file = ROOT / "replay" / Path(*name.split(".")).with_suffix(".py")
    classes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ClassDef)]
    assert not [each.name for each in classes if each.keywords]
    assert not {ast.unparse(base) for each in classes for base in each.bases} - {"Exception", "NamedTuple"}


def test_a_refusal_is_traced_to_its_rule_in_either_form() -> None:
    started = GameStarted(tuple(map(Player, "abcd")), SevenRocks())
    with pytest.raises(Refused) as refused:
        fold_all([started, TilePlayed(0, "6-6")])
    file, line, _, _ = traceback.extract_tb(refused.tb)[-1]
    assert file.endswith("heptalog/replay/seven_rocks/check.py")
    assert "raise Refused" in (ROOT / "replay/heptalog/replay/seven_rocks/check.py").read_text().splitlines()[line - 1]
