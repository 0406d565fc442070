"""Documents against the program: generated blocks are up to date, examples run, links lead somewhere."""

import ast
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pandas  # noqa: F401  # an example needs it, and later there is none (tests/conftest.py)
import pytest

from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from tests.service.asking import check_record
from tests.service.backing import grow
from tests.service.querying import settings
from tests.support.documents import BLOCKS, ROOT, with_block
from tests.support.serving import Service

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("proto/*.md"), *ROOT.glob("tests/*.md")])


@pytest.mark.parametrize("name", BLOCKS)
def test_generated_blocks_are_up_to_date(name: str, request: pytest.FixtureRequest) -> None:
    document, make = BLOCKS[name]
    path = ROOT / document
    expected = with_block(path.read_text(), name, make())
    if request.config.getoption("--bless"):
        path.write_text(expected)
    assert path.read_text() == expected, f"{document} is out of date: make bless"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_what_a_game_is_is_told_as_it_stands_in_the_code() -> None:
    (told,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "rules-of-a-game.md").read_text(), re.DOTALL)
    assert _members_of(told) == _members_of((ROOT / "replay/heptalog/replay/rules.py").read_text())


def _members_of(source: str) -> list[str]:
    """What the class Rules asks for, without what is said of it."""
    (rules,) = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == "Rules")
    members = []
    for node in rules.body:
        if isinstance(node, ast.FunctionDef):
            members.append(f"{node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns or node)}")
        elif isinstance(node, ast.AnnAssign):
            members.append(ast.unparse(node))
    return members


def test_asking_from_python_is_as_it_is_shown(tmp_path: Path) -> None:
    _, example = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "service.md").read_text(), re.DOTALL)
    printed = StringIO()
    path = tmp_path / "games.duckdb"
    with Service(DuckStore(path), settings=settings(path)) as service, redirect_stdout(printed):
        grow(service.store)
        exec(compile(example.replace("127.0.0.1:7777", service.target), "service.md", "exec"), {})
        position = service.store.position()
    counts, *frame = printed.getvalue().splitlines()
    assert counts.split()[1] == str(position)
    assert len(frame) > 3
    assert frame[0].split() == ["ruleset", "games"]
    assert f"{position} of {position}" in frame


def test_appending_on_a_stream_is_as_it_is_shown() -> None:
    example, _ = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "service.md").read_text(), re.DOTALL)
    printed = StringIO()
    with Service(MemoryStore()) as service, redirect_stdout(printed):
        exec(compile(example.replace("127.0.0.1:7777", service.target), "service.md", "exec"), {})
        check_record(service.store, "streamed", 100)
    assert printed.getvalue() == "99\n"


def test_recording_and_reading_from_python_are_as_they_are_shown() -> None:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "client.md").read_text(), re.DOTALL)
    source = "".join(examples)
    printed = StringIO()
    with Service(MemoryStore()) as service, redirect_stdout(printed):
        exec(compile(source.replace("127.0.0.1:7777", service.target), "client.md", "exec"), {})
    # Behind what a line prints a remark may follow, and "…" is left out.
    told = [re.split("[:;] (?!…)", shown)[0] for shown in re.findall(r"print\(.*\)  # (.*)", source)]
    assert len(told) > 10
    for line, shown in zip(printed.getvalue().splitlines(), told, strict=True):
        assert re.fullmatch(re.escape(shown).replace("…", ".*"), line), f"{shown} is told, and {line} is printed"


def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    printed = StringIO()
    with Service(DuckStore(tmp_path / "games.duckdb")) as service, redirect_stdout(printed):
        exec(compile(example.replace("127.0.0.1:7777", service.target), "README.md", "exec"), {})
    assert re.fullmatch(r"\(10, 0\) [0-9a-f]{64}\n", printed.getvalue())
