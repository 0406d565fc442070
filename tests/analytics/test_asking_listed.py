"""What engines.md lists as holding and not holding against SQL from anybody, line by line (section 6)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import duckdb
import pytest

from heptalog.analytics.asking import Workers, engine
from heptalog.analytics.snapshots import Snapshot, attach
from heptalog.replay.errors import Code, HeptalogError, Malformed
from tests.analytics.asking import CANARY, SHORT, asked, fingerprint, rows

# Left column, and what could do the same: reading files, writing them, other databases.
FILES: Final = (
    "SELECT * FROM read_text('{path}')",
    "SELECT * FROM read_blob('{path}')",
    "SELECT * FROM read_csv('{path}')",
    "SELECT * FROM read_csv_auto('{path}')",
    "SELECT * FROM read_json('{path}')",
    "SELECT * FROM read_json_objects('{path}')",
    "SELECT * FROM read_ndjson('{path}')",
    "SELECT * FROM read_parquet('{path}')",
    "SELECT * FROM parquet_scan('{path}')",
    "SELECT * FROM read_duckdb('{path}')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM sniff_csv('{path}')",
    "SELECT * FROM parquet_metadata('{path}')",
    "SELECT * FROM parquet_schema('{path}')",
    "SELECT * FROM parquet_kv_metadata('{path}')",
    "SELECT * FROM '{path}'",
    "FROM '{folder}/*.csv'",
    "COPY (SELECT 1) TO '{folder}/new.csv'",
    "COPY games FROM '{path}'",
    "ATTACH '{folder}/new.duckdb'",
    "EXPORT DATABASE '{folder}/new'",
    "IMPORT DATABASE '{folder}'",
    "INSTALL httpfs",
    "LOAD '{path}'",
    "CREATE SECRET (TYPE s3)",
)
REACHES: Final = {
    "the environment": "SELECT getenv('HOME')",
    "a locked option, SET": "SET enable_external_access = true",
    "a locked option, RESET": "RESET memory_limit",
    "a locked option, PRAGMA": "PRAGMA threads = 64",
    "query with a change": "SELECT * FROM query('DELETE FROM games')",
    "query with a SELECT": "SELECT * FROM query('SELECT 1')",
    "a variable of Python": "SELECT * FROM snapshot",
    "WITH INSERT": "WITH x AS (INSERT INTO games VALUES (1) RETURNING *) SELECT * FROM x",
    "WITH UPDATE": "WITH x AS (UPDATE games SET turns = 0 RETURNING *) SELECT * FROM x",
    "WITH DELETE": "WITH x AS (DELETE FROM games RETURNING *) SELECT * FROM x",
    "nextval": "SELECT nextval('s')",
    "setval": "SELECT setval('s', 1)",
    "checkpoint": "FROM checkpoint()",
    "force_checkpoint": "FROM force_checkpoint()",
    "truncate_duckdb_logs": "FROM truncate_duckdb_logs()",
    "write_log": "SELECT write_log('x')",
    "enable_logging": "FROM enable_logging()",
    "SET VARIABLE": "SET VARIABLE x = 1",
    "getvariable": "SELECT getvariable('x')",
    "temporary tables": "CREATE TEMP TABLE x AS SELECT 1",
    "PREPARE": "PREPARE x AS SELECT 1",
    "CONNECT": "CONNECT 'x'",
    "triggers": "CREATE TRIGGER x AFTER INSERT ON games EXECUTE SELECT 1",
    "query_table": "SELECT * FROM query_table('kept.refusals')",
    "json_execute_serialized_sql": (
        "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM kept.refusals'))"
    ),
    "duckdb_tables": "SELECT * FROM duckdb_tables()",
    "duckdb_views": "SELECT sql FROM duckdb_views()",
    "duckdb_settings": "SELECT * FROM duckdb_settings()",
    "duckdb_databases": "SELECT path FROM duckdb_databases()",
    "current_setting": "SELECT current_setting('allowed_directories')",
    "pandas_scan": "FROM pandas_scan(NULL)",
    "arrow_scan": "FROM arrow_scan(1, 2, 3)",
    "python_map_function": "FROM python_map_function(1)",
    "sleep_ms": "SELECT sleep_ms(1000000)",
    "pg_sleep": "SELECT pg_sleep(1000)",
}
# The table of resources, cell by cell.
BOMBS: Final = {
    "cross joins": "SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c WHERE a.range < -b.range",
    "range(1e12)": "SELECT count(*) FROM range(1000000000000)",
    "recursive WITH": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "sort": "SELECT * FROM range(1000000000) t(x) ORDER BY hash(x)",
    "group by": "SELECT hash(x), count(*) FROM range(1000000000) t(x) GROUP BY ALL",
    "window": "SELECT sum(x) OVER (ORDER BY hash(x)) FROM range(1000000000) t(x)",
    "levenshtein": "SELECT min(levenshtein(md5(a::TEXT), md5(b::TEXT))) FROM range(9999999) t(a), range(9999999) u(b)",
    "3000-way union": "SELECT count(*) FROM ("
    + " UNION ALL ".join(["SELECT 1"] * 3_000)
    + " UNION ALL FROM range(1000000000000))",
    "string_agg": "SELECT string_agg(x::VARCHAR, ',') FROM range(10000000000) t(x)",
    "list": "SELECT list(x) FROM range(10000000000) t(x)",
    "to_json of a list": "SELECT to_json(list(x)) FROM range(10000000000) t(x)",
    "range(3e9)": "SELECT len(range(3000000000))",
    "repeat": "SELECT repeat('x', 4000000000)",
    "repeat and ||": "SELECT length(repeat('x', 4000000000) || repeat('y', 4000000000))",
    "lpad": "SELECT lpad('x', 2000000000, 'y')",
    "regexp": "SELECT regexp_replace(repeat('ab', 50000000), '(a|b|ab)*c', 'x', 'g')",
    "unnest": "SELECT unnest(range(100000000)) FROM range(1000)",
    "format": "SELECT length(format('{:>2000000000}', 'x'))",
    "printf": "SELECT length(printf('%2000000000d', 1))",
    "list_resize": "SELECT len(list_resize([1], 4000000000))",
    "list_reduce": "SELECT list_reduce(range(100000000), lambda a, b: a + b)",
    "many columns": "SELECT " + ", ".join(["1"] * 33_000),
    "doubling WITH": "WITH a0 AS (SELECT 1), "
    + ", ".join(f"a{n} AS (FROM a{n - 1} x, a{n - 1} y)" for n in range(1, 60))
    + " SELECT count(*) FROM a59",
    "nested lambdas": "SELECT " + "list_transform([1], lambda x: " * 200 + "1" + ")" * 200,
}


@pytest.fixture(scope="module")
def canaries(asked_folder: Path, snapshot: Snapshot) -> Iterator[list[Path]]:
    """Files that no question may read or change: outside the snapshot's folder, and inside."""
    before = fingerprint(asked_folder)
    yield [asked_folder / "canary.csv", Path(snapshot.folders[0]) / "canary.csv"]
    assert fingerprint(asked_folder) == before


@pytest.mark.parametrize("sql", FILES)
def test_no_file_is_read_or_written(workers: Workers, snapshot: Snapshot, canaries: list[Path], sql: str) -> None:
    for path in canaries:
        with pytest.raises(Malformed) as failure:
            asked(workers, sql.format(path=path, folder=path.parent), snapshot)
        assert failure.value.code is Code.QUERY_INVALID
        assert CANARY not in str(failure.value)


@pytest.mark.parametrize("what", REACHES)
def test_nothing_but_the_tables_is_reached(workers: Workers, snapshot: Snapshot, what: str) -> None:
    with pytest.raises(Malformed) as failure:
        asked(workers, REACHES[what], snapshot)
    assert failure.value.code is Code.QUERY_INVALID


@pytest.mark.parametrize("what", BOMBS)
def test_what_takes_too_much_ends(workers: Workers, snapshot: Snapshot, what: str) -> None:
    with pytest.raises(HeptalogError) as failure:
        asked(workers, BOMBS[what], snapshot, SHORT)
    assert failure.value.code in (Code.QUERY_TOO_LONG, Code.QUERY_TOO_LARGE)
    # The next question is answered as if nothing had been.
    assert rows(workers, "SELECT count(*) > 0 FROM games", snapshot) == [(True,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 2_000 + "1" + ")" * 2_000,
        "SELECT " + "abs(" * 2_000 + "1" + ")" * 2_000,
        "SELECT " + "[" * 2_000 + "1" + "]" * 2_000,
        "SELECT " + "NOT " * 5_000 + "true",
        "SELECT " + "+".join(["1"] * 5_000),
        "SELECT * FROM " + "(SELECT * FROM " * 2_000 + "games" + ")" * 2_000,
    ],
    ids=["parentheses", "calls", "lists", "NOT", "sum", "subqueries"],
)
def test_deep_nesting_is_refused(workers: Workers, snapshot: Snapshot, sql: str) -> None:
    with pytest.raises(Malformed) as failure:
        asked(workers, sql, snapshot)
    assert failure.value.facts["problem"] == "it is nested too deeply"


def test_bitstring_is_no_function_here(workers: Workers, snapshot: Snapshot) -> None:
    with pytest.raises(Malformed):
        asked(workers, "SELECT bitstring('1', 4000000000)", snapshot)


# The second wall: what the engine itself stops, were the list not there.


@pytest.fixture
def unlisted(snapshot: Snapshot) -> Iterator[duckdb.DuckDBPyConnection]:
    """The engine of a worker, in this process, with nothing before it."""
    with engine.born() as connection:
        engine.limit(connection, snapshot.folders, memory_bytes=1 << 28, threads=1)
        attach(connection, snapshot)
        connection.execute("CREATE SEQUENCE s")
        connection.execute("CREATE TABLE canary AS SELECT 1 AS a")
        engine.close_off(connection)
        yield connection


@pytest.mark.parametrize("sql", FILES)
def test_the_engine_reaches_no_file_outside(
    unlisted: duckdb.DuckDBPyConnection, canaries: list[Path], sql: str
) -> None:
    with pytest.raises(duckdb.Error):
        unlisted.sql(sql.format(path=canaries[0], folder=canaries[0].parent)).fetchall()


@pytest.mark.parametrize(
    "sql",
    [
        "WITH x AS (INSERT INTO canary VALUES (2) RETURNING *) SELECT * FROM x",
        "WITH x AS (UPDATE canary SET a = 2 RETURNING *) SELECT * FROM x",
        "WITH x AS (DELETE FROM canary RETURNING *) SELECT * FROM x",
        "SELECT nextval('s')",
        "SELECT setval('s', 5)",
        "CREATE TABLE other AS SELECT 1",
        "SET enable_external_access = true",
        "SET memory_limit = '100GB'",
        "RESET lock_configuration",
        "PRAGMA threads = 64",
        "SET allowed_directories = ['/']",
        "SELECT * FROM query('DELETE FROM canary')",
        "FROM pandas_scan(NULL)",
    ],
)
def test_the_engine_changes_nothing(unlisted: duckdb.DuckDBPyConnection, sql: str) -> None:
    with pytest.raises(duckdb.Error):
        unlisted.execute(sql).fetchall()
    unlisted.execute("ROLLBACK")
    assert unlisted.execute("SELECT * FROM canary").fetchall() == [(1,)]
