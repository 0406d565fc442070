"""Rows as Arrow tables, whose schemas are those of the tables' own files."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final

import pyarrow

from heptalog.analytics.projecting.game import GameProjection
from heptalog.analytics.projecting.rows import Row, microseconds
from heptalog.analytics.sources import Refused
from heptalog.analytics.tables import TABLES, Table, columns_of
from heptalog.replay import codec
from heptalog.replay.errors import HeptalogError

# How the engine's types are written in Arrow; `T[]` is a list of these, and a STRUCT has fields of them.
_TYPES: Final[Mapping[str, pyarrow.DataType]] = MappingProxyType(
    {
        "BIGINT": pyarrow.int64(),
        "INTEGER": pyarrow.int32(),
        "DOUBLE": pyarrow.float64(),
        "BOOLEAN": pyarrow.bool_(),
        "VARCHAR": pyarrow.string(),
        "TIMESTAMP WITH TIME ZONE": pyarrow.timestamp("us", tz="UTC"),
    }
)


def arrow_tables(games: Iterable[GameProjection]) -> dict[str, pyarrow.Table]:
    """The rows of these games in every table of games, also in those where they have none."""
    rows: dict[str, list[Row]] = {table.name: [] for table in TABLES if table.is_of_games}
    for game in games:
        for name, more in game.rows().items():
            rows[name] += more
    return {table.name: arrow_table(table, rows[table.name]) for table in TABLES if table.is_of_games}


def arrow_table(table: Table, rows: Sequence[Row]) -> pyarrow.Table:
    """Rows of one table; each has the values of its columns, in order."""
    if not rows:
        return _empty(table)
    schema = schema_of(table)
    arrays = [
        pyarrow.array(values, type=kind) for values, kind in zip(zip(*rows, strict=True), schema.types, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


@cache
def schema_of(table: Table) -> pyarrow.Schema:
    """The columns of a table as Arrow has them."""
    return pyarrow.schema([(column.name, _type_of(column.type)) for column in columns_of(table)])


@cache
def _empty(table: Table) -> pyarrow.Table:
    # Most tables are those of other games, and to make a table takes longer than to fill it with a few rows.
    return schema_of(table).empty_table()


def refusal_row(number: int, refused: Refused) -> Row:
    """The row of a refused event; `number` is its place among all that were refused, from 1."""
    return (
        number,
        refused.game_id,
        refused.sequence,
        microseconds(refused.refused_at),
        refused.recorded_by or None,
        refused.kind,
        _seat_in(refused.content),
        refused.code,
        refused.rule,
    )


def _seat_in(content: bytes) -> int | None:
    """The seat that an event names; None where it has none, or where a newer version knows what it says."""
    try:
        body = codec.event_of(codec.parse(content)).body
    except HeptalogError:
        return None
    seat: int | None = getattr(body, "seat", None)
    return seat


def _type_of(name: str) -> pyarrow.DataType:
    if name.endswith("[]"):
        return pyarrow.list_(_type_of(name.removesuffix("[]")))
    if name.startswith("STRUCT("):
        fields = [field.split(" ", maxsplit=1) for field in name.removeprefix("STRUCT(").removesuffix(")").split(", ")]
        return pyarrow.struct([(field.strip('"'), _type_of(kind)) for field, kind in fields])
    return _TYPES[name]
