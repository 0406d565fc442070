"""The tables of `migrations/0001_log.sql` as commits fill them: the columns that they give, and the statements.

Times are microseconds since 1970 UTC. The statements are prepared once (`duck_incoming`).
"""

from typing import Final

import pyarrow as pa

from heptalog.service.store.duck_incoming import Table


def _row(**fields: pa.DataType) -> pa.StructType:
    return pa.struct(list(fields.items()))


EVENTS: Final = Table(
    source="incoming_events",
    row=_row(
        position=pa.int64(),
        game_number=pa.int64(),
        sequence=pa.int64(),
        kind=pa.string(),
        seat=pa.int64(),
        event_id=pa.string(),
        occurred_at=pa.int64(),
        recorded_at=pa.int64(),
        recorded_by=pa.string(),
        event=pa.binary(),
    ),
    prepare="""
        PREPARE insert_events AS INSERT INTO log.events BY NAME
        SELECT position, game_number, sequence, kind, seat, event_id, make_timestamptz(occurred_at) AS occurred_at,
            make_timestamptz(recorded_at) AS recorded_at, recorded_by, event
        FROM incoming_events
    """,
    execute="EXECUTE insert_events",
)
GAMES: Final = Table(
    source="incoming_games",
    row=_row(
        game_number=pa.int64(),
        game_id=pa.string(),
        ruleset=pa.string(),
        rules_version=pa.int64(),
        tournament=pa.string(),
        table_name=pa.string(),
        players=pa.list_(_row(id=pa.string(), name=pa.string())),
        options=pa.string(),
        tags=pa.list_(_row(name=pa.string(), value=pa.string())),
        created_at=pa.int64(),
        created_at_nanoseconds=pa.int64(),
        started=pa.binary(),
    ),
    prepare="""
        PREPARE insert_games AS INSERT INTO log.games BY NAME
        SELECT game_number, game_id, ruleset, rules_version, tournament, table_name, players, options, tags,
            make_timestamptz(created_at) AS created_at, created_at_nanoseconds, started
        FROM incoming_games
    """,
    execute="EXECUTE insert_games",
)
ENDINGS: Final = Table(
    source="incoming_endings",
    row=_row(
        game_number=pa.int64(),
        sequence=pa.int64(),
        status=pa.string(),
        scores=pa.list_(pa.int64()),
        winners=pa.list_(pa.int64()),
        recorded_at=pa.int64(),
    ),
    prepare="""
        PREPARE insert_endings AS INSERT INTO log.endings BY NAME
        SELECT game_number, sequence, status, scores, winners, make_timestamptz(recorded_at) AS recorded_at
        FROM incoming_endings
    """,
    execute="EXECUTE insert_endings",
)
REFUSALS: Final = Table(
    source="incoming_refusals",
    row=_row(
        refusal_number=pa.int64(),
        game_id=pa.string(),
        sequence=pa.int64(),
        refused_at=pa.int64(),
        refused_at_nanoseconds=pa.int64(),
        recorded_by=pa.string(),
        kind=pa.string(),
        code=pa.string(),
        rule=pa.string(),
        content=pa.binary(),
    ),
    prepare="""
        PREPARE insert_refusals AS INSERT INTO log.refusals BY NAME
        SELECT refusal_number, game_id, sequence, make_timestamptz(refused_at) AS refused_at, refused_at_nanoseconds,
            recorded_by, kind, code, rule, content
        FROM incoming_refusals
    """,
    execute="EXECUTE insert_refusals",
)
TABLES: Final = (EVENTS, GAMES, ENDINGS, REFUSALS)
