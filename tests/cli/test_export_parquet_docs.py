"""The examples of docs/export.md, as they stand there."""

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import duckdb
import pandas  # noqa: F401  # an example needs it, and later there is none (tests/conftest.py)
import pytest

from heptalog.analytics.parquet.manifest import read
from heptalog.replay.registry import GAMES
from tests.cli.given import bare, write
from tests.cli.running import run

DOCUMENT = Path(__file__).parents[2] / "docs" / "export.md"


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the database that the examples speak of."""
    folder = tmp_path_factory.mktemp("season")
    for number, rules in enumerate(GAMES):
        write(folder / "games" / f"{rules.key}.jsonl", bare(rules, 50 + number, length=2_000))
    assert run("import", folder / "games", "--into", folder / "season.duckdb").code == 0
    return folder


@pytest.fixture(autouse=True)
def there(season: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(season)
    if not Path("season.parquet").exists():
        assert run("export", "season.duckdb", "--parquet", "season.parquet").code == 0


def blocks(language: str) -> list[str]:
    """The examples in a language."""
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)


def commands() -> Iterator[list[str]]:
    """The command lines at the top."""
    for line in re.findall(r"^ {4}heptalog (.*)$", DOCUMENT.read_text(), re.MULTILINE):
        command, *_ = re.split(r"\s+#", line)
        yield [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]


def test_the_commands_run() -> None:
    wanted = list(commands())
    assert [words[0] for words in wanted] == ["export", "sql", "import", "export"]
    for words in wanted:
        ended = run(*words)
        assert ended.code == 0, (words, ended.err)


def test_the_question_has_an_answer() -> None:
    (question,) = blocks("sql")
    with duckdb.connect() as connection:
        ((month, games, turns),) = connection.execute(question).fetchall()
    assert (len(month), games) == (7, 1)
    assert turns > 0


@pytest.mark.parametrize("place", range(3), ids=["pandas", "polars", "the manifest"])
def test_the_examples_run(place: int) -> None:
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(blocks("python")[place], "export.md", "exec"), {})
    wanted = ["CARD_PLAYED", "seven_rocks", str(read(Path("season.parquet")).games)]
    assert wanted[place] in printed.getvalue()


def test_the_layout_is_as_it_is_told() -> None:
    told = re.findall(r"^ {8}(\w+)(?:/ruleset=\w+/month=2026-11)?/000001\.parquet$", DOCUMENT.read_text(), re.MULTILINE)
    assert {"games", "turns", "events", "rating_changes", "refusals", "left_out"} == set(told)
    for name in told:
        assert list(Path("season.parquet", name).rglob("*.parquet"))
