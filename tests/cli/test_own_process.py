"""What processes of the program do without, and a user's own have as ever: pandas, and warnings at a sudden end."""

import os
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from heptalog.analytics.own_process import without_last_words, without_pandas
from tests.cli.running import run_program

# It says who has loaded it. Arrow goes on without what cannot be imported.
_PANDAS: Final = """
import os
with open(os.environ["LOADED"], "a") as file:
    print(os.getpid(), file=file)
raise ImportError("not this one")
"""
_ARROW: Final = "import {module}, pyarrow; pyarrow.array([1])"


@pytest.fixture
def loaded(tmp_path: Path) -> Path:
    """Where each process that loads pandas leaves a line."""
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "pandas.py").write_text(_PANDAS)
    return tmp_path / "loaded"


@pytest.fixture
def environment(loaded: Path) -> dict[str, str]:
    """Of a process that finds such a pandas before any other."""
    return os.environ | {"PYTHONPATH": str(loaded.with_name("installed")), "LOADED": str(loaded)}


def test_no_command_loads_it(tmp_path: Path, loaded: Path, environment: dict[str, str]) -> None:
    log = tmp_path / "games.duckdb"
    for command in (
        ("simulate", log, "--games", 6, "--seed", 1),
        ("rebuild", log),
        ("sql", log, "FROM games", "--format", "csv"),
        ("export", log, "--parquet", tmp_path / "games.parquet"),
    ):
        ended = run_program(*command, environment=environment)
        assert (ended.code, ended.err.count("pandas")) == (0, 0)
    assert not loaded.exists()


@pytest.mark.parametrize(
    "module", ["heptalog.service.store.duck", "heptalog.analytics.own_process, heptalog.analytics.processes"]
)
def test_whoever_uses_our_packages_has_it_as_ever(module: str, loaded: Path, environment: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-c", _ARROW.format(module=module)], env=environment, check=True)
    assert loaded.exists()


def test_it_is_not_found_from_then_on_and_nothing_else_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    before = len(sys.meta_path)
    without_pandas()
    without_pandas()
    assert len(sys.meta_path) == before + 1
    for name in ("pandas", "pandas.core"):
        with pytest.raises(ModuleNotFoundError) as caught:
            __import__(name)
        assert caught.value.name == "pandas"
    loaded = object()
    monkeypatch.setitem(sys.modules, "pandas", loaded)
    assert __import__("pandas") is loaded


# What a process shares with others when it is killed; who reads its stderr to the end has waited for what clears away.
_KILLED: Final = """
import multiprocessing, os, signal
from heptalog.analytics.own_process import without_last_words
{told}
lock = multiprocessing.get_context("spawn").Lock()
print(lock._semlock.name, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("is_ours", [True, False])
def test_who_is_killed_leaves_nothing_behind_and_only_others_are_warned_of_it(*, is_ours: bool) -> None:
    script = _KILLED.format(told="without_last_words()" if is_ours else "")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    killed = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert killed.returncode == -9
    assert ("leaked" in killed.stderr, killed.stderr == "") == (not is_ours, is_ours)
    with pytest.raises(FileNotFoundError):
        import_module("_multiprocessing").sem_unlink(killed.stdout.strip())


def test_warnings_that_somebody_wants_are_there_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    # Set, so that what it becomes is taken back too.
    monkeypatch.setenv("PYTHONWARNINGS", "")
    without_last_words()
    without_last_words()
    assert os.environ["PYTHONWARNINGS"] == "ignore:resource_tracker:UserWarning"
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    without_last_words()
    without_last_words()
    assert os.environ["PYTHONWARNINGS"] == "error,ignore:resource_tracker:UserWarning"


# It is told at the beginning of every program of ours: the command, and what a server starts for its tables.
_TELL: Final = "lambda *_: print(os.environ['PYTHONWARNINGS'], any('Finder' in str(one) for one in sys.meta_path))"
_PROGRAMS: Final = {
    "command": "import atexit; atexit.register(TELL); from heptalog.cli.app import main; main()",
    "tables": "from heptalog.service.tables.serving import serve; serve(TELL)",
}


@pytest.mark.parametrize("program", _PROGRAMS)
def test_each_program_is_told(program: str, tmp_path: Path) -> None:
    script = "import os, sys; " + _PROGRAMS[program].replace("TELL", _TELL)
    ours, theirs = socket.socketpair()
    place = f'{{"feed": "{tmp_path}/feed/socket", "database": "{tmp_path}/log.duckdb"}}'
    arguments = ("--version",) if program == "command" else (str(theirs.fileno()), "0", place)
    # Its standard input is what ends it with us.
    given, kept = socket.socketpair()
    with ours, theirs, given, kept:
        told = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env=os.environ | {"PYTHONWARNINGS": ""},
            pass_fds=[theirs.fileno()],
            stdin=given.fileno(),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    assert told.stdout.splitlines()[-1] == "ignore:resource_tracker:UserWarning True"
