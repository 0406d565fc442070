"""The tables of `migrations/0001_log.sql` as commits fill them: the columns that they give, and the statements.

A moment is given as microseconds since 1970 UTC. The statements are prepared once (`duck_incoming`).
"""

from typing import Final

import pyarrow as pa

from heptalog.service.store.duck_incoming import Table

# A moment, among the columns of a table.
TIME: Final = pa.timestamp("us", "UTC")


def _row(**fields: pa.DataType) -> pa.StructType:
    return pa.struct(list(fields.items()))


def _table(name: str, **columns: pa.DataType) -> Table:
    """The table log.NAME, filled in these columns."""
    given = {column: pa.int64() if kind is TIME else kind for column, kind in columns.items()}
    values = [f"make_timestamptz({column}) AS {column}" if columns[column] is TIME else column for column in columns]
    source, statement = f"incoming_{name}", f"insert_{name}"
    select = f"SELECT {', '.join(values)} FROM {source}"  # noqa: S608  # names of our own
    return Table(
        source=source,
        row=_row(**given),
        prepare=f"PREPARE {statement} AS INSERT INTO log.{name} BY NAME {select}",
        execute=f"EXECUTE {statement}",
    )


EVENTS: Final = _table(
    "events",
    position=pa.int64(),
    game_number=pa.int64(),
    sequence=pa.int64(),
    kind=pa.string(),
    seat=pa.int64(),
    event_id=pa.string(),
    occurred_at=TIME,
    recorded_at=TIME,
    recorded_by=pa.string(),
    event=pa.binary(),
)
GAMES: Final = _table(
    "games",
    game_number=pa.int64(),
    game_id=pa.string(),
    ruleset=pa.string(),
    rules_version=pa.int64(),
    tournament=pa.string(),
    table_name=pa.string(),
    players=pa.list_(_row(id=pa.string(), name=pa.string())),
    options=pa.string(),
    tags=pa.list_(_row(name=pa.string(), value=pa.string())),
    created_at=TIME,
    created_at_nanoseconds=pa.int64(),
    started=pa.binary(),
)
ENDINGS: Final = _table(
    "endings",
    game_number=pa.int64(),
    sequence=pa.int64(),
    status=pa.string(),
    scores=pa.list_(pa.int64()),
    winners=pa.list_(pa.int64()),
    recorded_at=TIME,
)
REFUSALS: Final = _table(
    "refusals",
    refusal_number=pa.int64(),
    game_id=pa.string(),
    sequence=pa.int64(),
    refused_at=TIME,
    refused_at_nanoseconds=pa.int64(),
    recorded_by=pa.string(),
    kind=pa.string(),
    code=pa.string(),
    rule=pa.string(),
    content=pa.binary(),
)
TABLES: Final = (EVENTS, GAMES, ENDINGS, REFUSALS)
