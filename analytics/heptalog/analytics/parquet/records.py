"""The records themselves as a table, beside the tables that follow from them, and the list of what was left out."""

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from heptalog.analytics.projecting.arrow import schema_of
from heptalog.analytics.projecting.game import GameProjection
from heptalog.analytics.projecting.rows import microseconds
from heptalog.analytics.sql import RULESETS
from heptalog.analytics.tables import TABLES, Column, Table, columns_of, meaning_of
from heptalog.replay.codec import hash_in
from heptalog.replay.events import Event, camel_name

EVENTS: Final = Table("events")
LEFT_OUT: Final = Table("left_out", is_of_games=False)
# All that an export holds.
EXPORTED: Final = (*TABLES, EVENTS, LEFT_OUT)
# Why a game is left out that goes on; of others the code of what is wrong with them.
RUNNING: Final = "RUNNING"

_GAME: Final = (
    Column("game_number", "BIGINT", "The game: the position of its first event."),
    Column("game_id", "VARCHAR", "The game, by its name for ever."),
)
_EVENTS: Final = (
    Column("position", "BIGINT", "Its place among all events of the log."),
    *_GAME,
    Column("sequence", "INTEGER", "Its place in the game, from 0."),
    Column("kind", "VARCHAR", "What happened, as a game file names it: cardPlayed."),
    Column("seat", "INTEGER", "Whose it was; NULL where the event has no seat."),
    Column("event_id", "VARCHAR", "Its id, unique in the game; NULL where the record has none."),
    Column("occurred_at", "TIMESTAMP WITH TIME ZONE", "When it happened at the table; NULL where it does not say."),
    Column("recorded_at", "TIMESTAMP WITH TIME ZONE", "When it was accepted; NULL where the record does not say."),
    Column("recorded_by", "VARCHAR", "Who recorded it; NULL where the record does not say."),
    Column("hash", "BLOB", "Its link of the game's chain, which proves it and all before it."),
    Column("record", "BLOB", "The exact bytes of the record: canonical protobuf, hidden hands and salts included."),
    Column("ruleset", "VARCHAR", f"The key of its rules: {RULESETS}."),
    Column("month", "VARCHAR", "The month in which the game began, UTC, as 2026-11."),
)
_LEFT_OUT: Final = (
    *_GAME,
    Column("reason", "VARCHAR", "RUNNING, or the code of what keeps its records from being read."),
)
_OWN: Final = {
    EVENTS.name: ("One row an event, with the record as it stands in the log.", _EVENTS),
    LEFT_OUT.name: ("One row a game that is in the log and not in this export.", _LEFT_OUT),
}
_TYPES: Final[dict[str, pa.DataType]] = {
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "VARCHAR": pa.string(),
    "BLOB": pa.binary(),
    "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", "UTC"),
}


def meaning(table: Table) -> str:
    """What a row of a table of an export is."""
    return _OWN[table.name][0] if table.name in _OWN else meaning_of(table)


def columns(table: Table) -> tuple[Column, ...]:
    """The columns of a table of an export, in order."""
    return _OWN[table.name][1] if table.name in _OWN else columns_of(table)


def schema(table: Table) -> pa.Schema:
    """The columns of a table of an export as Arrow has them, the partitions included."""
    if table.name not in _OWN:
        return schema_of(table)
    return pa.schema([(column.name, _TYPES[column.type]) for column in columns(table)])


def event_row(position: int, game: GameProjection, event: Event, record: bytes) -> tuple[Any, ...]:
    """The row of an event in the table of events."""
    return (
        position,
        game.game_number,
        game.game_id,
        event.sequence,
        camel_name(type(event.body)),
        getattr(event.body, "seat", None),
        event.event_id or None,
        microseconds(event.occurred_at),
        microseconds(event.recorded_at),
        event.recorded_by or None,
        hash_in(record),
        record,
        game.ruleset,
        game.month,
    )


def rows_in_arrow(table: Table, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Rows of one of the tables that only an export has; each has the values of its columns, in order."""
    fields = schema(table)
    values = list(zip(*rows, strict=True)) or [()] * len(fields)
    return pa.Table.from_arrays(
        [pa.array(column, type=field.type) for column, field in zip(values, fields, strict=True)], schema=fields
    )
