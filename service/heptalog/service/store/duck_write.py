"""How one commit is written: columns, never rows, into the tables of `migrations/0001_log.sql`.

Events go in as numpy arrays, the fastest way there is from a hundred on; the few rows of the other tables as lists.
Columns hold no None, because the engine guesses a column's type from some of its values: what is absent is 0, -1 or
empty here, and becomes NULL in the statement.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import duckdb
import numpy as np
from msgspec import Struct
from msgspec.json import encode
from numpy.typing import NDArray

from heptalog.replay.events import GameStarted, camel_name
from heptalog.replay.gamefile import options_given
from heptalog.service.store import Batch, Entry, Refusal
from heptalog.service.store.batches import rules_version_of, ruleset_of

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
_REFUSALS: Final = """
    INSERT INTO log.refusals
    SELECT unnest($1::BIGINT[]), unnest($2::VARCHAR[]), unnest($3::BIGINT[]), make_timestamptz(unnest($4::BIGINT[])),
        unnest($5::BIGINT[]), unnest($6::VARCHAR[]), unnest($7::VARCHAR[]), unnest($8::VARCHAR[]),
        unnest($9::VARCHAR[]), unnest($10::BLOB[])
"""


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
    events = [entry.event for entry in entries]
    return {
        "position": np.arange(position, position + len(entries)),
        "game_number": game_numbers,
        "sequence": np.array([event.sequence for event in events], dtype=np.int64),
        "kind": np.array([camel_name(type(event.body)) for event in events], dtype=object),
        "seat": np.array([getattr(event.body, "seat", -1) for event in events], dtype=np.int64),
        "event_id": np.array([event.event_id for event in events], dtype=object),
        "occurred_at": np.array([event.occurred_at // 1000 for event in events], dtype=np.int64),
        "recorded_at": np.array([event.recorded_at // 1000 for event in events], dtype=np.int64),
        "recorded_by": np.array([event.recorded_by for event in events], dtype=object),
        "event": np.array([entry.record for entry in entries], dtype=object),
    }


def _write_rows(connection: duckdb.DuckDBPyConnection, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    if columns:
        connection.execute(statement, columns)


def _game_row(item: Accepted) -> tuple[object, ...]:
    first = item.batch.entries[0]
    started = first.event.body
    assert isinstance(started, GameStarted), "a game starts once, and first"
    microseconds, nanoseconds = divmod(first.event.recorded_at, 1000)
    return (
        item.game_number,
        item.batch.game_id,
        ruleset_of(started),
        rules_version_of(started),
        started.tournament,
        started.table,
        [{"id": player.id, "name": player.name} for player in started.players],
        encode(options_given(started.rules)).decode(),
        [{"name": tag.name, "value": tag.value} for tag in started.tags],
        microseconds,
        nanoseconds,
        first.record,
    )


def _ending_rows(item: Accepted) -> Iterable[tuple[object, ...]]:
    first = item.batch.expected + 1
    for ending in item.batch.endings:
        event = item.batch.entries[ending.sequence - first].event
        yield (
            item.game_number,
            ending.sequence,
            ending.status.value,
            list(ending.scores),
            list(ending.winners),
            event.recorded_at // 1000,
        )


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
