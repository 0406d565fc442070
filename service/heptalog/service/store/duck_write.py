"""How one commit is written: columns, never rows, into the tables of `migrations/0001_log.sql`.

What the columns beside a record say is in `kept`, for here and for whoever holds them against the record. Events go in
as an Arrow batch (`duck_incoming`), the fastest way there is at any size; the few rows of the other tables as lists.
Those hold no None, because the engine guesses a column's type from some of its values: what is absent is 0 or empty
here, and becomes NULL in the statement.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

import duckdb
import numpy as np
from msgspec import Struct

from heptalog.service.store import Batch, Checkpoint, Ending, Refusal, TreeHead
from heptalog.service.store.duck_incoming import Incoming
from heptalog.service.store.kept import Columns, ending_columns, event_columns, game_columns
from heptalog.service.store.void import Void
from heptalog.service.store.whole import WholeGame

_EVENTS: Final = """
    INSERT INTO log.events
    SELECT position, game_number, sequence, kind, seat, event_id, make_timestamptz(occurred_at),
        make_timestamptz(recorded_at), recorded_by, event
    FROM incoming
"""
_GAMES: Final = """
    INSERT INTO log.games
    SELECT unnest($1::BIGINT[]), unnest($2::VARCHAR[]), unnest($3::VARCHAR[]), unnest($4::BIGINT[]),
        nullif(unnest($5::VARCHAR[]), ''), nullif(unnest($6::VARCHAR[]), ''),
        unnest($7::STRUCT(id VARCHAR, name VARCHAR)[][]), unnest($8::VARCHAR[]),
        unnest($9::STRUCT(name VARCHAR, value VARCHAR)[][]),
        make_timestamptz(nullif(unnest($10::BIGINT[]), 0)), unnest($11::BIGINT[]), unnest($12::BLOB[])
"""
_ENDINGS: Final = """
    INSERT INTO log.endings
    SELECT unnest($1::BIGINT[]), unnest($2::BIGINT[]), unnest($3::VARCHAR[]), unnest($4::BIGINT[][]),
        unnest($5::BIGINT[][]), make_timestamptz(nullif(unnest($6::BIGINT[]), 0))
"""
_DERIVED: Final = """
    INSERT INTO log.endings
    SELECT game_number, sequence, status, scores, winners, make_timestamptz(nullif(recorded_at, 0))
    FROM (
        SELECT unnest($1::VARCHAR[]) AS game_id, unnest($2::BIGINT[]) AS sequence, unnest($3::VARCHAR[]) AS status,
            unnest($4::BIGINT[][]) AS scores, unnest($5::BIGINT[][]) AS winners, unnest($6::BIGINT[]) AS recorded_at
    )
    JOIN log.games USING (game_id)
"""
_REFUSALS: Final = """
    INSERT INTO log.refusals
    SELECT unnest($1::BIGINT[]), unnest($2::VARCHAR[]), unnest($3::BIGINT[]), make_timestamptz(unnest($4::BIGINT[])),
        unnest($5::BIGINT[]), unnest($6::VARCHAR[]), unnest($7::VARCHAR[]), unnest($8::VARCHAR[]),
        unnest($9::VARCHAR[]), unnest($10::BLOB[])
"""


_CHECKPOINTS: Final = "INSERT INTO log.checkpoints VALUES (?, ?, ?, make_timestamptz(?::BIGINT))"
_INCIDENT: Final = "INSERT INTO log.incidents VALUES (make_timestamptz(?::BIGINT), ?, ?, ?, ?, ?, ?, ?, ?)"


class Accepted(Struct, frozen=True):
    """A batch whose game has the head that it expects, and what it is given: numbers from 1."""

    batch: Batch
    game_number: int
    position: int  # of its first event


class Numbered(Struct, frozen=True):
    """A whole game, and what it is given: numbers from 1."""

    game: WholeGame
    number: int
    position: int  # of its first event


def write(
    connection: duckdb.DuckDBPyConnection,
    incoming: Incoming,
    accepted: Sequence[Accepted],
    refusals: Sequence[Refusal],
    refusal_number: int,
) -> None:
    """Insert all of this, in the transaction of the caller; the refusals are numbered from `refusal_number` on."""
    if accepted:
        _write_events(connection, incoming, accepted)
    _write_rows(connection, _GAMES, (_game_row(item) for item in accepted if item.batch.entries[0].event.sequence == 0))
    _write_rows(connection, _ENDINGS, (row for item in accepted if item.batch.endings for row in _ending_rows(item)))
    _write_refusals(connection, refusals, refusal_number)


def write_games(
    connection: duckdb.DuckDBPyConnection,
    incoming: Incoming,
    games: Sequence[Numbered],
    refusals: Sequence[Refusal],
    refusal_number: int,
) -> None:
    """Insert whole games and refusals, in the transaction of the caller."""
    if games:
        columns = [
            list(chain.from_iterable(parts)) for parts in zip(*(item.game.columns for item in games), strict=True)
        ]
        records = [record for item in games for record in item.game.records]
        numbers = np.repeat([item.number for item in games], [len(item.game.records) for item in games])
        with incoming.held(games[0].position, numbers, columns, records):
            connection.execute(_EVENTS)
    _write_rows(connection, _GAMES, (_numbered_game(item.number, item.game.game) for item in games))
    endings = ((item.number, row) for item in games for row in item.game.endings)
    _write_rows(connection, _ENDINGS, (_numbered_ending(*ending) for ending in endings))
    _write_refusals(connection, refusals, refusal_number)


def write_derived(connection: duckdb.DuckDBPyConnection, endings: Iterable[tuple[str, Ending, int]]) -> None:
    """Insert endings that were derived after their events, each with its game and when its event was recorded."""
    rows = ((game_id, *ending_columns(ending, recorded_at)) for game_id, ending, recorded_at in endings)
    _write_rows(connection, _DERIVED, ((*columns, recorded_at or 0) for *columns, recorded_at in rows))


def write_checkpoint(connection: duckdb.DuckDBPyConnection, checkpoint: Checkpoint, number: int, time: int) -> None:
    """Insert it under its number, in the transaction of the caller."""
    connection.execute(_CHECKPOINTS, [number, checkpoint.size, checkpoint.note, time // 1000])


def write_incident(
    connection: duckdb.DuckDBPyConnection, finding: str, *, head: TreeHead | None, log: TreeHead, void: Void, time: int
) -> None:
    """Put on record that the log goes on as it is, although its head record, or what was signed, says otherwise."""
    said = (None, None) if head is None else (head.size, head.root)
    row = (time // 1000, finding, *said, log.size, log.root, void.kept, void.after, list(void.names))
    connection.execute(_INCIDENT, row)


def _write_events(connection: duckdb.DuckDBPyConnection, incoming: Incoming, accepted: Sequence[Accepted]) -> None:
    entries = [entry for item in accepted for entry in item.batch.entries]
    columns = zip(*(event_columns(entry.event) for entry in entries), strict=True)
    numbers = np.repeat([item.game_number for item in accepted], [len(item.batch.entries) for item in accepted])
    with incoming.held(accepted[0].position, numbers, columns, [entry.record for entry in entries]):
        connection.execute(_EVENTS)


def _write_rows(connection: duckdb.DuckDBPyConnection, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    if columns:
        connection.execute(statement, columns)


def _write_refusals(connection: duckdb.DuckDBPyConnection, refusals: Sequence[Refusal], first: int) -> None:
    rows = (_refusal_row(refusal, number) for number, refusal in enumerate(refusals, first))
    _write_rows(connection, _REFUSALS, rows)


def _game_row(item: Accepted) -> tuple[object, ...]:
    first = item.batch.entries[0]
    return _numbered_game(item.game_number, game_columns(first.event, first.record))


def _numbered_game(number: int, columns: Columns) -> tuple[object, ...]:
    game_id, ruleset, version, tournament, table, players, options, tags, created_at, *rest = columns
    absent = (tournament or "", table or "")
    return (number, game_id, ruleset, version, *absent, players, options, tags, created_at or 0, *rest)


def _ending_rows(item: Accepted) -> Iterable[tuple[object, ...]]:
    first = item.batch.expected + 1
    for ending in item.batch.endings:
        event = item.batch.entries[ending.sequence - first].event
        yield _numbered_ending(item.game_number, ending_columns(ending, event.recorded_at))


def _numbered_ending(number: int, columns: Columns) -> tuple[object, ...]:
    *others, recorded_at = columns
    return (number, *others, recorded_at or 0)


def _refusal_row(refusal: Refusal, number: int) -> tuple[object, ...]:
    microseconds, nanoseconds = divmod(refusal.refused_at, 1000)
    return (
        number,
        refusal.game_id,
        refusal.sequence,
        microseconds,
        nanoseconds,
        refusal.recorded_by,
        refusal.kind,
        refusal.code,
        refusal.rule,
        refusal.content,
    )
