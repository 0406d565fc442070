"""The tables that questions are asked of: the history in the games' terms, one `.sql` file each.

Every row follows from the recorded events by the rules, and says nothing that the table did not see: hidden hands are
in none of them. Tables of games have the rows of whole games, so that a game's rows are replaced all together.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

import duckdb
from msgspec import Struct

from heptalog.analytics.sql import statements


class Table(Struct, frozen=True):
    """One table: its columns are described in its file. Those of games are partitioned by ruleset and month."""

    name: str
    is_of_games: bool = True


class Column(Struct, frozen=True):
    """One column as a reader meets it; `values` are all that it can say, where those are names."""

    name: str
    type: str
    meaning: str
    values: tuple[str, ...] = ()


TABLES: Final[tuple[Table, ...]] = (
    Table("games"),
    Table("seats"),
    Table("rounds"),
    Table("turns"),
    Table("placements"),
    Table("settlements"),
    Table("deals"),
    Table("tricks"),
    Table("points"),
    Table("plays"),
    Table("passes"),
    Table("ghosts"),
    Table("penalties"),
    Table("rulings"),
    Table("refusals", is_of_games=False),
    Table("rating_changes", is_of_games=False),
)
# What is told in one order over all games, rather than game by game.
REFUSALS, RATING_CHANGES = (table for table in TABLES if not table.is_of_games)
# Every table of games ends with these two; in files they are part of the path.
PARTITIONS: Final = ("ruleset", "month")
_FOLDER: Final = "tables"


def create(connection: duckdb.DuckDBPyConnection, tables: Sequence[Table] = TABLES) -> None:
    """Make these tables, empty, and the types of their columns, in the schema that the connection uses."""
    connection.execute(statements(_FOLDER, "types"))
    for table in tables:
        connection.execute(statements(_FOLDER, table.name))


def meaning_of(table: Table) -> str:
    """What a row of a table is."""
    return _catalog()[table.name][0]


def columns_of(table: Table) -> tuple[Column, ...]:
    """The columns of a table, in order."""
    return _catalog()[table.name][1]


def described(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, tuple[Column, ...]]]:
    """Every table and view that a connection has made, by name: what its comments say, as the engine understands it."""
    types = dict(connection.execute("SELECT type_name, labels FROM duckdb_types() WHERE NOT internal").fetchall())
    names = {_enum(labels): tuple(labels) for labels in types.values()}
    meanings = connection.execute(
        "SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal"
        " UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE NOT internal"
    ).fetchall()
    columns: dict[str, list[Column]] = {}
    for table, name, kind, comment in connection.execute(
        "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal"
        " ORDER BY table_name, column_index"
    ).fetchall():
        values = names.get(kind, ())
        columns.setdefault(table, []).append(Column(name, "VARCHAR" if values else kind, comment, values))
    return {name: (meaning, tuple(columns[name])) for name, meaning in meanings}


@cache
def _catalog() -> dict[str, tuple[str, tuple[Column, ...]]]:
    with duckdb.connect() as connection:
        create(connection)
        return described(connection)


def _enum(labels: Sequence[str] | None) -> str:
    return "ENUM({})".format(", ".join(f"'{label}'" for label in labels or ()))
