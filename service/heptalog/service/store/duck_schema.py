"""Whether the tables of a database are declared as those of one that was made just now."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import duckdb

from heptalog.service.store.migrate import migrate, migrations

# Column, type and whether it may be NULL, by table and column.
_Declared: TypeAlias = dict[str, dict[str, tuple[str, bool]]]

COLUMNS: Final = """
    SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns()
    WHERE database_name = current_database() AND schema_name = 'log' ORDER BY table_name, column_index
"""


class Difference(NamedTuple):
    """A table or a column that is not declared as it should be.

    `is_usable` where all that is asked of the table can be asked all the same.
    """

    table: str
    column: str | None
    problem: str
    is_usable: bool


def differences(rows: list[tuple[Any, ...]]) -> Iterator[Difference]:
    """What is wrong in the answer to COLUMNS."""
    declared, expected = _by_table(rows), _fresh()
    for table in sorted(declared.keys() | expected.keys()):
        if table not in declared:
            yield Difference(table, None, "the table is missing", is_usable=False)
        elif table not in expected:
            yield Difference(table, None, "there is no such table", is_usable=True)
        else:
            yield from _of_columns(table, declared[table], expected[table])


def _of_columns(
    table: str, declared: dict[str, tuple[str, bool]], expected: dict[str, tuple[str, bool]]
) -> Iterator[Difference]:
    for name, (kind, is_nullable) in expected.items():
        if name not in declared:
            yield Difference(table, name, "the column is missing", is_usable=False)
        elif declared[name][0] != kind:
            yield Difference(table, name, f"its type is not {kind}", is_usable=False)
        elif declared[name][1] != is_nullable:
            problem = "it may not be NULL" if is_nullable else "it may be NULL"
            yield Difference(table, name, problem, is_usable=True)
    for name in declared:
        if name not in expected:
            yield Difference(table, name, "there is no such column", is_usable=True)


@cache
def _fresh() -> _Declared:
    with duckdb.connect(":memory:") as connection:
        migrate(connection, migrations())
        return _by_table(connection.execute(COLUMNS).fetchall())


def _by_table(rows: list[tuple[Any, ...]]) -> _Declared:
    tables: _Declared = {}
    for table, column, kind, is_nullable in rows:
        tables.setdefault(table, {})[column] = (kind, is_nullable)
    return tables
