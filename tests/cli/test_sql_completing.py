"""What the prompt offers: what can stand where the cursor is, and first what is likely."""

from collections.abc import Callable, Iterable

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from heptalog.cli.asking import Listed
from heptalog.cli.completing import QuestionCompleter, functions
from tests.cli.asked import ENTRIES


def offered(text: str, entries: tuple[Listed, ...] = ENTRIES) -> list[str]:
    """What is offered; the cursor is where the text has a |."""
    commands: dict[str, Callable[[], Iterable[str]]] = {".tables": tuple, ".describe": lambda: ["games", "turns"]}
    completer = QuestionCompleter(lambda: entries, functions(), commands)
    before, _, behind = text.partition("|")
    found = completer.get_completions(Document(before + behind, len(before)), CompleteEvent())
    return [completion.text for completion in found]


def test_a_table_is_offered_where_one_is_named() -> None:
    assert offered("SELECT * FROM ga") == ["games"]
    assert offered("SELECT * FROM ") == [entry.name for entry in ENTRIES]
    assert offered("SELECT * FROM games g, tri") == ["tricks"]
    assert offered("select * from games join pas") == ["passes"]
    assert offered("WITH best AS (SELECT 1) SELECT * FROM be") == ["best"]


def test_columns_are_those_of_the_tables_that_are_named() -> None:
    assert offered("SELECT think| FROM turns") == ["think_seconds"]
    assert offered("SELECT | FROM turns")[:2] == ["game_number", "game_id"]
    assert "think_seconds" not in offered("SELECT t| FROM games")
    assert offered("SELECT t.thi| FROM games g JOIN turns AS t USING (game_id)") == ["think_seconds"]
    assert offered("SELECT g.thi| FROM games g JOIN turns AS t USING (game_id)") == []
    assert offered("SELECT turns.thi| FROM turns") == ["think_seconds"]
    # Another statement has nothing to do with it.
    assert "think_seconds" not in offered("SELECT * FROM turns; SELECT thi| FROM games; SELECT * FROM turns")


def test_before_a_table_is_named_every_column_is_offered() -> None:
    assert offered("SELECT think_s") == ["think_seconds"]


def test_functions_and_keywords_are_offered_as_the_word_is_written() -> None:
    assert offered("SELECT quantile_c") == ["quantile_cont("]
    assert "WHERE" in offered("SELECT * FROM games WH")
    assert "where" in offered("select * from games wh")
    assert not {"read_csv(", "getenv(", "nextval("} & set(
        offered("SELECT r") + offered("SELECT g") + offered("SELECT n")
    )
    assert offered("") == []


def test_what_a_column_can_say_is_offered_in_quotes() -> None:
    assert offered("SELECT * FROM games WHERE status = 'R") == ["RUNNING"]
    assert offered("SELECT * FROM games WHERE status IN ('WON', '") == ["RUNNING", "WON", "CLOSED"]
    assert offered("SELECT * FROM games WHERE game_id = 'R") == []
    assert offered("SELECT 'R") == []


@pytest.mark.parametrize("text", ["SELECT 1 -- FROM ga", "SELECT /* FROM ga", 'SELECT "ga'])
def test_nothing_is_offered_in_a_remark_or_a_name_in_quotes(text: str) -> None:
    assert offered(text) == []


def test_commands_are_offered_with_what_follows_them() -> None:
    assert offered(".") == [".tables", ".describe"]
    assert offered(".des") == [".describe"]
    assert offered(".describe tu") == ["turns"]
    assert offered(".tables x") == []
    assert offered(".nothing x") == []


def test_without_a_dictionary_the_rest_is_offered() -> None:
    assert offered("SELECT * FROM ", ()) == []
    assert "WHERE" in offered("SELECT * FROM games WH", ())
