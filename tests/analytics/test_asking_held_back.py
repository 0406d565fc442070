"""Refusals of a running game are held back: no question tells anything of them, by what it says or by how it fails."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest
from msgspec.structs import replace

from heptalog.analytics.asking import Workers, engine
from heptalog.analytics.keeping.segments import write
from heptalog.analytics.projecting.arrow import arrow_table
from heptalog.analytics.snapshots import Part, Snapshot, attach
from heptalog.analytics.tables import TABLES
from heptalog.replay.errors import HeptalogError
from heptalog.service.store.memory import MemoryStore
from tests.analytics.asking import LONG, SHORT, asked, refusals_in
from tests.analytics.kept import LOG, following, moment, refused
from tests.support.newer import record_newer
from tests.support.recording import batch_of

CONDITIONS: Final = (
    "upper(r.code) = 'X'",
    "r.refusal_number = 3",
    "levenshtein(r.code, r.game_id) > 3",
    "r.seat IN (SELECT range FROM range(3))",
    "r.code LIKE 'N%' AND r.seat > 0",
    "CASE WHEN r.seat = 1 THEN replace(r.code, 'N', 'xyz') ELSE 'a' END > 'a'",
)
QUESTIONS: Final = (
    "SELECT count(*) FROM refusals r WHERE {}",
    "SELECT * FROM refusals r JOIN games g USING (game_id) WHERE {}",
    "SELECT count(*) FROM refusals r, range(3) WHERE {}",
    "SELECT count(*) FROM range(3) t JOIN refusals r ON t.range = r.seat AND {}",
    "WITH m AS MATERIALIZED (FROM refusals) SELECT * FROM m r WHERE {}",
    "SELECT * FROM (SELECT *, row_number() OVER () FROM refusals) r WHERE {}",
    "SELECT * FROM (SELECT DISTINCT * FROM refusals) r WHERE {}",
    "SELECT * FROM refusals r WHERE {} LIMIT 1",
    "SELECT * FROM refusals r SEMI JOIN range(2) t ON t.range = r.seat WHERE {}",
)
# What is asked of rows by us, and may be asked of those that are held back.
OURS: Final = {"game_id = game_id", "((status IS NULL) OR (status != 'RUNNING'))"}
SNEAKY: Final = (
    "SELECT * FROM refusals",
    "SELECT count(*), min(code), max(refusal_number), approx_count_distinct(seat) FROM refusals",
    "SELECT * FROM refusals WHERE CASE WHEN refusal_number = 3 THEN code::INTEGER = 1 ELSE true END",
    "SELECT * FROM refusals WHERE 1 // (refusal_number - 3) IS NOT NULL",
    "SELECT * FROM refusals WHERE CASE WHEN refusal_number = 3 THEN error(code) IS NULL ELSE true END",
    "SELECT count(*) FROM refusals WHERE length(repeat(code, CASE WHEN seat = 2 THEN 2000000000 ELSE 1 END)) > 0",
    "SELECT count(*) FROM refusals WHERE len(range(CASE WHEN code = 'NOT_HELD' THEN 2 ELSE 1000000000 END)) > 0",
    "SELECT * FROM refusals USING SAMPLE 3 ROWS",
    "SELECT * FROM refusals ORDER BY CASE WHEN refusal_number = 3 THEN code::INTEGER ELSE 1 END",
    "SELECT * FROM refusals_by_rule",
    "SELECT * FROM refusals_by_player",
)


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("sql", QUESTIONS)
def test_nothing_is_asked_of_what_is_held_back(snapshot: Snapshot, sql: str, condition: str) -> None:
    # A condition that reached the file would be slow, or fail, because of a row that is in no answer.
    with engine.born() as connection:
        engine.limit(connection, snapshot.folders, memory_bytes=1 << 28, threads=1)
        attach(connection, snapshot, {"refusals", "games"})
        ((_, plan),) = connection.execute("EXPLAIN (FORMAT JSON) " + sql.format(condition)).fetchall()
    fences = [node for node in nodes_in(json.loads(plan)) if node.get("extra_info", {}).get("Limit") == str(2**63 - 1)]
    behind = [node for fence in fences for node in nodes_in(fence["children"]) if _reads_refusals(node)]
    everywhere = [node for node in nodes_in(json.loads(plan)) if _reads_refusals(node)]
    assert behind
    assert {str(node) for node in behind} == {str(node) for node in everywhere}
    for fence in fences:
        for node in nodes_in(fence["children"]):
            if any(map(_reads_refusals, nodes_in(fence["children"]))):
                assert not _conditions(node) - OURS


@pytest.mark.parametrize("sql", SNEAKY)
def test_two_logs_that_differ_in_what_is_held_back_give_one_answer(
    workers: Workers, snapshot: Snapshot, tmp_path: Path, sql: str
) -> None:
    assert _outcome(workers, sql, snapshot) == _outcome(workers, sql, _other(snapshot, tmp_path))


def test_refusals_of_a_game_that_cannot_be_read_are_held_back(workers: Workers, snapshot: Snapshot) -> None:
    # It is in no row of `games`, and may be running all the same.
    unread = replace(snapshot, unread=("it's", "no-such-game"))
    assert asked(workers, "SELECT refusal_number FROM refusals", unread).column(0).to_pylist() == [1]
    assert asked(workers, "SELECT sum(refusals) FROM refusals_by_rule", unread).column(0).to_pylist() == [1]


@pytest.mark.parametrize("how", ["rules", "a kind"])
def test_the_tables_say_which_games_those_are(tmp_path: Path, how: str) -> None:
    # With newer rules a game cannot be read at all, with a newer kind of event until it comes.
    store = MemoryStore()
    record_newer(store, how)
    batch = batch_of(LOG[0])
    store.append([], [replace(refused(batch), game_id=name) for name in ("game", "no-such-game")])
    follower = following(tmp_path / "tables", store)
    with closing(follower), moment(follower) as snapshot, duckdb.connect() as connection:
        attach(connection, snapshot)
        shown = connection.execute("SELECT game_id FROM refusals").fetchall()
        told = connection.execute("SELECT count(*) FROM games WHERE game_id = 'game'").fetchall()
    assert snapshot.unread == ("game",)
    assert shown == [("no-such-game",)]
    assert told == [(how != "rules",)]


def _other(snapshot: Snapshot, folder: Path) -> Snapshot:
    """The same, but for the refusal that is held back."""
    table = next(table for table in TABLES if table.name == "refusals")
    rows = refusals_in(snapshot)
    held = (*rows[2][:5], "tilePlayed", 2, "ILLEGAL_MOVE", "SR-R99")
    (file,) = write(folder, {"refusals": arrow_table(table, [*rows[:2], held])}, 1)
    parts = {**snapshot.tables, "refusals": (Part(str(folder / file.path)),)}
    return Snapshot(snapshot.position, snapshot.refusals, (*snapshot.folders, str(folder)), parts)


def _outcome(workers: Workers, sql: str, snapshot: Snapshot) -> object:
    try:
        return asked(workers, sql, snapshot, replace(LONG, memory_bytes=SHORT.memory_bytes))
    except HeptalogError as error:
        return str(error)


def _reads_refusals(node: dict[str, Any]) -> bool:
    read = node.get("extra_info", {}).get("Projections", [])
    return bool(node["name"] == "READ_PARQUET" and ({"code", "seat", "rule", "refusal_number"} & set(read)))


def _conditions(node: dict[str, Any]) -> set[str]:
    told = node.get("extra_info", {})
    return {str(told[key]) for key in ("Expression", "Filters", "Conditions", "Dynamic Filters") if key in told}


def nodes_in(plan: Any) -> Iterator[dict[str, Any]]:
    """Every operator of a plan."""
    if isinstance(plan, list):
        for one in plan:
            yield from nodes_in(one)
    elif isinstance(plan, dict):
        yield plan
        yield from nodes_in(plan.get("children", []))
