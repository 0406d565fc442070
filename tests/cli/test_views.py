"""`heptalog views`: the dictionary, whole and by name."""

import os
import pty
import re
import subprocess

import pytest

from heptalog.analytics.tables import TABLES
from heptalog.analytics.views import VIEWS, View, dictionary, statement_of
from tests.cli.running import PROGRAM, WAIT_SECONDS, run

NAMES = [*(table.name for table in TABLES), *(view.name for view in VIEWS)]


def test_the_dictionary_lists_every_table_and_every_view_with_what_a_row_is() -> None:
    ended = run("views")
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines() if line and line[0].isalpha()] == [
        "table",
        *NAMES[: len(TABLES)],
        "view",
        *NAMES[len(TABLES) :],
    ]
    assert re.search(r"^standings +One row a player of a tournament and its rules; ", ended.out, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_tells_every_column(name: str) -> None:
    ended = run("views", name)
    entry = next(entry for entry in dictionary() if entry.name == name)
    head, meaning, _, *table = ended.out.splitlines()
    assert head == f"{name}: a table" or head.startswith(f"{name}: a view over ")
    assert meaning == entry.meaning
    assert [line.split()[0] for line in table[2:]] == [column.name for column in entry.columns]
    assert all(column.meaning in line for column, line in zip(entry.columns, table[2:], strict=True))


def test_a_view_names_what_it_reads() -> None:
    assert run("views", "head_to_head").out.splitlines()[0] == "head_to_head: a view over results"
    assert run("views", "standings").out.splitlines()[0] == "standings: a view over games, results and seats"


def test_values_are_named_where_the_meaning_has_not_named_them() -> None:
    for entry in dictionary():
        shown = run("views", entry.name).out
        assert all(value in shown for column in entry.columns for value in column.values), entry.name


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_the_sql_of_a_view_is_printed_and_nothing_else(view: View) -> None:
    told = run("views", view.name, "--sql").out
    assert f"CREATE OR REPLACE VIEW {view.name} AS\n{told}" == statement_of(view).removesuffix(";") + "\n"


def test_json_has_all_of_it() -> None:
    listed = run("views", "--format", "json").document
    assert [entry["name"] for entry in listed] == NAMES
    assert listed == run("views", "--format", "jsonl").lines
    (trumps,) = [entry for entry in listed if entry["name"] == "trumps"]
    assert trumps == run("views", "trumps", "-f", "json").document == run("views", "trumps", "-f", "jsonl").lines[0]
    assert trumps["isDerived"]
    assert trumps["reads"] == ["deals", "games", "rounds"]
    (trump,) = [column for column in trumps["columns"] if column["name"] == "trump"]
    assert trump == {"name": "trump", "type": "VARCHAR", "meaning": "S, H, D or C.", "values": ["S", "H", "D", "C"]}


def test_json_has_the_sql_where_it_is_asked_for() -> None:
    document = run("views", "trumps", "--sql", "-f", "json").document
    assert document.pop("sql").startswith(("SELECT", "WITH"))
    assert document == run("views", "trumps", "-f", "json").document


@pytest.mark.parametrize(
    ("name", "nearest"), [("standing", "standings"), ("GAMES", "games"), ("trix", "tricks"), ("", "")]
)
def test_an_unknown_name_is_told_with_the_nearest_one(name: str, nearest: str) -> None:
    ended = run("views", name)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("heptalog: there is no such table or view")
    assert ended.err.endswith("[VIEW_UNKNOWN]\n")
    assert nearest in ended.err


def test_sql_is_of_one_view() -> None:
    alone, of_table = run("views", "--sql"), run("views", "turns", "--sql")
    assert alone.code == of_table.code == 2
    assert alone.err == "heptalog: --sql: name the view whose SQL is wanted\n"
    assert of_table.err == "heptalog: turns is a table: its rows follow from the events, and not from SQL\n"


@pytest.mark.parametrize("name", ["", "games", "round_score_distribution", "opener_advantage"])
def test_it_fits_eighty_columns(name: str) -> None:
    lines = _on_a_terminal("views", *filter(None, [name]))
    assert max(map(len, lines)) <= 80
    # No name is broken.
    entries = {entry.name: [column.name for column in entry.columns] for entry in dictionary()}
    assert {line.split()[0] for line in lines if line} >= set(entries[name] if name else entries)


def _on_a_terminal(*arguments: str) -> list[str]:
    """What the program shows on a terminal of eighty columns."""
    ours, its = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    with subprocess.Popen([PROGRAM, *arguments], stdout=its, stderr=its, env=environment) as process:
        os.close(its)
        shown = b""
        try:
            while piece := os.read(ours, 65_536):
                shown += piece
        except OSError:
            # A terminal that nobody holds any more ends so.
            pass
        finally:
            os.close(ours)
        assert process.wait(WAIT_SECONDS) == 0
    return [line.rstrip() for line in shown.decode().splitlines()]
