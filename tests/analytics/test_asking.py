"""One question and its answer: whole or none, within its limits, and nothing left behind."""

import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from operator import le
from typing import Final

import pyarrow as pa
import pytest
from msgspec.structs import replace

from heptalog.analytics.asking import Limits, Workers
from heptalog.analytics.asking.limits import PIECE_SIZE_MAX, STATEMENT_SIZE_MAX
from heptalog.analytics.snapshots import Part, Snapshot
from heptalog.analytics.tables import TABLES, columns_of
from heptalog.analytics.views import VIEWS
from heptalog.replay.errors import Code, Malformed, Unavailable
from tests.analytics.asking import (
    LONG,
    SHORT,
    asked,
    children_of,
    descriptors_of,
    ending_of,
    nursery_of,
    rows,
    until,
    wait_for_end,
    worker_of,
)

ENDLESS: Final = "SELECT count(*) FROM range(1000000000000)"


def test_every_table_and_view_can_be_asked(workers: Workers, snapshot: Snapshot) -> None:
    for name in [table.name for table in TABLES] + [view.name for view in VIEWS]:
        assert asked(workers, f"SELECT * FROM {name}", snapshot).num_columns > 1


def test_a_table_is_told_with_its_columns_and_types(workers: Workers, snapshot: Snapshot) -> None:
    schema = asked(workers, "SELECT * FROM games", snapshot).schema
    games = next(table for table in TABLES if table.name == "games")
    assert schema.names == [column.name for column in columns_of(games)]
    assert schema.field("started_at").type == pa.timestamp("us", tz="UTC")
    assert schema.field("scores").type.value_type == pa.int32()


def test_an_empty_snapshot_has_the_same_tables(workers: Workers, snapshot: Snapshot) -> None:
    nothing = replace(snapshot, tables={})
    full = asked(workers, "SELECT * FROM turns", snapshot)
    empty = asked(workers, "SELECT * FROM turns", nothing)
    assert empty.num_rows == 0
    assert empty.schema == full.schema


@pytest.mark.parametrize("drawn", ["random()", "uuid()::VARCHAR"])
def test_chance_is_not_the_same_to_everybody(workers: Workers, snapshot: Snapshot, drawn: str) -> None:
    told = [rows(workers, f"SELECT {drawn}", snapshot)[0] for _ in range(3)]
    assert len({str(one) for one in told}) == 3


def test_rows_that_another_part_has_newer_are_not_told_twice(workers: Workers, snapshot: Snapshot) -> None:
    sql = "SELECT min(game_number), count(*) FILTER (game_number > (SELECT min(game_number) FROM games)) FROM games"
    ((number, others),) = rows(workers, sql, snapshot)
    parts = tuple(replace(part, excluded=(number,)) for part in snapshot.tables["games"])
    less = replace(snapshot, tables={**snapshot.tables, "games": parts})
    assert rows(workers, "SELECT count(*) FROM games", less) == [(others,)]


def test_refusals_of_a_running_game_are_held_back(workers: Workers, snapshot: Snapshot) -> None:
    assert rows(workers, "SELECT refusal_number FROM refusals ORDER BY 1", snapshot) == [(1,), (2,)]


def test_columns_may_have_one_name(workers: Workers, snapshot: Snapshot) -> None:
    table = asked(workers, "SELECT 1 AS a, 2 AS a, sum(range) AS a FROM range(3)", snapshot)
    assert table.schema.names == ["a", "a", "a"]
    assert [column.to_pylist() for column in table.columns] == [[1], [2], [3]]


def test_order_is_kept(workers: Workers, snapshot: Snapshot) -> None:
    sql = "SELECT range AS n, sum(1) AS one FROM range(10000) GROUP BY 1 ORDER BY 1 DESC"
    assert [n for n, _ in rows(workers, sql, snapshot)] == list(range(9_999, -1, -1))


@pytest.mark.parametrize(
    ("value", "told", "kind"),
    [
        ("sum(1::BIGINT)", 1, pa.int64()),
        ("1::UHUGEINT", 1, pa.int64()),
        ("[1::HUGEINT]", [1], pa.list_(pa.field("l", pa.int64()))),
        ("{'a b': 1::HUGEINT, 'c\"d': 'x'}", {"a b": 1, 'c"d': "x"}, None),
        ("MAP {'a': [1::HUGEINT]}", [("a", [1])], None),
        ("[1::HUGEINT, 2::HUGEINT]::HUGEINT[2]", [1, 2], None),
        ("row(1, 2::HUGEINT)", {"element1": 1, "element2": 2}, None),
        ("1.50::DECIMAL(10, 2)", Decimal("1.50"), pa.decimal128(10, 2)),
        ("NULL", None, pa.null()),
        ("'a'::ENUM ('a', 'b')", "a", None),
        ("'x'::BLOB", b"x", pa.binary()),
    ],
)
def test_a_value_is_told_as_arrow_has_it(
    workers: Workers, snapshot: Snapshot, value: str, told: object, kind: pa.DataType | None
) -> None:
    column = asked(workers, f"SELECT {value} AS it", snapshot).column("it")
    assert column.to_pylist() == [told]
    assert kind is None or column.type == kind


@pytest.mark.parametrize("value", ["170141183460469231731687303715884105727::HUGEINT", "sum(9223372036854775807)"])
def test_an_integer_beyond_64_bits_is_no_other_number(workers: Workers, snapshot: Snapshot, value: str) -> None:
    with pytest.raises(Malformed) as failure:
        asked(workers, f"SELECT {value} FROM range(2)", snapshot)
    assert failure.value.code is Code.QUERY_INVALID
    assert "64 bits" in str(failure.value)
    assert asked(workers, f"SELECT ({value})::DOUBLE FROM range(2)", snapshot).num_rows


def test_an_answer_comes_in_pieces(workers: Workers, snapshot: Snapshot) -> None:
    sql = "SELECT range, repeat('x', 100) FROM range(100000)"
    with workers.ask(sql, snapshot, LONG) as answer:
        pieces = list(answer)
    assert len(pieces) > 10
    assert max(map(len, pieces)) <= PIECE_SIZE_MAX
    assert pa.ipc.open_stream(b"".join(pieces)).read_all().num_rows == answer.rows == 100_000


def test_one_long_value_is_cut_between_pieces(workers: Workers, snapshot: Snapshot) -> None:
    with workers.ask("SELECT repeat('x', 5000000) AS it", snapshot, LONG) as answer:
        pieces = list(answer)
    assert max(map(len, pieces)) <= PIECE_SIZE_MAX
    assert pa.ipc.open_stream(b"".join(pieces)).read_all().column("it").to_pylist() == ["x" * 5_000_000]


@pytest.mark.parametrize(
    ("sql", "limits", "facts"),
    [
        ("SELECT * FROM range(1001)", replace(LONG, rows=1_000), {"rows_max": 1_000}),
        ("SELECT * FROM range(1000000)", replace(LONG, result_bytes=1 << 20), {"bytes_max": 1 << 20}),
        ("SELECT repeat('x', 2000000)", replace(LONG, result_bytes=1 << 20), {"bytes_max": 1 << 20}),
    ],
)
def test_an_answer_that_is_too_large_is_none(
    workers: Workers, snapshot: Snapshot, sql: str, limits: Limits, facts: dict[str, int]
) -> None:
    with pytest.raises(Unavailable) as failure:
        asked(workers, sql, snapshot, limits)
    assert (failure.value.code, failure.value.facts) == (Code.RESULT_TOO_LARGE, facts)


def test_an_answer_may_be_as_large_as_it_may_be(workers: Workers, snapshot: Snapshot) -> None:
    assert asked(workers, "SELECT * FROM range(1000)", snapshot, replace(LONG, rows=1_000)).num_rows == 1_000


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT CASE WHEN range = 500000 THEN 'a'::INTEGER ELSE 1 END FROM range(1000000)", "INT32"),
        ("SELECT 9223372036854775807 + range FROM range(1000000)", "Overflow"),
        ("SELECT 1 // 0", "Division by zero"),
        ("SELECT error('the asker says so')", "the asker says so"),
    ],
)
def test_an_error_in_the_middle_leaves_no_answer(workers: Workers, snapshot: Snapshot, sql: str, problem: str) -> None:
    with pytest.raises(Malformed) as failure:
        asked(workers, sql, snapshot)
    assert failure.value.code is Code.QUERY_INVALID
    assert problem in str(failure.value.facts["problem"])
    assert "SET" not in str(failure.value.facts["problem"])


def test_the_place_of_a_mistake_is_told_in_characters(workers: Workers, snapshot: Snapshot) -> None:
    with pytest.raises(Malformed) as failure:
        asked(workers, "SELECT 'ééé', count(*)\nFROM gmaes", snapshot)
    assert failure.value.facts == {"problem": "there is no table gmaes here; did you mean games?", "character": 29}


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT '" + "x" * STATEMENT_SIZE_MAX + "'", "the statement is too long"),
        ("SELECT '\0'", "there is a NUL in it"),
        ("SELECT '\ud800'", "it is not Unicode text"),
    ],
)
def test_a_text_that_is_no_statement_is_not_sent(workers: Workers, snapshot: Snapshot, sql: str, problem: str) -> None:
    with pytest.raises(Malformed) as failure:
        workers.ask(sql, snapshot, LONG)
    assert failure.value.facts["problem"] == problem


def test_a_file_that_is_gone_is_our_failure(workers: Workers, snapshot: Snapshot) -> None:
    gone = replace(snapshot, tables={"games": (Part(snapshot.folders[0] + "/gone.parquet"),)})
    with pytest.raises(Unavailable) as failure:
        asked(workers, "SELECT * FROM games", gone)
    assert failure.value.code is Code.QUERY_FAILED
    assert snapshot.folders[0] not in str(failure.value)


def test_a_folder_that_is_gone_is_our_failure(workers: Workers, snapshot: Snapshot) -> None:
    with pytest.raises(Unavailable) as failure:
        asked(workers, "SELECT 1", replace(snapshot, folders=("/no-such-folder",)))
    assert failure.value.code is Code.QUERY_FAILED


def test_more_threads_answer_the_same(workers: Workers, snapshot: Snapshot) -> None:
    sql = "SELECT kind, count(*), sum(sequence) FROM turns GROUP BY ALL ORDER BY ALL"
    assert asked(workers, sql, snapshot, replace(LONG, threads=4)).equals(asked(workers, sql, snapshot))


def test_the_deadline_ends_a_question(snapshot: Snapshot) -> None:
    with Workers(niceness=0) as workers:
        with pytest.raises(Unavailable) as failure:
            asked(workers, ENDLESS, snapshot, SHORT)
        assert failure.value.code is Code.QUERY_TOO_LONG
        assert failure.value.facts == {"seconds_max": 1.0}
        assert not children_of(nursery_of(workers))


def test_the_deadline_ends_an_answer_that_nobody_reads(snapshot: Snapshot) -> None:
    with Workers(niceness=0) as workers, workers.ask("SELECT * FROM range(10000000)", snapshot, SHORT) as answer:
        wait_for_end(ending_of(worker_of(workers)))
        with pytest.raises(Unavailable) as failure:
            list(answer)
        assert failure.value.code is Code.QUERY_TOO_LONG


def test_leaving_an_answer_ends_its_worker(snapshot: Snapshot) -> None:
    with Workers(niceness=0) as workers:
        with workers.ask(ENDLESS, snapshot, LONG):
            ending = ending_of(worker_of(workers))
        wait_for_end(ending)


def test_an_answer_can_be_cancelled_from_another_thread(workers: Workers, snapshot: Snapshot) -> None:
    with workers.ask(ENDLESS, snapshot, LONG) as answer:
        thread = threading.Thread(target=answer.cancel)
        thread.start()
        with pytest.raises(Unavailable) as failure:
            list(answer)
        thread.join()
    assert failure.value.facts == {"problem": "it was cancelled"}


def test_many_may_ask_at_once(workers: Workers, snapshot: Snapshot) -> None:
    def ask(number: int) -> int:
        ((told,),) = rows(workers, f"SELECT {number} + count(*) * 0 FROM turns", snapshot)
        assert isinstance(told, int)
        return told

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(40))) == list(range(40))


def test_nothing_is_left_behind(workers: Workers, snapshot: Snapshot) -> None:
    def ask(number: int) -> None:
        sql = ("SELECT count(*) FROM games", "SELECT nothing", "SELECT * FROM range(3000)", ENDLESS)[number % 4]
        with workers.ask(sql, snapshot, LONG) as answer:
            if sql is ENDLESS:
                return
            with suppress(Malformed):
                list(answer)

    ask(0)
    nursery = nursery_of(workers)
    until(lambda: not children_of(nursery))
    # What tests before this one have left to the collector is not ours, and may go while we look.
    gc.collect()
    before = [descriptors_of(process) for process in (os.getpid(), nursery)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(ask, range(200)))
    until(lambda: not children_of(nursery))
    until(lambda: all(map(le, (descriptors_of(process) for process in (os.getpid(), nursery)), before)))


def test_a_nursery_that_died_is_followed_by_another(snapshot: Snapshot) -> None:
    with Workers(niceness=0) as workers:
        asked(workers, "SELECT 1", snapshot)
        ending = ending_of(nursery_of(workers))
        os.kill(nursery_of(workers), 9)
        wait_for_end(ending)
        assert asked(workers, "SELECT 1", snapshot).num_rows == 1


def test_a_question_whose_nursery_dies_fails(snapshot: Snapshot) -> None:
    with Workers(niceness=0) as workers, workers.ask(ENDLESS, snapshot, LONG) as answer:
        ending = ending_of(worker_of(workers))
        os.kill(nursery_of(workers), 9)
        with pytest.raises(Unavailable) as failure:
            list(answer)
        assert failure.value.code is Code.QUERY_FAILED
        wait_for_end(ending)


def test_a_worker_that_crashes_leaves_no_answer(snapshot: Snapshot) -> None:
    with Workers(niceness=0) as workers, workers.ask(ENDLESS, snapshot, LONG) as answer:
        os.kill(worker_of(workers), 11)
        with pytest.raises(Unavailable) as failure:
            list(answer)
        assert failure.value.facts == {"problem": "its process was ended by signal 11"}


def test_closing_ends_everything(snapshot: Snapshot) -> None:
    workers = Workers(niceness=0)
    with workers.ask(ENDLESS, snapshot, LONG) as answer:
        endings = [ending_of(worker_of(workers)), ending_of(nursery_of(workers))]
        workers.close()
        for ending in endings:
            wait_for_end(ending)
        with pytest.raises(Unavailable):
            list(answer)
    with pytest.raises(Unavailable):
        workers.ask("SELECT 1", snapshot, LONG)


def test_starting_waits_for_nothing(snapshot: Snapshot) -> None:
    with Workers(niceness=0) as workers:
        workers.start()
        workers.start()
        assert asked(workers, "SELECT 1", snapshot).num_rows == 1


@pytest.mark.parametrize(
    ("sql", "problem", "character"),
    [
        ("SELECT 'é', statu FROM games", "there is no column statu here; did you mean status?", 13),
        ("SELECT g.statu FROM games g", "there is no column statu in g; did you mean status?", 8),
        (
            "SELECT 1 FROM games JOIN placements USING (gme_id)",
            "there is no column gme_id here; did you mean game_id?",
            44,
        ),
        ("SELECT * EXCLUDE (statu) FROM games", "there is no column statu here; did you mean status?", 19),
        ("SELECT count(statu)::HUGEINT FROM games", "there is no column statu here; did you mean status?", 14),
        ("SELECT statu FROM (SELECT 1) WHERE statu = 2", None, 36),
    ],
)
def test_a_column_that_is_none_is_told_with_its_place_and_the_nearest(
    workers: Workers, snapshot: Snapshot, sql: str, problem: str | None, character: int
) -> None:
    with pytest.raises(Malformed) as failure:
        asked(workers, sql, snapshot)
    told = problem or "there is no column statu here; heptalog views NAME prints those of a table or a view"
    assert failure.value.code is Code.QUERY_INVALID
    assert failure.value.facts == {"problem": told, "character": character}
