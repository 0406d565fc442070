"""What one commit writes: columns, never rows, for the tables of `duck_tables`; and the few rows that others write.

What the columns beside a record say is in `kept`, for here and for whoever holds them against the record.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
from msgspec import Struct

from heptalog.service.store import Batch, Checkpoint, Ending, Refusal, TreeHead
from heptalog.service.store.duck_incoming import Rows, rows_in, rows_of
from heptalog.service.store.duck_tables import ENDINGS, EVENTS, GAMES, REFUSALS
from heptalog.service.store.duck_whole import columns_of, records_of, sequences_of
from heptalog.service.store.kept import ending_columns, event_columns, game_columns
from heptalog.service.store.void import Void
from heptalog.service.store.whole import WholeGame

# Lists that are parameters hold no None, because the engine guesses a column's type from some of its values: what is
# absent is 0 here, and becomes NULL in the statement.
_DERIVED: Final = """
    INSERT INTO log.endings
    SELECT game_number, sequence, status, scores, winners, make_timestamptz(nullif(recorded_at, 0))
    FROM (
        SELECT unnest($1::VARCHAR[]) AS game_id, unnest($2::BIGINT[]) AS sequence, unnest($3::VARCHAR[]) AS status,
            unnest($4::BIGINT[][]) AS scores, unnest($5::BIGINT[][]) AS winners, unnest($6::BIGINT[]) AS recorded_at
    )
    JOIN log.games USING (game_id)
"""
_CHECKPOINTS: Final = "INSERT INTO log.checkpoints VALUES (?, ?, ?, make_timestamptz(?::BIGINT))"
_INCIDENT: Final = "INSERT INTO log.incidents VALUES (make_timestamptz(?::BIGINT), ?, ?, ?, ?, ?, ?, ?, ?)"


class Accepted(Struct, frozen=True):
    """A batch whose game has the head that it expects, and what it is given: numbers from 1."""

    batch: Batch
    game_number: int
    position: int  # of its first event


def rows_of_batches(accepted: Sequence[Accepted], refusals: Sequence[Refusal], refusal_number: int) -> Iterator[Rows]:
    """All that a commit of these inserts; the refusals are numbered from `refusal_number` on."""
    yield from rows_of(EVENTS, chain.from_iterable(map(_event_rows, accepted)))
    yield from rows_of(GAMES, (_game_row(item) for item in accepted if item.batch.entries[0].event.sequence == 0))
    yield from rows_of(ENDINGS, (row for item in accepted if item.batch.endings for row in _ending_rows(item)))
    yield from _rows_of_refusals(refusals, refusal_number)


def rows_of_games(
    games: Sequence[WholeGame], refusals: Sequence[Refusal], *, number: int, position: int, refusal_number: int
) -> Iterator[Rows]:
    """All that a commit of whole games and of refusals inserts, games, events and refusals numbered from these on."""
    if games:
        counts = [game.count for game in games]
        positions = pa.array(np.arange(position, position + sum(counts)))
        numbers = pa.array(np.repeat(np.arange(number, number + len(games)), counts))
        sequences = pa.array(sequences_of(games))
        yield rows_in(EVENTS, (positions, numbers, sequences, *columns_of(games), records_of(games)))
    numbered = list(enumerate(games, number))
    yield from rows_of(GAMES, ((its_number, *game.game) for its_number, game in numbered))
    yield from rows_of(ENDINGS, ((its_number, *ending) for its_number, game in numbered for ending in game.endings))
    yield from _rows_of_refusals(refusals, refusal_number)


def write_derived(connection: duckdb.DuckDBPyConnection, endings: Iterable[tuple[str, Ending, int]]) -> None:
    """Insert endings that were derived after their events, each with its game and when its event was recorded."""
    rows = ((game_id, *ending_columns(ending, recorded_at)) for game_id, ending, recorded_at in endings)
    columns = [list(column) for column in zip(*((*row, recorded_at or 0) for *row, recorded_at in rows), strict=True)]
    if columns:
        connection.execute(_DERIVED, columns)


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


def _rows_of_refusals(refusals: Sequence[Refusal], first: int) -> Iterator[Rows]:
    return rows_of(REFUSALS, (_refusal_row(refusal, number) for number, refusal in enumerate(refusals, first)))


def _event_rows(item: Accepted) -> Iterator[tuple[object, ...]]:
    number = item.game_number
    for position, entry in enumerate(item.batch.entries, item.position):
        yield (position, number, *event_columns(entry.event), entry.record)


def _game_row(item: Accepted) -> tuple[object, ...]:
    first = item.batch.entries[0]
    return (item.game_number, *game_columns(first.event, first.record))


def _ending_rows(item: Accepted) -> Iterator[tuple[object, ...]]:
    first = item.batch.expected + 1
    for ending in item.batch.endings:
        event = item.batch.entries[ending.sequence - first].event
        yield (item.game_number, *ending_columns(ending, event.recorded_at))


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
