"""How one commit is written: columns, never rows, into the tables of `migrations/0001_log.sql`.

What the columns beside a record say is in `kept`, for here and for whoever holds them against the record. Events go in
as numpy arrays, the fastest way there is from a hundred on; the few rows of the other tables as lists.
Columns hold no None, because the engine guesses a column's type from some of its values: what is absent is 0, -1 or
empty here, and becomes NULL in the statement.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import duckdb
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from heptalog.service.store import Batch, Checkpoint, Ending, Entry, Refusal, TreeHead
from heptalog.service.store.kept import EVENT_COLUMNS, ending_columns, event_columns, game_columns
from heptalog.service.store.void import Void

_EVENTS: Final = """
    INSERT INTO log.events
    SELECT position, game_number, sequence, kind, nullif(seat, -1), nullif(event_id, ''),
        make_timestamptz(nullif(occurred_at, 0)), make_timestamptz(nullif(recorded_at, 0)),
        nullif(recorded_by, ''), event
    FROM batch
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


# What stands in place of an absent value, and how a column is handed over.
_FORMS: Final[dict[str, tuple[Any, Any]]] = {
    "sequence": (None, np.int64),
    "kind": (None, object),
    "seat": (-1, np.int64),
    "event_id": ("", object),
    "occurred_at": (0, np.int64),
    "recorded_at": (0, np.int64),
    "recorded_by": ("", object),
}
_CHECKPOINTS: Final = "INSERT INTO log.checkpoints VALUES (?, ?, ?, make_timestamptz(?::BIGINT))"
_INCIDENT: Final = "INSERT INTO log.incidents VALUES (make_timestamptz(?::BIGINT), ?, ?, ?, ?, ?, ?, ?, ?)"


class Accepted(Struct, frozen=True):
    """A batch whose game has the head that it expects, and what it is given: numbers from 1."""

    batch: Batch
    game_number: int
    position: int  # of its first event


def write(
    connection: duckdb.DuckDBPyConnection,
    accepted: Sequence[Accepted],
    refusals: Sequence[Refusal],
    refusal_number: int,
) -> None:
    """Insert all of this, in the transaction of the caller; the refusals are numbered from `refusal_number` on."""
    if accepted:
        _write_events(connection, accepted)
    _write_rows(connection, _GAMES, (_game_row(item) for item in accepted if item.batch.entries[0].event.sequence == 0))
    _write_rows(connection, _ENDINGS, (row for item in accepted if item.batch.endings for row in _ending_rows(item)))
    _write_rows(
        connection,
        _REFUSALS,
        (_refusal_row(refusal, number) for number, refusal in enumerate(refusals, refusal_number)),
    )


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


def _write_events(connection: duckdb.DuckDBPyConnection, accepted: Sequence[Accepted]) -> None:
    entries = [entry for item in accepted for entry in item.batch.entries]
    first = accepted[0].position
    numbers = [item.game_number for item in accepted]
    counts = [len(item.batch.entries) for item in accepted]
    connection.register("batch", _event_columns(entries, first, np.repeat(numbers, counts)))
    try:
        connection.execute(_EVENTS)
    finally:
        connection.unregister("batch")


def _event_columns(entries: list[Entry], position: int, game_numbers: NDArray[np.int64]) -> dict[str, Any]:
    columns = zip(*(event_columns(entry.event) for entry in entries), strict=True)
    return {
        "position": np.arange(position, position + len(entries)),
        "game_number": game_numbers,
        **{name: _array(name, column) for name, column in zip(EVENT_COLUMNS, columns, strict=True)},
        "event": np.array([entry.record for entry in entries], dtype=object),
    }


def _array(name: str, column: tuple[Any, ...]) -> NDArray[Any]:
    """A column without None."""
    absent, kind = _FORMS[name]
    return np.array([absent if value is None else value for value in column], dtype=kind)


def _write_rows(connection: duckdb.DuckDBPyConnection, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    if columns:
        connection.execute(statement, columns)


def _game_row(item: Accepted) -> tuple[object, ...]:
    first = item.batch.entries[0]
    game_id, ruleset, version, tournament, table, players, options, tags, created_at, *rest = game_columns(
        first.event, first.record
    )
    absent = (tournament or "", table or "")
    return (item.game_number, game_id, ruleset, version, *absent, players, options, tags, created_at or 0, *rest)


def _ending_rows(item: Accepted) -> Iterable[tuple[object, ...]]:
    first = item.batch.expected + 1
    for ending in item.batch.endings:
        event = item.batch.entries[ending.sequence - first].event
        *columns, recorded_at = ending_columns(ending, event.recorded_at)
        yield (item.game_number, *columns, recorded_at or 0)


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
