"""Exports for tests: of logs in memory, and what must be in one, found in another way than the program finds it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import duckdb
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from heptalog.analytics.parquet.exporting import Exported, Settings, exporting
from heptalog.analytics.parquet.records import EXPORTED, RUNNING, columns, schema
from heptalog.analytics.projecting.arrow import arrow_table, arrow_tables, refusal_row
from heptalog.analytics.projecting.game import GameProjection, project
from heptalog.analytics.rating import Ratings, result_of
from heptalog.analytics.sources import Source
from heptalog.analytics.tables import TABLES
from heptalog.replay.codec import chained, content_of, decode
from heptalog.replay.events import Body, GameClosed
from heptalog.replay.registry import GAMES
from heptalog.service.store import Entry, LogStore, Refusal
from heptalog.service.store.memory import MemoryStore
from tests.support.recording import batch_of, batches_of, endings_of, fold_of, recorded_game

MADE_AT: Final = 1_790_000_000_000_000_000
Row = dict[str, Any]


class InMemory(Struct, frozen=True):
    """Opens a store that is open already."""

    store: Any

    @contextmanager
    def __call__(self) -> Iterator[Source]:
        yield self.store


def settings(**changes: Any) -> Settings:
    """In this process, and by a clock that stands."""
    return replace(Settings(at_once=map, clock=lambda: MADE_AT), **changes)


def exported(store: LogStore, folder: Path, **changes: Any) -> Exported:
    """An export of a log."""
    with exporting(folder, lambda place: InMemory(store), settings(**changes)) as work:
        return work.run()


def some_games(count: int, *, seed: int = 0, length: int = 120, ruling_rate: float = 0.03) -> list[list[Entry]]:
    """Games of all kinds, with rulings; some are broken off."""
    return [
        recorded_game(
            GAMES[number % len(GAMES)],
            seed + number,
            game_id=f"game-{seed}-{number}",
            tournament=("", "Riga", "Zoë's cup")[number % 3],
            event_count_max=length,
            ruling_rate=ruling_rate,
        )
        for number in range(count)
    ]


def refused(entry: Entry) -> Refusal:
    """Somebody asks again for what has happened already."""
    event = replace(entry.event, previous_hash=b"", hash=b"")
    told = ("cardPlayed", "NOT_YOUR_TURN", "C-3", content_of(event))
    return Refusal(event.game_id, event.sequence, MADE_AT + 1, "table-1", *told)


def log_of(games: Sequence[Sequence[Entry]], store: MemoryStore | None = None) -> MemoryStore:
    """A log of these games, one after the other."""
    store = store or MemoryStore()
    for entries in games:
        store.append(batches_of(list(entries)))
    return store


def more(store: MemoryStore, entries: list[Entry], bodies: Sequence[Body]) -> None:
    """What else happens in a game."""
    for body in bodies:
        last = entries[-1].event
        event = replace(last, sequence=last.sequence + 1, body=body, event_id=f"more-{last.sequence}")
        event, record = chained(event, last.hash)
        entries.append(Entry(record, event))
        store.append([batch_of(entries[-1:], endings_of(entries))])


def append_shuffled(store: LogStore, games: Sequence[Sequence[Entry]], random: Random) -> Iterator[None]:
    """Append these games in a random order, a few events each; there is a pause after every commit."""
    waiting = [batches_of(list(entries), random.randrange(1, 30)) for entries in games]
    while any(waiting):
        some = [batches for batches in waiting if batches and random.random() < 0.5]
        again = [refused(random.choice(random.choice(games)))] if random.random() < 0.3 else []
        store.append([batches.pop(0) for batches in some], again)
        yield


def closing(entries: Sequence[Entry]) -> GameClosed:
    """The arbiter ends a game; whoever sits at seat 0 has won, with their partner."""
    fold = fold_of(entries)
    return GameClosed("Enough.", tuple(range(0, len(fold.started.players), len(fold.state.scores))))


# What must be in an export.


def projections(store: LogStore, position: int) -> list[GameProjection]:
    """All games of a log as they stand at a position."""
    games: dict[str, list[Any]] = {}
    for stored in store.read_all():
        if stored.position <= position:
            games.setdefault(stored.game_id, []).append((stored.position, decode(stored.record)[0]))
    return [project(records) for records in games.values()]


def expected(store: LogStore, *, has_running: bool = False) -> dict[str, list[Row]]:
    """The rows of every table, in any order."""
    position = store.position()
    games = projections(store, position)
    kept = [game for game in games if game.is_over or has_running]
    tables: dict[str, pa.Table] = dict(arrow_tables(kept))
    running = {game.game_id for game in games if not game.is_over}
    told = [
        refusal_row(number, refused)
        for number, refused in enumerate(store.refusals(), 1)
        if refused.game_id not in running or has_running
    ]
    tables["refusals"] = arrow_table(_table("refusals"), told)
    ratings = Ratings()
    results = [result for game in kept if (result := result_of(game))]
    rows = [row for result in sorted(results, key=lambda each: each.ended_position) for row in ratings.rate(result)]
    tables["rating_changes"] = arrow_table(_table("rating_changes"), rows)
    found = {name: table.to_pylist() for name, table in tables.items()}
    found["left_out"] = [
        {"game_number": game.game_number, "game_id": game.game_id, "reason": RUNNING}
        for game in games
        if not game.is_over and not has_running
    ]
    found["events"] = list(_events(store, {game.game_id: game for game in kept}))
    return found


def _events(store: LogStore, games: dict[str, GameProjection]) -> Iterator[Row]:
    for stored in store.read_all():
        if game := games.get(stored.game_id):
            yield {
                "position": stored.position,
                "game_number": game.game_number,
                "game_id": stored.game_id,
                "sequence": stored.sequence,
                "record": stored.record,
                "ruleset": game.ruleset,
                "month": game.month,
            }


def found_in(folder: Path) -> dict[str, list[Row]]:
    """The rows of every table of an export, as DuckDB reads all that is there."""
    with duckdb.connect() as connection:
        return {
            table.name: connection.sql(
                f"SELECT {', '.join(column.name for column in columns(table))} FROM"
                f" read_parquet('{folder}/{table.name}/**/*.parquet', hive_partitioning = true)"
            )
            .to_arrow_table()
            .cast(schema(table))
            .to_pylist()
            for table in EXPORTED
        }


def assert_same(folder: Path, rows: dict[str, list[Row]]) -> None:
    """An export has these rows, each once; of events those columns that are given."""
    found = found_in(folder)
    for name, wanted in rows.items():
        kept = [{key: row[key] for key in wanted[0]} for row in found[name]] if wanted else found[name]
        assert sorted(map(repr, kept)) == sorted(map(repr, wanted)), name


def _table(name: str) -> Any:
    return next(table for table in TABLES if table.name == name)
