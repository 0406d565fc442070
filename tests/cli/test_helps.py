"""The words of the command line: examples that are understood, and one name for one thing in every command."""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from heptalog.cli.app import app
from heptalog.cli.examples import EXAMPLES
from tests.cli.given import bare, changed, whole, write
from tests.cli.running import run

COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]  # it is a group
# What more than one command has and may say otherwise: a private key is a file, a public one also its own text.
KEY_NAMES = {"FILE", "KEY"}
# Examples that need nothing but one game and its database, in an order in which each finds what it needs.
RUN = (
    "import final.jsonl",
    "games season.duckdb",
    "games final.jsonl",
    "show",
    "replay",
    "legal",
    "diff final.jsonl",
    "export season.duckdb#final",
    "verify season.duckdb",
    "views standings",
    "keygen",
    "checkpoint season.duckdb",
    "bundle season.duckdb",
    "verify final.bundle",
    "reveal",
    "doctor",
    "audit season.duckdb",
    "backup season.duckdb",
    "restore",
)


def options() -> Iterator[tuple[str, Any]]:
    """Every option of every command."""
    for name, command in COMMANDS.items():
        for param in command.params:
            if param.param_type_name == "option":
                yield name, param


def test_every_command_has_examples_below_its_text() -> None:
    assert set(EXAMPLES) == set(COMMANDS)
    for name, lines in EXAMPLES.items():
        shown = run(name, "--help").out.split("\nExamples:\n")[1].splitlines()
        assert shown == [f"  {line}" for line in lines]
        assert 1 <= len(lines) <= 2


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_every_example_is_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program, name, *words = shlex.split(line)
    assert program == "heptalog"
    assert line in EXAMPLES[name]
    context = COMMANDS[name].make_context(name, words)
    assert not context.args


def test_examples_that_need_no_server_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    lines = [changed(line, lambda tree: tree.update(gameId="final")) for line in bare()]
    write(tmp_path / "final.jsonl", [lines[0].replace(b"Player 0", b"Ana"), *lines[1:]])
    write(tmp_path / "games" / "one.jsonl", whole())
    ran = set()
    for beginning in RUN:
        for line in (line for lines in EXAMPLES.values() for line in lines):
            if line.startswith(f"heptalog {beginning}") and line not in ran:
                ran.add(line)
                ended = run(*shlex.split(line)[1:])
                assert ended.code == 0, (line, ended)
    assert len(ran) >= 25


def test_what_is_given_is_told_by_what_it_is() -> None:
    for name, command in COMMANDS.items():
        out = run(name, "--help").out
        assert not re.search(r"<\w|\{|\b(?:TEXT|INTEGER|FLOAT)\b", out), out
        for param in command.params:
            assert param.metavar or getattr(param, "is_flag", False) or param.name == "help", (name, param.name)


def test_one_name_means_one_thing_and_has_one_short_form() -> None:
    said: dict[str, set[str | None]] = defaultdict(set)
    shorts: dict[str, set[str]] = defaultdict(set)
    longs: dict[str, set[str]] = defaultdict(set)
    for _, param in options():
        (long,) = (each for each in param.opts if each.startswith("--") and each != "--h")
        short = [each for each in param.opts if not each.startswith("--")]
        said[long].add(param.metavar)
        longs[long].add("".join(short))
        for each in short:
            shorts[each].add(long)
    assert {each: names for each, names in shorts.items() if len(names) > 1} == {}
    assert {long: kinds for long, kinds in longs.items() if len(kinds) > 1} == {}
    several = {long: names for long, names in said.items() if len(names) > 1}
    assert several.pop("--key") == KEY_NAMES
    assert several.pop("--out") == {"FILE", "FOLDER", "FILE|FOLDER"}
    assert several.pop("--format") == {"text|jsonl", "text|json|jsonl", "text|csv|json|jsonl|parquet|arrow"}
    assert several == {}
    assert not {"--viewer", "--processes", "--game"} & {*said}
