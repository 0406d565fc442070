"""Each view against its oracle: the same answer from folds, in a few lines of Python."""

import math
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import duckdb
import pyarrow
import pytest
from msgspec.json import decode

from heptalog.analytics.asking import Workers
from heptalog.analytics.keeping import segments
from heptalog.analytics.projecting.arrow import arrow_table, arrow_tables
from heptalog.analytics.projecting.game import project
from heptalog.analytics.snapshots import Part, Snapshot, attach
from heptalog.analytics.sql import statements
from heptalog.analytics.tables import TABLES, create
from heptalog.analytics.views import VIEWS, Entry, View, dictionary, install, statement_of
from heptalog.replay.registry import GAMES
from tests.analytics import given_games, oracles_cards, oracles_log, oracles_results, oracles_rounds, oracles_tiles
from tests.analytics.asking import asked
from tests.analytics.histories import histories
from tests.analytics.oracles import ORACLES, Row

SOURCES = ("golden", "generated", "shared")
EACH_VIEW = pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
# Every oracle is in one of these.
FILES = (oracles_cards, oracles_log, oracles_results, oracles_rounds, oracles_tiles)


@cache
def rows_of(source: str) -> dict[str, pyarrow.Table]:
    """All tables of the games of a source."""
    games = histories(source)
    by_name = {table.name: table for table in TABLES}
    refusals = [
        (number, each.game_id, each.sequence, each.refused_at // 1000, None, each.kind, each.seat, each.code, each.rule)
        for number, each in enumerate(oracles_log.refusals_of(games), start=1)
    ]
    return {
        **arrow_tables(project(game.placed) for game in games),
        "refusals": arrow_table(by_name["refusals"], refusals),
        "rating_changes": arrow_table(by_name["rating_changes"], oracles_log.rating_changes_of(games)),
    }


@cache
def tables_of(source: str) -> duckdb.DuckDBPyConnection:
    """A database with the tables of a source, and the views on them."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    create(connection)
    for name, rows in rows_of(source).items():
        connection.register("rows", rows)
        connection.execute(f"INSERT INTO {name} SELECT * FROM rows")
    connection.unregister("rows")
    install(connection)
    return connection


@pytest.fixture(params=SOURCES)
def source(request: pytest.FixtureRequest) -> str:
    """Where the games come from."""
    if request.param == "shared" and not given_games.SHARED.exists():
        pytest.skip("no recorded games beside the project")
    return str(request.param)


@EACH_VIEW
def test_a_view_says_what_the_folds_say(view: View, source: str) -> None:
    rows = _asked(tables_of(source), view)
    right = list(ORACLES[view.name](histories(source)))
    assert _in_order(rows) == [_nearly(row) for row in _in_order(right)]


@EACH_VIEW
def test_the_generated_games_have_something_for_every_view(view: View) -> None:
    assert _asked(tables_of("generated"), view)


@EACH_VIEW
def test_a_view_has_an_oracle(view: View) -> None:
    assert view.name in ORACLES


def test_an_oracle_has_a_view() -> None:
    assert set(ORACLES) == {view.name for view in VIEWS}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The tables of the generated games as files."""
    folder = tmp_path_factory.mktemp("tables")
    parts: dict[str, tuple[Part, ...]] = {}
    for file in segments.write(folder, rows_of("generated"), 1):
        parts[file.table] = (*parts.get(file.table, ()), Part(str(folder / file.path)))
    return Snapshot(position=1, refusals=1, folders=(str(folder),), tables=parts)


@EACH_VIEW
def test_a_view_says_the_same_of_files(view: View, kept: Snapshot) -> None:
    games = histories("generated")
    if view.name.startswith("refusals"):
        # Those of running games are held back.
        games = tuple(game for game in games if game.state.over)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        attach(connection, kept)
        install(connection, [view])
        rows = _asked(connection, view)
    assert _in_order(rows) == [_nearly(row) for row in _in_order(list(ORACLES[view.name](games)))]


@EACH_VIEW
def test_a_view_is_answered_in_the_sandbox(view: View, kept: Snapshot, workers: Workers) -> None:
    rows = asked(workers, f"SELECT * FROM {view.name}", kept)
    right = tables_of("generated").sql(f"SELECT * FROM {view.name}").to_arrow_table()
    # Refusals of running games are held back.
    assert view.name.startswith("refusals") or rows.num_rows == right.num_rows
    assert rows.schema.names == right.schema.names


@pytest.mark.parametrize("seconds", [0.001, 0.1, 59.999, 14_399.999, 16_400.001, 20_000.123, 86_399.999, 2_592_000.5])
def test_a_think_time_is_as_exact_as_it_is_said_to_be(seconds: float) -> None:
    (view,) = (view for view in VIEWS if view.name == "think_times")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE games AS SELECT 1 AS game_number, NULL AS tournament, 'seven_up' AS ruleset")
        turn = "1 AS game_number, 'a' AS player_id, 'CARD_PLAYED' AS kind, false AS is_retracted"
        connection.execute(f"CREATE TABLE turns AS SELECT {turn}, {seconds}::DOUBLE AS think_seconds")
        install(connection, [view])
        ((median, ninth, longest),) = connection.execute(
            "SELECT seconds_median, seconds_p90, seconds_max FROM think_times"
        ).fetchall()
    (entry,) = (entry for entry in dictionary() if entry.name == view.name)
    (said,) = (column.meaning for column in entry.columns if column.name == "seconds_median")
    assert said is not None
    assert "to the thousandth up to four hours and to seven digits beyond" in said
    step = 0.001 if seconds <= 4 * 3600 else 10.0 ** (math.floor(math.log10(seconds)) - 6)
    assert median == ninth == pytest.approx(seconds, rel=0, abs=step)
    assert longest == seconds


@EACH_VIEW
def test_a_view_of_nothing_is_empty(view: View) -> None:
    with duckdb.connect() as connection:
        create(connection)
        install(connection, [view])
        assert _asked(connection, view) == []
    with duckdb.connect() as connection:
        attach(connection, Snapshot(position=0, refusals=0, folders=(), tables={}))
        connection.execute("SET enable_external_access = false")
        install(connection, [view])
        install(connection, [view])
        assert _asked(connection, view) == []


@EACH_VIEW
def test_a_view_reads_what_it_says_and_what_stands_before_it(view: View) -> None:
    with duckdb.connect() as connection:
        question = statement_of(view).partition(" AS\n")[2].removesuffix(";")
        (parsed,) = connection.execute("SELECT json_serialize_sql(?)", [question]).fetchall()[0]
    assert _tables_in(decode(parsed)) - _names_made_in(question) == set(view.reads)
    assert list(view.reads) == sorted(view.reads)
    before = {table.name for table in TABLES} | {other.name for other in VIEWS[: VIEWS.index(view)]}
    assert set(view.reads) <= before


@EACH_VIEW
def test_a_view_is_one_statement_that_fits_a_screen_or_two(view: View) -> None:
    statement = statement_of(view)
    assert statement.startswith(f"CREATE OR REPLACE VIEW {view.name} AS\n")
    assert statement.count(";") == statement.endswith(";")
    assert len(statement.splitlines()) <= 100
    assert "*" not in statement.replace("count(*)", "").replace(" * ", "")


@pytest.mark.parametrize("entry", dictionary(), ids=lambda entry: entry.name)
def test_everything_in_the_dictionary_is_described(entry: Entry) -> None:
    assert entry.meaning.endswith(".")
    assert [column.name for column in entry.columns if not (column.meaning or "").endswith(".")] == []
    # What adds up is told in types that every reader of Arrow has.
    assert [column.name for column in entry.columns if "HUGEINT" in column.type or "DECIMAL" in column.type] == []


def test_the_dictionary_has_every_table_and_every_view_once() -> None:
    names = [entry.name for entry in dictionary()]
    assert names == [*(table.name for table in TABLES), *(view.name for view in VIEWS)]
    assert len(set(names)) == len(names)
    assert {entry.name for entry in dictionary() if entry.is_derived} == {view.name for view in VIEWS}


def test_the_examples_of_the_dictionary_are_answered() -> None:
    examples = re.findall(r"```sql\n(.*?)```", (given_games.ROOT / "docs" / "dictionary.md").read_text(), re.DOTALL)
    assert len(examples) >= 4
    for example in examples:
        tables_of("generated").execute(example).fetchall()


@pytest.mark.parametrize("name", ["results", "opener_advantage"])
def test_in_which_games_the_lowest_is_best_is_for_the_registry_to_say(name: str) -> None:
    written = (given_games.ROOT / "analytics/heptalog/analytics/views" / f"{name}.sql").read_text()
    assert not [rules.key for rules in GAMES if f"'{rules.key}'" in written]
    lowest = ", ".join(f"'{key}'" for key in {rules.key: None for rules in GAMES if rules.is_lowest_best})
    assert f"ruleset IN ({lowest}) THEN" in statements("views", name)


def test_all_that_files_take_from_the_registry_is_written_in() -> None:
    told = [entry.meaning for entry in dictionary()]
    told += [column.meaning for entry in dictionary() for column in entry.columns]
    told += [statement_of(view) for view in VIEWS]
    assert not [text for text in told if re.search(r"(?<!:):[a-z]", text)]


def test_only_what_is_needed_is_installed() -> None:
    with duckdb.connect() as connection:
        create(connection)
        install(connection, [view for view in VIEWS if view.name == "standings"])
        names = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    assert sorted(names) == [("results",), ("standings",)]


def _tables_in(parsed: Any) -> set[str]:
    """Every name in a parsed statement that stands for a table."""
    if isinstance(parsed, list):
        return {name for part in parsed for name in _tables_in(part)}
    if not isinstance(parsed, dict):
        return set()
    own = {parsed["table_name"]} if parsed.get("type") == "BASE_TABLE" else set()
    return own | _tables_in(list(parsed.values()))


def _names_made_in(question: str) -> set[str]:
    """The names that a statement gives to its own parts."""
    return set(re.findall(r"^(?:WITH )?(\w+) AS \($", question, re.MULTILINE))


def _asked(connection: duckdb.DuckDBPyConnection, view: View) -> list[Row]:
    answer = connection.execute(f"SELECT * FROM {view.name}")
    names = [column[0] for column in answer.description or []]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def _in_order(rows: Sequence[Row]) -> list[Row]:
    """Rows as a list that two of them can be compared by: ordered by all that is no measurement."""
    return sorted(
        rows, key=lambda row: repr([(name, value) for name, value in sorted(row.items()) if _is_exact(value)])
    )


def _is_exact(value: Any) -> bool:
    return not isinstance(value, float)


def _nearly(row: Row) -> Any:
    """A row in which sums of fractions may be a bit off."""
    return {
        name: value if _is_exact(value) else pytest.approx(value, rel=1e-9, abs=1e-6) for name, value in row.items()
    }
