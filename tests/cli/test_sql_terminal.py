"""`heptalog sql` on a real terminal: the prompt, Ctrl-C and Ctrl-D, tables that are too wide, colours."""

from pathlib import Path

import pytest

from tests.cli.running import serving
from tests.cli.terminals import terminal

CTRL_C = "\x03"
CTRL_D = "\x04"
# The space behind it is where the cursor is.
PROMPT = "log.duckdb>"
ENDLESS = "SELECT count(*) FROM range(1000000000000) WHERE hash(range) = 3"


@pytest.mark.parametrize("is_served", [False, True])
def test_a_session_at_the_prompt(is_served: bool, log: Path) -> None:
    if not is_served:
        session(str(log), PROMPT)
        return
    with serving(log) as server:
        session(server.url, f"{server.url.removeprefix('grpc://')}>")


def session(source: str, prompt: str) -> None:
    with terminal("sql", source) as screen:
        screen.until(prompt)
        screen.type("SELECT ruleset, status\rFROM games ORDER BY 1;\r")
        seen = screen.until(" · position ")
        assert [line.split() for line in seen.splitlines()[-5:-1]][1:] == [
            ["seven_bridge", "CLOSED"],
            ["seven_rocks", "RUNNING"],
            ["seven_up", "WON"],
        ]
        assert "3 rows · " in seen
        screen.until(prompt)
        # What runs is ended, and the next question is answered.
        screen.type(f"{ENDLESS};\r")
        screen.until("rows 0")
        screen.type(CTRL_C)
        screen.until("heptalog: cancelled")
        screen.until(prompt)
        screen.type("SELECT * FROM gmaes;\r")
        screen.until("did you mean games?")
        screen.until(prompt)
        screen.type("SELECT quantile_c\t")
        screen.until("quantile_cont(")
        screen.type("events, 0) AS fewest FROM games;\r")
        screen.until("1 row · ")
        screen.until(prompt)
        screen.type(CTRL_D)
        assert screen.ended()[0] == 0


def test_what_is_too_wide_for_a_table_is_told_row_by_row(log: Path) -> None:
    question = "SELECT * FROM games ORDER BY ruleset"
    with terminal("sql", log, question) as screen:
        code, seen = screen.ended()
    assert code == 0
    assert "row 1\n  game_number       " in seen
    assert "\n\nrow 3\n" in seen
    with terminal("sql", log, question, columns=1000) as screen:
        assert "game_number  game_id" in screen.ended()[1]
    with terminal("sql", log, f"SELECT * FROM ({question}) WHERE false") as screen:
        assert "no row of game_number, game_id, " in screen.ended()[1]


def test_ctrl_c_ends_a_question_quietly(log: Path) -> None:
    with terminal("sql", log, ENDLESS) as screen:
        screen.until("rows 0")
        screen.type(CTRL_C)
        code, seen = screen.ended()
    assert code == 130
    assert "heptalog" not in seen


def test_ctrl_c_at_the_prompt_is_no_end(log: Path) -> None:
    with terminal("sql", log) as screen:
        screen.until(PROMPT)
        screen.type(f"SELECT nonsense{CTRL_C}")
        screen.until("nonsense")
        screen.until(PROMPT)
        screen.type("SELECT 7 AS n;\r")
        screen.until("1 row · ")
        screen.until(PROMPT)
        screen.type("quit\r")
        assert screen.ended()[0] == 0


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_colours_can_be_left_out(environment: dict[str, str], log: Path) -> None:
    with terminal("sql", log, environment=environment) as screen:
        screen.until(PROMPT)
        screen.type("SELECT 'a' AS b;\r")
        screen.until("1 row · ")
        # Keys that come before the prompt are the terminal's, which has its own idea of this one.
        screen.until(PROMPT)
        screen.type(CTRL_D)
        assert screen.ended()[0] == 0
        assert screen.has_colours is not bool(environment)


def test_what_is_no_text_is_not_written_to_a_terminal(log: Path) -> None:
    for form in ("parquet", "arrow"):
        with terminal("sql", log, "SELECT 1", "--format", form) as screen:
            assert screen.ended() == (
                2,
                f"heptalog: --format {form} is nothing for a terminal: give --out FILE, or a pipe\n",
            )
