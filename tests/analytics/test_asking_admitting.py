"""What may be asked: one SELECT, our tables, functions that compute, and no node that nobody has looked at."""

import copy
import re
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from heptalog.analytics.asking import engine
from heptalog.analytics.asking.admitting import admit, printed
from heptalog.analytics.asking.functions import Place, calls, is_allowed, is_refused
from heptalog.analytics.asking.naming import SECOND_NAMES
from heptalog.analytics.snapshots import Snapshot, attach
from heptalog.analytics.tables import TABLES
from heptalog.analytics.views import VIEWS, install
from heptalog.replay.errors import Code, Malformed
from tests.analytics.statements import ALLOWED, REFUSED

NAMES = frozenset({table.name for table in TABLES} | {view.name for view in VIEWS})
UNKNOWN = {"class": "UNHEARD_OF", "type": "UNHEARD_OF"}


@pytest.fixture(scope="module")
def connection(snapshot: Snapshot) -> Iterator[duckdb.DuckDBPyConnection]:
    """What a worker asks, in this process."""
    with engine.born() as connection:
        engine.limit(connection, snapshot.folders, memory_bytes=1 << 30, threads=1)
        attach(connection, snapshot)
        install(connection)
        engine.close_off(connection)
        yield connection


@pytest.mark.parametrize("sql", ALLOWED)
def test_what_analysts_write_passes_and_is_answered(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    assert admit(printed(connection, sql), NAMES) <= NAMES
    connection.sql(sql).to_arrow_table()


@pytest.mark.parametrize(("sql", "reason"), REFUSED)
def test_what_may_not_be_asked_is_refused(connection: duckdb.DuckDBPyConnection, sql: str, reason: str) -> None:
    with pytest.raises(Malformed) as failure:
        admit(printed(connection, sql), NAMES)
    assert failure.value.code is Code.QUERY_INVALID
    assert reason in str(failure.value.facts["problem"])
    assert "\n" not in str(failure.value.facts["problem"])


@pytest.mark.parametrize("sql", ALLOWED)
def test_a_key_that_nobody_knows_is_refused(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    tree = printed(connection, sql)["node"]
    for place in range(sum(1 for _ in nodes_in(tree))):
        changed = copy.deepcopy(tree)
        node = next(node for number, node in enumerate(nodes_in(changed)) if number == place)
        node["unheard_of"] = UNKNOWN
        with pytest.raises(Malformed):
            admit({"node": changed}, NAMES)


@pytest.mark.parametrize("sql", ALLOWED)
def test_a_node_that_nobody_knows_is_refused(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    tree = printed(connection, sql)["node"]
    for place in range(sum(1 for node in nodes_in(tree) if isinstance(node.get("type"), str))):
        changed = copy.deepcopy(tree)
        typed = [node for node in nodes_in(changed) if isinstance(node.get("type"), str)]
        key = "class" if "class" in typed[place] else "type"
        if key == "type" and "expression" in typed[place]:
            # How an order goes is a plain word.
            continue
        typed[place][key] = "UNHEARD_OF"
        with pytest.raises(Malformed):
            admit({"node": changed}, NAMES)


def test_the_tables_that_are_named_are_told(connection: duckdb.DuckDBPyConnection) -> None:
    sql = "WITH a AS (FROM Turns) SELECT * FROM a, main.GAMES WHERE EXISTS (FROM seats)"
    assert admit(printed(connection, sql), NAMES) == {"turns", "games", "seats"}


def test_every_function_of_the_engine_was_looked_at() -> None:
    with duckdb.connect() as connection:
        listed = connection.execute("SELECT DISTINCT function_name, function_type FROM duckdb_functions()").fetchall()
    for name, kind in listed:
        # Statements of their own, and operators that are no functions in a statement.
        if kind == "pragma" or " " in name:
            continue
        place = Place.FROM if kind in ("table", "table_macro") else Place.CALL
        assert is_allowed(name, place) != is_refused(name, place), f"{name} ({kind}) was not looked at"


def test_every_function_that_is_allowed_is_there() -> None:
    with duckdb.connect() as connection:
        listed = {
            name.lower()
            for (name,) in connection.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
        }
    assert calls() <= listed


def test_what_names_something_in_text_is_held_to_the_lists() -> None:
    # Whose second parameter is called so is told there what to call, or to which types to cast.
    with duckdb.connect() as connection:
        listed = connection.execute("SELECT function_name, parameters FROM duckdb_functions()").fetchall()
    telling = {
        name
        for name, parameters in listed
        if is_allowed(name) and any(re.search("function|structure|type|sql|query", each) for each in parameters)
    }
    assert telling == SECOND_NAMES


def nodes_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in JSON that stands for something of a statement."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from nodes_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from nodes_in(part)
