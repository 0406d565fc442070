"""stdout and stderr that are closed, full or gone: one of the exit codes, never a traceback, and no word misplaced."""

import fcntl
import os
import subprocess
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.given import bad, bare, whole, write
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


def test_a_result_for_nobody_ends_as_by_the_signal_for_that_and_says_nothing(game: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    for arguments in (("--help",), ("replay", game)):
        done = subprocess.run(
            [PROGRAM, *arguments], stdout=writer, stderr=subprocess.PIPE, encoding="utf-8", check=False
        )
        assert (done.returncode, done.stderr) == (141, "")
    os.close(writer)


# Each is more than the pipe below holds.
LONG = (("export", "{game}"), ("sql", "{log}", "FROM range(1000000)", "--format", "csv"), ("views", "--format", "json"))


@pytest.mark.parametrize("arguments", LONG, ids=lambda words: words[0])
def test_a_reader_that_goes_in_the_middle_ends_the_program_as_that_signal_does(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    game, log = write(tmp_path / "long.jsonl", whole(length=100)), tmp_path / "log.duckdb"
    assert run("import", game, "--into", log, "--quiet").code == 0
    reader, writer = os.pipe()
    # As little as can be: what is written beyond waits for who reads, or finds him gone.
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    words = [str(PROGRAM), *(argument.format(game=game, log=log) for argument in arguments)]
    with subprocess.Popen(words, stdout=writer, stderr=subprocess.PIPE, encoding="utf-8") as process:
        os.close(writer)
        assert os.read(reader, 1)
        os.close(reader)
        _, told = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, told) == (141, "")


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


def on_a_terminal(*arguments: object, out: Path | None = None) -> str:
    """What a terminal of 50 columns is sent; where `out` is given the result goes there."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 50))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with (out or Path(os.devnull)).open("wb") as file:
        process = subprocess.Popen(
            [PROGRAM, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=theirs if out is None else file,
            stderr=theirs,
            env=environment | {"TERM": "xterm"},
        )
    os.close(theirs)
    sent = b""
    # Linux says with an error that nobody has it open any more.
    with suppress(OSError):
        while data := os.read(ours, 65536):
            sent += data
    os.close(ours)
    assert process.wait(WAIT_SECONDS) == 1
    return sent.decode().replace("\r\n", "\n")


def test_a_terminal_breaks_lines_and_not_the_count(game: Path, tmp_path: Path) -> None:
    wrong = write(game.with_name("wrong.jsonl"), bad(bare(length=5)))
    text, lines = run("verify", wrong, game), run("verify", wrong, game, "--format", "jsonl")
    for line in (text.out + lines.out).splitlines():
        assert len(line) > 50
    for ended, form in ((text, "text"), (lines, "jsonl")):
        sent = on_a_terminal("verify", wrong, game, "--format", form)
        assert "games verified" in sent
        for line in ended.out.splitlines():
            assert f"\x1b[2K{line}\n" in sent
        # Where the result does not go to the terminal it goes nowhere near it.
        talk = on_a_terminal("verify", wrong, game, "--format", form, out=tmp_path / "out")
        assert "games verified" in talk
        assert "wrong.jsonl" not in talk
        assert (tmp_path / "out").read_text() == ended.out
