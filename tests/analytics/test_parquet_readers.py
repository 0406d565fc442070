"""An export as other engines read it: DuckDB, pandas and polars, every table, every type, every value."""

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heptalog.analytics.parquet import flat as flat_tables
from heptalog.analytics.parquet import opened
from heptalog.analytics.parquet.flat import FlatKind, flattening
from heptalog.analytics.parquet.manifest import read
from heptalog.analytics.parquet.records import EXPORTED, columns, schema
from heptalog.analytics.tables import Table
from heptalog.replay.errors import Code, Unavailable
from heptalog.service.store.memory import MemoryStore
from tests.analytics.exporting import InMemory, expected, exported, log_of, refused, settings, some_games

ALL = pytest.mark.parametrize("table", EXPORTED, ids=lambda table: table.name)


def a_log() -> MemoryStore:
    """Something in every table, with times that are known and times that are not."""
    games = some_games(9, length=400, ruling_rate=0.02)
    store = log_of([*games, *some_games(3, seed=3, length=15)])
    store.append([], [refused(entries[2]) for entries in games])
    return store


@pytest.fixture(scope="module")
def log() -> MemoryStore:
    return a_log()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, log: MemoryStore) -> Path:
    """An export in two goes, so that there are files that were merged."""
    place = tmp_path_factory.mktemp("export")
    exported(log, place, step_events=700, file_size=20_000)
    return place


def rows_of(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def written(folder: Path, table: Table) -> pa.Table:
    """The rows as they were written, file by file."""
    parts = []
    for file in read(folder).of(table.name):
        part = pq.ParquetFile(folder / file.path).read()
        if table.is_of_games:
            for name in ("ruleset", "month"):
                part = part.append_column(name, pa.array([getattr(file, name)] * file.rows, type=pa.string()))
        parts.append(part.select(schema(table).names))
    return pa.concat_tables(parts)


@ALL
def test_duckdb(folder: Path, table: Table) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        found = connection.sql(f"FROM read_parquet('{folder}/{table.name}/**/*.parquet', hive_partitioning = true)")
        types = dict(zip(found.columns, map(str, found.types), strict=True))
        assert types == {column.name: column.type for column in columns(table)}
        rows = found.to_arrow_table().select(schema(table).names).cast(schema(table))
    assert rows_of(rows) == rows_of(written(folder, table))


@ALL
def test_pandas(folder: Path, table: Table) -> None:
    frame = pd.read_parquet(folder / table.name, dtype_backend="pyarrow")
    rows = pa.Table.from_pandas(frame, preserve_index=False).select(schema(table).names)
    kinds = {field.name: field.type for field in rows.schema if field.name not in ("ruleset", "month")}
    assert kinds == {name: schema(table).field(name).type for name in kinds}
    assert rows_of(rows.cast(schema(table))) == rows_of(written(folder, table))


@ALL
def test_polars(folder: Path, table: Table) -> None:
    frame = pl.read_parquet(folder / table.name / "**/*.parquet", hive_partitioning=table.is_of_games)
    assert dict(frame.schema) == {column.name: _polars_type(column.type) for column in columns(table)}
    rows = frame.to_arrow().select(schema(table).names).cast(schema(table))
    assert rows_of(rows) == rows_of(written(folder, table))


def _polars_type(name: str) -> Any:
    plain = {
        "BIGINT": pl.Int64(),
        "INTEGER": pl.Int32(),
        "DOUBLE": pl.Float64(),
        "BOOLEAN": pl.Boolean(),
        "VARCHAR": pl.String(),
        "BLOB": pl.Binary(),
        "TIMESTAMP WITH TIME ZONE": pl.Datetime("us", "UTC"),
    }
    if name.endswith("[]"):
        return pl.List(_polars_type(name.removesuffix("[]")))
    if name.startswith("STRUCT"):
        return pl.Struct({"name": pl.String(), "value": pl.String()})
    return plain[name]


def test_every_table_has_rows_to_be_compared(folder: Path) -> None:
    assert [table.name for table in EXPORTED if not written(folder, table).num_rows] == []
    assert any(row["seat"] is None for row in written(folder, _named("events")).to_pylist())
    assert any(row["tags"] for row in written(folder, _named("games")).to_pylist())


def test_the_manifest_says_what_the_files_have(folder: Path) -> None:
    for described in read(folder).tables:
        table = _named(described.name)
        assert described.meaning
        assert [column.name for column in described.columns] == schema(table).names
        assert all(column.meaning for column in described.columns)
        assert described.is_partitioned == table.is_of_games


# One file a table.


def flat(store: MemoryStore, folder: Path, kind: FlatKind, **changes: Any) -> Any:
    with flattening(folder, lambda place: InMemory(store), settings(**changes), kind) as work:
        return work.run()


@pytest.mark.parametrize("has_running", [False, True])
def test_arrow_has_the_same_rows(tmp_path: Path, log: MemoryStore, has_running: bool) -> None:
    report = flat(log, tmp_path, "arrow", has_running=has_running)
    assert report.files == len(EXPORTED)
    assert {path.name for path in tmp_path.iterdir()} == {f"{t.name}.arrow" for t in EXPORTED} | {"manifest.json"}
    wanted = expected(log, has_running=has_running)
    for table in EXPORTED:
        with pa.OSFile(str(tmp_path / f"{table.name}.arrow"), "rb") as file:
            found = pa.ipc.open_file(file).read_all()
        assert found.schema == schema(table)
        names = list(wanted[table.name][0]) if wanted[table.name] else found.schema.names
        assert rows_of(found.select(names)) == sorted(map(repr, wanted[table.name])), table.name


def test_a_disk_that_is_full_is_told_whoever_writes(
    tmp_path: Path, log: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise duckdb.IOException("No space left on device")

    monkeypatch.setattr(flat_tables, "_write_csv", fails)
    with pytest.raises(Unavailable) as caught:
        flat(log, tmp_path, "csv")
    assert caught.value.code is Code.WRITE_FAILED


def test_csv_has_the_same_rows_as_text(tmp_path: Path, log: MemoryStore) -> None:
    flat(log, tmp_path, "csv")
    wanted = expected(log)
    for table in EXPORTED:
        with duckdb.connect() as connection:
            values = ", ".join(map(_value, columns(table)))
            rows = connection.sql(
                f"SELECT {values} FROM read_csv('{tmp_path}/{table.name}.csv', header = true, all_varchar = true,"
                " allow_quoted_nulls = false)"
            ).to_arrow_table()
        names = list(wanted[table.name][0]) if wanted[table.name] else rows.schema.names
        found = rows.cast(schema(table)).select(names)
        assert rows_of(found) == sorted(map(repr, wanted[table.name])), table.name


def _value(column: Any) -> str:
    if column.type == "BLOB":
        return f"unhex({column.name}) AS {column.name}"
    if column.type.endswith("[]"):
        inner = column.type.removesuffix("[]")
        shape = '{"name": "VARCHAR", "value": "VARCHAR"}' if inner.startswith("STRUCT") else f'"{inner}"'
        return f"from_json({column.name}, '[{shape}]') AS {column.name}"
    return f"CAST({column.name} AS {column.type}) AS {column.name}"


def test_one_file_a_table_is_made_anew_each_time(tmp_path: Path) -> None:
    games = some_games(4)
    flat(log_of(games[:2]), tmp_path, "csv")
    before = (tmp_path / "games.csv").read_text()
    flat(log_of(games), tmp_path, "csv")
    assert len((tmp_path / "games.csv").read_text()) > len(before)


def test_no_kind_takes_the_place_of_another(tmp_path: Path) -> None:
    store = log_of(some_games(2))
    flat(store, tmp_path, "csv")
    with pytest.raises(Unavailable) as error:
        exported(store, tmp_path)
    assert error.value.code is Code.EXPORT_FOREIGN


def _named(name: str) -> Table:
    return next(table for table in EXPORTED if table.name == name)


@pytest.mark.parametrize("name", ["month=2020-01", "ruleset=x", "sea*son"])
def test_a_path_that_would_be_read_as_more_than_a_name_is_refused(tmp_path: Path, name: str) -> None:
    place = tmp_path / name / "out"
    with pytest.raises(Unavailable) as failure:
        exported(a_log(), place)
    assert failure.value.code is Code.SOURCE_UNREADABLE
    assert not place.exists()
    exported(a_log(), tmp_path / "out")
    place.parent.mkdir()
    (tmp_path / "out").rename(place)
    with pytest.raises(Unavailable) as failure:
        opened(place)
    assert failure.value.code is Code.SOURCE_UNREADABLE
    assert "would be read as more than a name" in str(failure.value.facts["problem"])
