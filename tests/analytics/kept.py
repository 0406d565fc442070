"""For the tests of kept tables: logs that grow as they are read, and the rows that follow from them in plain words."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import duckdb

from heptalog.analytics.keeping import due, games, merging, opened, series
from heptalog.analytics.keeping.follower import Follower
from heptalog.analytics.keeping.manifest import boot_id
from heptalog.analytics.keeping.place import current
from heptalog.analytics.projecting.arrow import arrow_table, arrow_tables, refusal_row
from heptalog.analytics.projecting.game import project
from heptalog.analytics.rating import Ratings, result_of
from heptalog.analytics.snapshots import KEPT, Snapshot, attach
from heptalog.analytics.tables import TABLES
from heptalog.replay.codec import content_of, decode
from heptalog.replay.registry import GAMES
from heptalog.service.store import Batch, Entry, LogStore, Refusal
from heptalog.service.store.memory import MemoryStore
from tests.support.recording import STARTED_AT, batches_of, recorded_game

Rows = dict[str, list[tuple[Any, ...]]]

BOOT: Final = "this one"
# The beginnings of a game of each kind.
LOG: Final = [recorded_game(rules, 1, event_count_max=60) for rules in GAMES]


def behind(folder: Path, source: LogStore) -> int:
    """How many events are not in the tables yet; all of them where they are to be made anew."""
    return due(opened(folder, source, boot=boot_id()), source)


class Growing:
    """A log that is given to a store bit by bit, many games at once; the same for the same seed."""

    def __init__(self, seed: int, *, games_each: int = 3, at_once: int = 5, ruling_rate: float = 0.03) -> None:
        self.random = Random(f"growing {seed}")
        self.games = [
            recorded_game(
                rules,
                100 * seed + number,
                event_count_max=self.random.choice((30, 200, 2_000)),
                ruling_rate=ruling_rate,
                tournament=self.random.choice(("", "Seven Days")),
            )
            for rules in GAMES
            for number in range(games_each)
        ]
        self._left = [iter(batches_of(game, self.random.choice((1, 3, 9)))) for game in self.games]
        self.random.shuffle(self._left)
        self._at_once = at_once
        self.is_over = False

    def step(self, store: LogStore) -> None:
        """Record a little more, or refuse something."""
        while self._left:
            place = self.random.randrange(min(self._at_once, len(self._left)))
            batch = next(self._left[place], None)
            if batch is None:
                del self._left[place]
                continue
            store.append([batch], [refused(batch)] if self.random.random() < 0.02 else [])
            return
        self.is_over = True


def refused(batch: Batch) -> Refusal:
    """A refusal of the first event of a batch, as if it had been sent in another game."""
    event = batch.entries[0].event
    return Refusal(
        batch.game_id, event.sequence + 1, STARTED_AT, "table-1", "cardPlayed", "NOT_HELD", "SU-R14", content_of(event)
    )


def log_of(*games: list[Entry]) -> MemoryStore:
    """A log of whole games, one after the other."""
    store = MemoryStore()
    for game in games:
        store.append(batches_of(game))
    return store


def following(folder: Path, store: LogStore, *, events_held_max: int = 100_000, boot: str = BOOT) -> Follower:
    """A follower that has taken all that there is."""
    follower = Follower(folder, store, events_held_max=events_held_max, boot=boot)
    while follower.follow():
        pass
    return follower


@contextmanager
def moment(follower: Follower) -> Iterator[Snapshot]:
    """A moment that is read for a while."""
    snapshot = follower.snapshot()
    yield snapshot
    follower.release(snapshot)


def rows_now(follower: Follower) -> Rows:
    """All rows of the moment that was reached."""
    with moment(follower) as snapshot:
        return rows_of(snapshot)


def rows_of(snapshot: Snapshot, *tables: str) -> Rows:
    """The rows of these tables of a moment, or of all, in one order."""
    with duckdb.connect() as connection:
        attach(connection, snapshot)
        names = tables or [table.name for table in TABLES]
        return {name: _ordered(connection, f"{KEPT}.{name}") for name in names}


def rows_of_log(store: LogStore) -> Rows:
    """The rows that follow from a log: every game folded whole, and everything else made of that."""
    games = []
    for game_id, _ in store.heads():
        records = store.read_game(game_id)
        games.append(project((stored.position, decode(stored.record)[0]) for stored in records))
    tables = dict(arrow_tables(games))
    ratings = Ratings()
    results = [result for game in games if (result := result_of(game)) is not None]
    results.sort(key=lambda result: result.ended_position)
    series_rows: Mapping[str, Any] = {
        "rating_changes": [row for result in results for row in ratings.rate(result)],
        "refusals": [refusal_row(number, refusal) for number, refusal in enumerate(store.refusals(), start=1)],
    }
    for table in TABLES:
        if not table.is_of_games:
            tables[table.name] = arrow_table(table, series_rows[table.name])
    with duckdb.connect() as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        return {table.name: _ordered(connection, table.name) for table in TABLES}


def smaller(monkeypatch: Any) -> None:
    """Have segments merged, split and written anew at sizes that a test has."""
    monkeypatch.setattr(merging, "_SIZES", (60, 200, 1_000, 3_000))
    monkeypatch.setattr(merging, "FULL_ROWS", 3_000)
    monkeypatch.setattr(merging, "_ALIKE_MAX", 2)
    monkeypatch.setattr(merging, "_SPARE_MAX", 6)
    monkeypatch.setattr(merging, "_PARTLY_READ_MAX", 3)
    monkeypatch.setattr(series, "_FULL_ROWS", 40)
    monkeypatch.setattr(games, "_READ_AT_ONCE", 2)
    monkeypatch.setattr(games, "_READ_MAX", 3)


def files_in(folder: Path) -> set[Path]:
    """Every Parquet file below a folder, parts of them included."""
    return set(folder.rglob("*.parquet*"))


@contextmanager
def same(store: MemoryStore) -> Iterator[MemoryStore]:
    """Opens a log that is open."""
    yield store


def silently(done: int, total: int) -> None:
    """Hears how far it is, and says nothing."""
    del done, total


def generation_of(folder: Path) -> Path:
    """The generation that counts."""
    generation = current(folder)
    assert generation is not None
    return generation


def _ordered(connection: duckdb.DuckDBPyConnection, table: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"FROM {table} ORDER BY ALL").fetchall()
