"""The program as a whole: help, version, exit codes, and that a bug of our own is no verdict on a game."""

import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import heptalog.cli
from heptalog.cli.app import app
from heptalog.replay.form import IS_COMPILED
from tests.cli.running import run, run_program

COMMANDS = (
    "serve",
    "append",
    "import",
    "export",
    "games",
    "show",
    "replay",
    "follow",
    "verify",
    "diff",
    "legal",
    "sql",
    "rebuild",
    "views",
    "report",
    "doctor",
    "audit",
    "keygen",
    "checkpoint",
    "cosign",
    "bundle",
    "reveal",
    "backup",
    "restore",
    "simulate",
    "demo",
)
# What must not be loaded before a command needs it: help answers at once.
HEAVY = ("grpc", "duckdb", "google.protobuf", "msgspec", "numpy", "rich", "heptalog.replay", "heptalog.service")


def test_help_names_every_command_and_the_exit_codes() -> None:
    ended = run("--help")
    assert ended.code == 0
    assert re.findall(r"^  ([a-z]+)  ", ended.out, re.MULTILINE) == list(COMMANDS)
    assert "1 something is wrong, or two games differ; 2" in " ".join(ended.out.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    ended = run(command, "--help")
    assert ended.code == 0
    assert f"Usage: root {command}" in ended.out or f"heptalog {command}" in ended.out


def test_nothing_heavy_is_loaded_for_help() -> None:
    script = "import sys, heptalog.cli.app; print(*sys.modules, sep='\\n')"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in loaded if name.startswith(HEAVY)]


def test_no_module_needs_itself() -> None:
    # Imports inside of functions count: they only hide a circle.
    folder = Path(heptalog.cli.__file__).parent
    needs = {
        ".".join(("heptalog.cli", *path.relative_to(folder).with_suffix("").parts)): re.findall(
            r"^\s*from (heptalog\.cli\.[\w.]+) import", path.read_text(), re.MULTILINE
        )
        for path in folder.rglob("*.py")
    }
    assert "heptalog.cli.guard" in needs["heptalog.cli.commands.verify"]
    TopologicalSorter(needs).prepare()


def test_the_version_is_told() -> None:
    ended = run("--version")
    assert ended.code == 0
    form = "compiled" if IS_COMPILED else "as written"
    assert re.fullmatch(rf"heptalog \d+\.\d+\.\d+\S* \({form}\)\n", ended.out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("fly",),
        ("verify",),
        ("replay",),
        ("replay", "a", "b"),
        ("verify", "--wrong", "x"),
        ("verify", "x", "--format", "xml"),
        ("verify", "x", "--jobs", "many"),
        ("serve", "x", "--port", "99999"),
        ("sql",),
        ("diff",),
    ],
)
def test_wrong_use_is_two(arguments: tuple[str, ...]) -> None:
    ended = run(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err


def test_the_program_is_the_same_by_either_name(game: Path) -> None:
    ended = run_program("verify", game)
    module = subprocess.run(
        [sys.executable, "-m", "heptalog.cli", "verify", game], capture_output=True, text=True, check=False
    )
    assert (module.returncode, module.stdout, module.stderr) == ended


def test_what_is_written_is_utf8_whatever_the_terminal_speaks(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    line = '{"sequence":0,"gameStarted":{"players":[{"id":"a","name":"Ñandú 七"},{"id":"b"}],"sevenUp":{}}}\n'
    path.write_text(line, encoding="utf-8")
    for environment in ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        out = run_program("replay", path, environment=environment).out
        assert "Ñandú 七" in out
        assert "Round 0 · waiting" in out
        assert run_program("export", path, environment=environment).out == line


def test_a_file_with_a_name_that_is_not_utf8_can_be_verified(tmp_path: Path, game: Path) -> None:
    odd = tmp_path / "odd"
    odd.mkdir()
    (Path(str(odd)) / b"caf\xe9.jsonl".decode("utf-8", "surrogateescape")).write_bytes(game.read_bytes())
    ended = run("verify", odd, "--format", "json")
    assert ended.code == 0
    assert ended.document[0]["source"].endswith("caf\\xe9.jsonl")


def test_our_own_bug_is_told_in_one_line_and_quotes_nothing(game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise TypeError("the queen of spades")

    monkeypatch.setattr("heptalog.cli.examine.Examiner.advance", fail)
    result = CliRunner().invoke(app, ["replay", str(game)])
    assert result.exit_code == 3
    assert "internal error: TypeError at tests.cli.test_program" in result.stderr
    assert "spades" not in result.stderr


def test_an_interrupt_that_meets_a_query_of_the_engine_is_an_interrupt(
    game: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: object) -> None:
        # What the engine makes of a Ctrl-C.
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("heptalog.cli.examine.Examiner.advance", ask)
    result = CliRunner().invoke(app, ["replay", str(game)])
    assert (result.exit_code, result.stderr) == (130, "")


def test_an_interrupt_where_something_is_asked_is_an_interrupt(game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: object) -> None:
        # What typer makes of a Ctrl-C, or of the end of the input.
        raise typer.Abort

    monkeypatch.setattr("heptalog.cli.examine.Examiner.advance", ask)
    result = CliRunner().invoke(app, ["replay", str(game)])
    assert (result.exit_code, result.stderr) == (130, "\n")


def test_a_full_disk_is_no_traceback(game: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no disk that is always full")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "heptalog.cli", "replay", game], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
