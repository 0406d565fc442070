"""What an answer says of values that Arrow cannot hold, and what a failure says: whose fault, where, and how much."""

import math
from typing import Final

import pytest
from msgspec.structs import replace

from heptalog.analytics.asking import Limits, Workers
from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.errors import Code, HeptalogError, Malformed, Unavailable
from tests.analytics.asking import LONG, asked, nursery_of, rows

# The longest interval of nanoseconds in 64 bits, and the next.
LONGEST: Final = 9_223_372_036_854_775
FITTING: Final = f"to_microseconds({LONGEST})"
NESTINGS: Final = (
    "{0}",
    "-{0}",
    "CASE WHEN range = 1 THEN {0} END",
    "to_years(1) + {0}",
    "[NULL, {0}]",
    "[[NULL], [NULL, [{0}]]]",
    "[{0}]::INTERVAL[1]",
    "row(1, {0})",
    "{{'a': 1::HUGEINT, 'b c': {{'d': {0}}}}}",
    "{{'a': NULL::INTERVAL, 'b': {0}}}",
    "MAP {{1: {0}}}",
    "MAP {{[{0}]: 1}}",
    "MAP {{1: [{{'x': {0}}}]}}",
)


@pytest.mark.parametrize("value", NESTINGS)
def test_an_interval_that_arrow_cannot_hold_is_no_other_one(workers: Workers, snapshot: Snapshot, value: str) -> None:
    sql = f"SELECT {value.format(FITTING)} FROM range(2)"
    assert f"nanoseconds={'-' if value.startswith('-') else ''}{LONGEST}000" in str(rows(workers, sql, snapshot))
    with pytest.raises(Malformed) as failure:
        asked(workers, f"SELECT {value.format(f'to_microseconds({LONGEST + 1})')} FROM range(2)", snapshot)
    assert failure.value.code is Code.QUERY_INVALID
    assert "292 years" in str(failure.value.facts["problem"])
    assert "character" not in failure.value.facts


def test_months_and_days_of_an_interval_have_room_of_their_own(workers: Workers, snapshot: Snapshot) -> None:
    sql = "SELECT to_years(100000000), to_days(2000000000), NULL::INTERVAL, NULL::INTERVAL[], NULL::STRUCT(a INTERVAL)"
    ((years, days, *nothing),) = rows(workers, sql, snapshot)
    assert (years.months, days.days, nothing) == (1_200_000_000, 2_000_000_000, [None] * 3)


@pytest.mark.parametrize(
    ("sql", "character"),
    [
        ("SELECT 9223372036854775808", None),
        ("SELECT 'é', sum(9223372036854775807) FROM range(2)", None),
        ('SELECT 1 AS "é", sum(x)::BIGINT, 1::HUGEINT FROM (VALUES (9223372036854775807), (1)) AS t(x)', 24),
        ("SELECT 1::HUGEINT, ('x' || range)::INTEGER FROM range(3)", 34),
        ("SELECT 1::HUGEINT, ('x' || range)::INTEGER FROM range(3) ;\n", 34),
        ("SELECT 1, ('x' || range)::INTEGER FROM range(3)", 25),
    ],
)
def test_a_place_is_one_in_the_statement(workers: Workers, snapshot: Snapshot, sql: str, character: int | None) -> None:
    # A long remark in front: a place in what stands around the statement would be within it.
    for before in ("", "/* " + "é" * 500 + " */ "):
        with pytest.raises(Malformed) as failure:
            asked(workers, before + sql, snapshot)
        wanted = None if character is None else character + len(before)
        assert failure.value.facts.get("character") == wanted


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT error(repeat('x', 3000000))",
        "SELECT error(repeat('INT128 ', 400000))",
        "SELECT strptime('x', repeat('%A', 1000000))",
        "SELECT " + "x" * 90_000,
    ],
)
def test_a_failure_is_never_longer_than_it_may_be(workers: Workers, snapshot: Snapshot, sql: str) -> None:
    with pytest.raises(Malformed) as failure:
        asked(workers, sql, snapshot)
    assert failure.value.code is Code.QUERY_INVALID
    assert len(str(failure.value.facts["problem"])) == 1_000
    assert str(failure.value.facts["problem"]).endswith("…")


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT list_aggregate(['a'], 'string_agg', (SELECT ','))", "must be constant"),
        ("SELECT from_json('1', '" + "[" * 40_000 + '"INTEGER"' + "]" * 40_000 + "')", "nested too deeply"),
        ("SELECT from_json('1', '" + "[" * 5_000 + '"INTEGER"' + "]" * 5_000 + "')", "nested too deeply"),
    ],
)
def test_the_statements_fault_is_told_as_such(workers: Workers, snapshot: Snapshot, sql: str, problem: str) -> None:
    with pytest.raises(Malformed) as failure:
        asked(workers, sql, snapshot)
    assert failure.value.code is Code.QUERY_INVALID
    assert problem in str(failure.value.facts["problem"])


@pytest.mark.parametrize(
    ("sql", "memory_bytes"),
    [
        ("SELECT 1", 0),
        ("SELECT reservoir_quantile(range, 0.5, 1000000000) FROM range(1000)", LONG.memory_bytes),
    ],
)
def test_what_gets_no_memory_is_too_large(workers: Workers, snapshot: Snapshot, sql: str, memory_bytes: int) -> None:
    with pytest.raises(Unavailable) as failure:
        asked(workers, sql, snapshot, replace(LONG, memory_bytes=memory_bytes))
    assert failure.value.code is Code.QUERY_TOO_LARGE


@pytest.mark.parametrize(
    "limits",
    [
        *(Limits(seconds=seconds) for seconds in (math.nan, math.inf, -math.inf, -1.0, 1e300)),
        *(Limits(memory_bytes=size) for size in (-1, 1 << 63)),
        *(Limits(rows=rows) for rows in (-1, 1 << 64)),
        *(Limits(result_bytes=size) for size in (-1, 1 << 64)),
        *(Limits(threads=threads) for threads in (0, -1, 1 << 20)),
    ],
    ids=str,
)
def test_a_limit_that_is_none_harms_nobody_else(workers: Workers, snapshot: Snapshot, limits: Limits) -> None:
    asked(workers, "SELECT 1", snapshot)
    nursery = nursery_of(workers)
    with pytest.raises(Malformed) as failure:
        workers.ask("SELECT 1", snapshot, limits)
    assert failure.value.code is Code.QUERY_INVALID
    assert asked(workers, "SELECT 1", snapshot).num_rows == 1
    assert nursery_of(workers) == nursery


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (replace(LONG, seconds=0.0), Code.QUERY_TOO_LONG),
        (replace(LONG, rows=0), Code.RESULT_TOO_LARGE),
        (replace(LONG, result_bytes=0), Code.RESULT_TOO_LARGE),
    ],
)
def test_with_nothing_left_a_question_fails_as_one_that_takes_too_much(
    workers: Workers, snapshot: Snapshot, limits: Limits, code: Code
) -> None:
    with pytest.raises(HeptalogError) as failure:
        asked(workers, "SELECT 1", snapshot, limits)
    assert failure.value.code is code
