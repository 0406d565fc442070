"""The prompt of `heptalog sql`: what is typed, what is answered, and what is kept."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_toolkit.history import History
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from heptalog.cli.asking import Wishes
from heptalog.cli.exits import Exit
from heptalog.cli.histories import ENTRIES_MAX, OwnHistory, own_history
from heptalog.cli.options import TableForm
from heptalog.cli.prompting import prompt
from heptalog.replay.errors import Code, Unavailable
from tests.cli.asked import ENTRIES, POSITION, Asker
from tests.cli.running import Ended

UP = "\x1b[A"
CTRL_C = "\x03"
CTRL_D = "\x04"


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """What came of typing this at the prompt; the session ends where nothing more is typed."""

    def type_(*keys: str, asker: Asker | None = None, wishes: Wishes | None = None) -> Ended:
        with create_pipe_input() as keyboard:
            keyboard.send_text("".join(keys) + CTRL_D)
            code = prompt(asker or Asker(), TableForm.TEXT, wishes or Wishes(), input_=keyboard, output=DummyOutput())
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return type_


Typed = Callable[..., Ended]


def test_a_question_may_have_many_lines_and_ends_with_a_semicolon(typed: Typed) -> None:
    asker = Asker()
    ended = typed("SELECT 1 AS a,\n", "';' AS b\n", ";\n", asker=asker)
    assert (ended.code, ended.err) == (Exit.FINE, "")
    (question, wishes), *others = asker.asked
    assert (" ".join(question.split()), wishes, others) == ("SELECT 1 AS a, ';' AS b", Wishes(), [])
    lines = ended.out.splitlines()
    assert [line.split() for line in lines[1:4:2]] == [["a", "b"], ["1", ";"]]
    assert lines[4].startswith("1 row · ")
    assert lines[4].endswith(f" s · position {POSITION:,}")


def test_several_questions_in_one_go_are_asked_one_after_the_other(typed: Typed) -> None:
    asker = Asker()
    ended = typed("SELECT 1 AS a; SELECT nothing; SELECT 2 AS b;\n", asker=asker)
    assert [question.strip() for question, _ in asker.asked] == ["SELECT 1 AS a", "SELECT nothing", "SELECT 2 AS b"]
    assert ended.out.count("1 row · ") == 2
    assert ended.err.count("[QUERY_INVALID]") == ended.err.count("\n") == 1


def test_a_failure_ends_the_question_only(typed: Typed) -> None:
    ended = typed("SELEC 1;\n", "SELECT 1 AS a;\n")
    assert ended.code is Exit.FINE
    assert "[QUERY_INVALID]" in ended.err
    assert "1 row · " in ended.out


def test_ctrl_c_ends_what_is_asked_or_typed_and_nothing_else(typed: Typed) -> None:
    asker = Asker()
    ended = typed("SELECT 'interrupt'; SELECT 0;\n", "SELECT nonsense", CTRL_C, "SELECT 1;\n", asker=asker)
    assert [question for question, _ in asker.asked] == ["SELECT 'interrupt'", "SELECT 1"]
    assert ended.err == "heptalog: cancelled\n"
    assert "1 row · " in ended.out


@pytest.mark.parametrize("way", ["quit\n", "exit;\n", ".quit\n", CTRL_D])
def test_there_are_ways_out(way: str, typed: Typed) -> None:
    asker = Asker()
    assert typed(way, "SELECT 1;\n", asker=asker).code is Exit.FINE
    assert asker.asked == []


def test_nothing_and_remarks_are_no_questions(typed: Typed) -> None:
    asker = Asker()
    typed("\n", ";\n", "  \n", "-- a remark\n;\n", asker=asker)
    assert asker.asked == []


def test_the_tables_are_listed_and_described(typed: Typed) -> None:
    out = typed(".tables\n").out
    assert all(f"\n{entry.name} " in out for entry in ENTRIES)
    out = typed(".describe Games;\n").out
    assert "One row a game" in out
    assert "\ngame_id " in out
    assert "The game, by its name for ever." in out
    assert typed(".describe gmaes\n").err.endswith("there is no such table or view; did you mean games?\n")
    assert typed(".describe xyz\n").err.endswith("there is no such table or view; .tables lists them\n")


def test_a_server_that_is_gone_is_told_where_it_is_needed(typed: Typed) -> None:
    gone = Unavailable(Code.SERVER_UNREACHABLE, server="example.org:7777")
    ended = typed("\t", ".tables\n", "SELECT 1;\n", asker=Asker(fails=gone))
    assert ended.err.count("[SERVER_UNREACHABLE]") == 1
    assert "1 row · " in ended.out


def test_the_form_can_be_changed(typed: Typed) -> None:
    ended = typed(
        ".format\n", ".format json\n", "SELECT 1 AS a;\n", ".format parquet\n", ".format csv\n", "SELECT 2 AS a;\n"
    )
    assert "answers are shown as text\nanswers are shown as json\n" in ended.out
    assert '[\n{"a":1}\n]\n1 row · ' in ended.out
    assert "\na\n2\n1 row · " in ended.out
    assert ended.err == "heptalog: .format parquet: the forms here are text, csv, json, jsonl\n"


def test_the_time_can_be_changed(typed: Typed) -> None:
    asker = Asker()
    keys = (
        ".timeout\n",
        ".timeout 2.5\n",
        "SELECT 1;\n",
        ".timeout x\n",
        ".timeout -1\n",
        ".timeout 0\n",
        "SELECT 1;\n",
    )
    ended = typed(*keys, asker=asker, wishes=Wishes(seconds=7.0, rows=9))
    assert [wishes for _, wishes in asker.asked] == [Wishes(seconds=2.5, rows=9), Wishes(seconds=None, rows=9)]
    assert "as long as 7" not in ended.out
    assert ended.err.count("write a number of seconds") == 2


def test_a_command_that_is_none_is_told(typed: Typed) -> None:
    ended = typed(".drop games\n", ".help\n", ".help me\n")
    assert ended.err == "heptalog: .drop: no such command; .help lists them\nheptalog: .help takes nothing more\n"
    assert all(f"\n{command}" in ended.out for command in (".tables", ".describe NAME", ".format", ".timeout", ".quit"))


def test_a_long_answer_is_cut_and_that_is_told(typed: Typed) -> None:
    ended = typed("FROM range(2500);\n", "SELECT repeat('x', 3000) AS a;\n")
    assert "\nthe first 1,000 rows · " in ended.out
    assert "the first 1,000 rows" in ended.err
    assert "longer than 2,000 characters is cut" in ended.err
    assert "x" * 2000 + "…" in ended.out


# What was asked before.


def kept(state_home: Path) -> list[str]:
    return [json.loads(line) for line in (state_home / "heptalog" / "history").read_text().splitlines()]


def test_what_was_asked_comes_back_in_the_next_session(typed: Typed, state_home: Path) -> None:
    typed("SELECT 1 AS a,\n2 AS b;\n", ".format text\n")
    asker = Asker()
    typed(UP, UP, "\n", asker=asker)
    assert [question for question, _ in asker.asked] == ["SELECT 1 AS a,\n2 AS b"]
    assert kept(state_home)[:2] == ["SELECT 1 AS a,\n2 AS b;", ".format text"]


def test_what_was_asked_is_for_nobody_else(typed: Typed, state_home: Path) -> None:
    mask = os.umask(0)
    try:
        typed("SELECT 1;\n")
    finally:
        os.umask(mask)
    path = state_home / "heptalog" / "history"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def entries(history: History) -> list[str]:
    return list(history.load_history_strings())


def test_it_is_kept_within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "own" / "history"
    history = OwnHistory(path)
    for number in range(ENTRIES_MAX + 1):
        history.store_string(f"SELECT {number}")
    history.store_string("x" * 100_000)
    newest = entries(OwnHistory(path))
    assert newest == [f"SELECT {number}" for number in range(ENTRIES_MAX, ENTRIES_MAX // 2, -1)]
    assert len(path.read_text().splitlines()) == len(newest)
    assert sorted(path.parent.iterdir()) == [path]


def test_what_somebody_else_could_have_written_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "history"
    OwnHistory(path).store_string("SELECT 1")
    path.chmod(0o666)
    assert entries(OwnHistory(path)) == []
    path.chmod(0o600)
    link = tmp_path / "link"
    link.symlink_to(path)
    assert entries(OwnHistory(link)) == []
    OwnHistory(link).store_string("SELECT 2")
    assert entries(OwnHistory(path)) == ["SELECT 1"]


@pytest.mark.parametrize("data", [b"\xff\n", b'{"a": 1}\n', b'"torn', b"\0" * 100, b'["x"]\n"good"\n'])
def test_a_damaged_history_is_what_can_be_read_of_it(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(data)
    path.chmod(0o600)
    assert entries(OwnHistory(path)) == (["good"] if b"good" in data else [])


def test_without_a_place_there_is_none(typed: Typed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "below"))
    assert own_history() == tmp_path / "file" / "below" / "heptalog" / "history"
    assert "1 row · " in typed("SELECT 1;\n").out
    assert entries(OwnHistory(None)) == []
