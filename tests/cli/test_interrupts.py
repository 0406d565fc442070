"""Ctrl-C that meets a question of the engine: the end of the command, and no verdict on what was asked."""

import signal
import sys
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import duckdb
import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from heptalog.cli.asking import Wishes
from heptalog.cli.exits import Exit
from heptalog.cli.options import TableForm
from heptalog.cli.prompting import prompt
from heptalog.cli.replies import Reply
from heptalog.service.auditing.progress import load
from heptalog.service.store.duck_faults import is_interrupt
from heptalog.service.store.duck_kept import Kept
from heptalog.service.store.duck_read import Snapshot
from tests.cli.asked import Asker, reply_to
from tests.cli.running import run
from tests.trials.victims import Victim

# What the engine raises in place of a KeyboardInterrupt, as the first test sees to it.
ENGINE = RuntimeError("Query interrupted")
# Whatever a command asks of a database that it has opened goes through these.
ASKING = ((Kept, "_rows"), (Kept, "_pieces"), (Kept, "rows_of_games"), (Snapshot, "rows"), (Snapshot, "columns"))


class Questions:
    """The questions that the engine is asked: they are counted, and one of them is interrupted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = 0
        self.interrupted = 0
        for kind, name in ASKING:
            monkeypatch.setattr(kind, name, self._counted(getattr(kind, name)))

    def interrupt(self, number: int) -> None:
        """Count from the beginning, and interrupt the question with this number; none, where it is 0."""
        self.asked, self.interrupted = 0, number

    def _counted(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: object, **options: object) -> Any:
            self.asked += 1
            if self.asked == self.interrupted:
                raise ENGINE
            return ask(*arguments, **options)

        return counted


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> Questions:
    """Counts what is asked, and interrupts it."""
    return Questions(monkeypatch)


@pytest.fixture
def unhurried() -> Iterator[None]:
    """Whoever has the interpreter keeps it until it lets go of it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("fetch", ["fetchall", "fetchnumpy"])
def test_what_the_engine_makes_of_an_interrupt_is_known(fetch: str) -> None:
    gate = Lock()
    gate.acquire()

    def interrupt() -> None:
        with gate:
            interrupt_main(signal.SIGINT)

    interrupter = Thread(target=interrupt)
    interrupter.start()
    # With more threads this one may only wait for the others.
    with duckdb.connect(config={"threads": 1}) as connection:
        # Minutes, and not for ever: where nothing is interrupted this fails.
        long = connection.sql("SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000) b")
        # The other thread runs as soon as the engine lets go of the interpreter, in the middle of that.
        gate.release()
        with pytest.raises(RuntimeError) as raised:
            getattr(long, fetch)()
    interrupter.join()
    assert is_interrupt(raised.value)
    assert str(raised.value) == str(ENGINE)


def test_what_is_no_interrupt_is_none() -> None:
    assert is_interrupt(KeyboardInterrupt())
    assert is_interrupt(duckdb.InterruptException("Interrupted!"))
    assert not is_interrupt(RuntimeError("Query interrupted: the queen of spades"))
    assert not is_interrupt(duckdb.Error("Query interrupted"))


def test_an_audit_that_is_interrupted_finds_nothing_and_keeps_nothing_false(
    victim: Victim, key: Path, tmp_path: Path, small_works: None, questions: Questions
) -> None:
    questions.interrupt(0)
    assert run("audit", victim.path, "--key", key, "--no-state", "-j", 1).code == 0
    every = range(1, questions.asked + 1)
    assert len(every) > 50
    state = tmp_path / "state"
    kept = 0
    for number in every:
        state.unlink(missing_ok=True)
        questions.interrupt(number)
        ended = run("audit", victim.path, "--key", key, "--state", state, "-j", 1)
        assert (ended.code, ended.out, questions.asked) == (130, "", number)
        if (progress := load(state)) is not None:
            kept += 1
            assert not progress.findings
            assert progress.is_whole
    assert kept > 30
    questions.interrupt(0)
    ended = run("audit", victim.path, "--key", key, "--state", state, "-j", 1)
    assert ended.code == 0
    assert "going on where it was" in ended.err


@pytest.mark.parametrize(
    "command", [("verify", "-j", 1), ("games",), ("export", "--out", "{out}")], ids=lambda words: words[0]
)
def test_a_log_is_not_called_damaged_because_somebody_interrupts(
    command: tuple[object, ...], log: Path, tmp_path: Path, questions: Questions
) -> None:
    words = [str(word).format(out=tmp_path / "out") for word in command]
    assert run(*words, log).code == 0
    every = range(1, questions.asked + 1)
    assert len(every) > 3
    for number in every:
        questions.interrupt(number)
        ended = run(*words, log)
        assert (ended.code, ended.err, questions.asked) == (130, "", number)
        assert "BAD" not in ended.out


def test_one_game_is_not_called_damaged_because_somebody_interrupts(log: Path, questions: Questions) -> None:
    name = f"{log}#{run('games', log, '--format', 'json').document[0]['gameId']}"
    for command in ("verify", "replay", "show"):
        questions.interrupt(0)
        assert run(command, name).code == 0
        every = range(1, questions.asked + 1)
        for number in every:
            questions.interrupt(number)
            ended = run(command, name)
            assert (ended.code, ended.err) == (130, "")
            assert "BAD" not in ended.out


class Interrupting(Asker):
    """Is interrupted while its tables are brought up to date."""

    @contextmanager
    def ask(self, sql: str, wishes: Wishes) -> Iterator[Reply]:
        if "long" in sql:
            raise ENGINE
        with super().ask(sql, wishes) as reply:
            yield reply


def test_at_the_prompt_an_interrupt_ends_the_question_only(capsys: pytest.CaptureFixture[str]) -> None:
    with create_pipe_input() as keyboard:
        keyboard.send_text("SELECT 1 AS long;\nSELECT 2 AS b;\n\x04")
        ended = prompt(Interrupting(), TableForm.TEXT, Wishes(), input_=keyboard, output=DummyOutput())
    told = capsys.readouterr()
    assert (ended, told.err) == (Exit.FINE, "heptalog: cancelled\n")
    assert "1 row" in told.out


def test_at_the_prompt_a_bug_is_no_interrupt() -> None:
    with create_pipe_input() as keyboard:
        keyboard.send_text("SELECT 1;\n\x04")
        with pytest.raises(RuntimeError, match="another"):
            prompt(Failing(), TableForm.TEXT, Wishes(), input_=keyboard, output=DummyOutput())


class Failing(Asker):
    """Has a bug."""

    @contextmanager
    def ask(self, sql: str, wishes: Wishes) -> Iterator[Reply]:
        with super().ask(sql, wishes):
            raise RuntimeError("another")
        yield reply_to(sql)  # type: ignore[unreachable]  # so that it is a context
