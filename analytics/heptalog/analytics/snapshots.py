"""One moment of the tables as files, and a connection that sees it: what every question is asked of."""

from collections.abc import Collection, Sequence
from typing import Final

import duckdb
from msgspec import Struct

from heptalog.analytics.sql import quoted
from heptalog.analytics.tables import TABLES, Table, columns_of

# Where the files are read; questions see what stands before it, in the schema that they use.
KEPT: Final = "kept"
# What a refusal says of a hand is told once the hand may be: after the game, or where there never was one. A game that
# cannot be read may be running. Without a LIMIT the engine would ask what a question asks of every refusal before it
# leaves those of running games out, and how long that takes, or how much memory, would tell of them; a materialized
# WITH and the engine's own barrier do not help.
_SHOWN_REFUSALS: Final = f"""
    SELECT refusals.* FROM {KEPT}.refusals
    LEFT JOIN {KEPT}.games USING (game_id)
    WHERE (games.status IS NULL OR games.status <> 'RUNNING'){{}}
    LIMIT 9223372036854775807
"""  # noqa: S608  # only our own names


class Part(Struct, frozen=True):
    """One Parquet file of a table. `excluded` are the games in it that another part has newer."""

    path: str
    excluded: tuple[int, ...] = ()


class Snapshot(Struct, frozen=True):
    """One moment: everything that follows from the events up to `position`, and from so many `refusals`.

    `folders` are those that hold the parts, whoever reads them needs no other. A table without parts has no rows.
    `unread` are the games that are in the log and could not be read: their rows, if any, are from before that.
    """

    position: int
    refusals: int
    folders: tuple[str, ...]
    tables: dict[str, tuple[Part, ...]]
    unread: tuple[str, ...] = ()


def attach(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, names: Collection[str] | None = None) -> None:
    """Put the tables of a moment before a connection, under their names. Raises duckdb.Error where a file is none.

    `names` are those that are wanted: each opens a file.
    """
    # Which refusals are shown, the games say.
    wanted = [
        table
        for table in TABLES
        if names is None or table.name in names or (table.name == "games" and "refusals" in names)
    ]
    connection.execute(f"CREATE SCHEMA {KEPT}")
    for table in wanted:
        source = _source(table, snapshot.tables.get(table.name, ()))
        connection.execute(f"CREATE VIEW {KEPT}.{table.name} AS {source}")
    for table in wanted:
        shown = _shown_refusals(snapshot.unread) if table.name == "refusals" else f"FROM {KEPT}.{table.name}"
        connection.execute(f"CREATE VIEW {table.name} AS {shown}")


def _shown_refusals(unread: Sequence[str]) -> str:
    condition = f" AND game_id NOT IN ({', '.join(map(quoted, unread))})" if unread else ""
    return _SHOWN_REFUSALS.format(condition)


def _source(table: Table, parts: Sequence[Part]) -> str:
    """The SELECT that reads a table from its parts."""
    columns = columns_of(table)
    names = ", ".join(column.name for column in columns)
    whole = [part.path for part in parts if not part.excluded]
    pieces = [f"SELECT {names} FROM {_read(table, whole)}"] if whole else []  # noqa: S608  # only our own names
    pieces += [
        f"SELECT {names} FROM {_read(table, [part.path])} WHERE game_number NOT IN ({_listed(part.excluded)})"  # noqa: S608
        for part in parts
        if part.excluded
    ]
    nothing = ", ".join(f"NULL::{column.type} AS {column.name}" for column in columns)
    return " UNION ALL ".join(pieces) or f"SELECT {nothing} WHERE false"  # only our own names


def _read(table: Table, paths: Sequence[str]) -> str:
    listed = ", ".join(map(quoted, paths))
    if not table.is_of_games:
        return f"read_parquet([{listed}], hive_partitioning=false)"
    return f"read_parquet([{listed}], hive_partitioning=true, hive_types_autocast=false)"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
