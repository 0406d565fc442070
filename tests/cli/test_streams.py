"""stdout and stderr that are closed, full or gone: one of the exit codes, never a traceback, and no word misplaced."""

import os
import signal
import subprocess
from pathlib import Path

import duckdb
import pytest

from heptalog.cli import asking
from tests.cli.given import bad, bare, write
from tests.cli.running import PROGRAM, WAIT_SECONDS, run

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no disk that is always full")
COMMANDS = (("--help",), ("verify", "--help"), ("--version",), ("verify", "{}"), ("export", "{}"), ("show", "{}"))


def started(redirection: str, arguments: tuple[str, ...], game: Path) -> "subprocess.CompletedProcess[str]":
    """The program, with its streams as a shell opens them."""
    words = [str(PROGRAM), *(argument.format(game) for argument in arguments)]
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *words]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=WAIT_SECONDS, check=False)


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_result_for_a_closed_stdout_is_three(arguments: tuple[str, ...], game: Path) -> None:
    done = started(">&-", arguments, game)
    assert done.returncode == 3
    assert done.stderr.startswith("heptalog: Bad file descriptor\n")
    assert done.stderr.count("\n") == (2 if arguments == ("verify", "{}") else 1)


@needs_full
@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_result_for_a_full_disk_is_three(arguments: tuple[str, ...], game: Path) -> None:
    done = started(">/dev/full", arguments, game)
    assert done.returncode == 3
    assert done.stderr.startswith("heptalog: No space left on device\n")
    assert done.stderr.count("\n") == (2 if arguments == ("verify", "{}") else 1)


def test_a_result_for_nobody_is_three_and_says_nothing(game: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    for arguments in (("--help",), ("replay", game)):
        done = subprocess.run(
            [PROGRAM, *arguments], stdout=writer, stderr=subprocess.PIPE, encoding="utf-8", check=False
        )
        assert (done.returncode, done.stderr) == (3, "")
    os.close(writer)


@pytest.mark.parametrize("redirection", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_talk_that_cannot_be_written_changes_nothing(redirection: str, game: Path) -> None:
    assert started(redirection, ("verify", "{}"), game).returncode == 0
    wrong = write(game.with_name("wrong.jsonl"), bad(bare(length=5)))
    replayed = started(redirection, ("replay", "{}", "--format", "jsonl"), wrong)
    assert (replayed.returncode, replayed.stdout.count("\n")) == (1, 5)
    for arguments, code in ((("fly",), 2), (("diff", "{}"), 2), (("replay", "{}.no"), 3)):
        done = started(redirection, arguments, game)
        assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_nothing_to_write_to_is_no_way_into_a_database(game: Path) -> None:
    log = game.with_name("log.duckdb")
    assert started("<&- >&- 2>&-", ("import", "{}", "--into", str(log), "--quiet"), game).returncode == 0
    assert started("", ("verify", str(log)), game).returncode == 0


def test_a_question_that_is_interrupted_ends_quietly(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = asking._answer

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def ask_and_interrupt(connection: duckdb.DuckDBPyConnection, question: str) -> asking.Answer:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        return ask(connection, question)

    monkeypatch.setattr(asking, "_answer", ask_and_interrupt)
    # Another signal does what Ctrl-C does, and leaves whoever runs the tests alone.
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        ended = run("sql", database, "SELECT count(*) FROM range(1000000000000) WHERE hash(range) = 3")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ended == (130, "", "")
