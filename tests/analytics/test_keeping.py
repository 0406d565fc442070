"""Whatever happens on the way: the tables that are kept are those that follow from the log, to the row."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from heptalog.analytics.keeping import Follower, build, building, check
from heptalog.analytics.keeping.place import current
from heptalog.analytics.keeping.reading import kept_now
from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.registry import GAMES
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from tests.analytics.kept import (
    BOOT,
    Growing,
    files_in,
    following,
    log_of,
    moment,
    rows_now,
    rows_of,
    rows_of_log,
    same,
    silently,
    smaller,
)
from tests.support.recording import batches_of, recorded_game


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the tables are kept."""
    return tmp_path / "log.duckdb.tables"


@pytest.mark.parametrize("seed", range(3))
def test_followed_in_any_steps_with_restarts_and_merges_is_what_follows_from_the_log(
    folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller(monkeypatch)
    store, growing, random = MemoryStore(), Growing(seed), Random(seed)
    follower = Follower(folder, store, events_held_max=600, boot=BOOT)
    read: list[tuple[Snapshot, object]] = []
    merges = 0
    while not growing.is_over:
        growing.step(store)
        what = random.random()
        if what < 0.3:
            follower.follow(random.choice((1, 5, 50, 5_000)))
        elif what < 0.38:
            snapshot = follower.snapshot()
            read.append((snapshot, rows_of(snapshot, "games")))
        elif what < 0.43 and read:
            snapshot, games = read.pop(random.randrange(len(read)))
            assert rows_of(snapshot, "games") == games, "what somebody reads never changes"
            follower.release(snapshot)
        elif what < 0.5:
            merges += follower.rest()
        elif what < 0.505:
            read.clear()
            if random.random() < 0.5:
                follower.close()
            else:
                _killed(follower)
            follower = Follower(folder, store, events_held_max=600, boot=BOOT)
    while follower.follow():
        pass
    assert merges
    rows = rows_of_log(store)
    assert rows_now(follower) == rows
    while follower.rest():
        pass
    assert rows_now(follower) == rows
    follower.close()
    assert check(folder, lambda: same(store), tell=silently).position == store.position()


@pytest.mark.parametrize("seed", range(3))
def test_built_is_what_follows_from_the_log(folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    smaller(monkeypatch)
    monkeypatch.setattr(building, "_SPAN_MIN", 150)
    store = _grown(seed)
    told: list[int] = []
    counted = build(folder, lambda: same(store), processes=1, tell=lambda done, total: told.append(done))
    follower = Follower(folder, store)
    assert not follower.follow(), "it has all that there is"
    rows = rows_now(follower)
    assert rows == rows_of_log(store)
    assert counted.rows == {table: len(some) for table, some in rows.items()}
    assert told == sorted(told)
    assert told[-1] == store.position()


def test_built_in_many_processes_is_what_is_built_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_SPAN_MIN", 200)
    store = DuckStore(tmp_path / "log.duckdb")
    for rules in GAMES:
        for seed in range(2):
            store.append(batches_of(recorded_game(rules, seed, ruling_rate=0.02)))
    store.close()
    opened = _Opened(tmp_path / "log.duckdb")
    one = build(tmp_path / "one", opened, processes=1, tell=silently)
    two = build(tmp_path / "two", opened, processes=2, tell=silently)
    assert one == two
    assert check(tmp_path / "two", opened, processes=2, tell=silently) == one
    with opened() as source, kept_now(tmp_path / "one", source) as first, kept_now(tmp_path / "two", source) as second:
        assert first is not None
        assert second is not None
        assert rows_of(first.snapshot) == rows_of(second.snapshot) == rows_of_log(source)


def test_a_game_that_goes_on_after_its_end_is_told_as_it_is_now(folder: Path) -> None:
    store = MemoryStore()
    games = [recorded_game(GAMES[0], seed, ruling_rate=0.05, event_count_max=600) for seed in range(8)]
    rest = []
    for game in games:
        # All but the last batch: what ended may be reopened by it, or ended anew.
        *most, last = batches_of(game, 1)
        for batch in most:
            store.append([batch])
        rest.append(last)
    follower = following(folder, store)
    assert rows_now(follower) == rows_of_log(store)
    for batch in rest:
        store.append([batch])
        follower.follow()
        assert rows_now(follower) == rows_of_log(store)


def test_a_moment_of_nothing_new_has_the_same_files(folder: Path) -> None:
    store = log_of(recorded_game(GAMES[0], 1))
    follower = following(folder, store)
    with moment(follower) as first, moment(follower) as second:
        assert first == second
    before = files_in(folder)
    assert not follower.follow()
    assert not follower.rest()
    with moment(follower) as third:
        assert third == first
    assert files_in(folder) == before


def test_files_that_nobody_reads_go_and_others_stay(folder: Path) -> None:
    store = MemoryStore()
    first, *others = batches_of(recorded_game(GAMES[1], 1), 4)
    store.append([first])
    follower = following(folder, store)
    snapshot = follower.snapshot()
    rows = rows_of(snapshot)
    for batch in others:
        store.append([batch])
        follower.follow()
        follower.release(follower.snapshot())
        while follower.rest():
            pass
    assert rows_of(snapshot) == rows
    kept = {path for parts in snapshot.tables.values() for part in parts for path in [Path(part.path)]}
    follower.release(snapshot)
    assert not follower.rest()
    assert not kept & files_in(folder)
    with moment(follower) as last:
        named = {Path(part.path) for parts in last.tables.values() for part in parts}
    assert named == files_in(folder), "nothing else is left behind"


def test_an_empty_log_has_empty_tables(folder: Path) -> None:
    store = MemoryStore()
    follower = following(folder, store)
    assert rows_now(follower) == rows_of_log(store)
    follower.close()
    assert build(folder, lambda: same(store), processes=2, tell=silently).position == 0
    assert not any(check(folder, lambda: same(store), tell=silently).rows.values())


@pytest.mark.parametrize("step", range(1, 120, 7))
def test_a_write_that_fails_anywhere_leaves_what_was_there(
    folder: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller(monkeypatch)
    store, growing = MemoryStore(), Growing(9, games_each=2)
    failing = _Failing(monkeypatch, after=step)
    follower = None
    try:
        follower = Follower(folder, store, events_held_max=300, boot=BOOT)
        while not growing.is_over:
            growing.step(store)
            follower.follow(20)
            if growing.random.random() < 0.3:
                follower.release(follower.snapshot())
                follower.rest()
    except OSError:
        pass
    assert failing.has_failed
    if follower is not None:
        _killed(follower)
    monkeypatch.undo()
    follower = following(folder, store)
    assert rows_now(follower) == rows_of_log(store)
    follower.rest()
    with moment(follower) as last:
        assert {Path(part.path) for parts in last.tables.values() for part in parts} == files_in(folder)


def test_what_nobody_asks_for_is_written_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heptalog.analytics.keeping.follower._UNASKED_MAX", 100)
    store = log_of(recorded_game(GAMES[0], 1), recorded_game(GAMES[2], 1))
    follower = Follower(folder, store, boot=BOOT)
    while follower.follow(30):
        pass
    _killed(follower)
    again = Follower(folder, store, boot=BOOT)
    assert store.position() - 130 <= again.position <= store.position(), "more was forgotten than had to be"
    again.close()
    assert rows_now(following(folder, store)) == rows_of_log(store)


@pytest.mark.parametrize("seed", range(3))
def test_a_process_that_is_killed_anywhere_leaves_what_was_there(tmp_path: Path, seed: int) -> None:
    database, random = tmp_path / "log.duckdb", Random(seed)
    store = DuckStore(database)
    for rules in GAMES:
        for number in range(3):
            store.append(batches_of(recorded_game(rules, number, ruling_rate=0.02, event_count_max=400)))
    store.close()
    folder = tmp_path / "tables"
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.analytics.victim", database, folder], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        # So many steps, each said when it is done; then in the middle of one.
        for _ in range(random.randrange(1, 60)):
            process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.close()
    opened = _Opened(database)
    with opened() as source:
        follower = following(folder, source)
        assert rows_now(follower) == rows_of_log(source)
        follower.close()
    check(folder, opened, tell=silently)


def test_the_folder_has_one_generation(folder: Path) -> None:
    store = log_of(recorded_game(GAMES[2], 1))
    follower = following(folder, store)
    old = current(folder)
    with moment(follower) as snapshot:
        rows = rows_of(snapshot)
        build(folder, lambda: same(store), processes=1, tell=silently)
        new = current(folder)
        assert new != old
        assert not follower.follow()
        assert rows_of(snapshot) == rows, "who reads the old one goes on with it"
        assert rows_now(follower) == rows
    follower.rest()
    assert [path for path in folder.iterdir() if path.is_dir()] == [new]


def _killed(follower: Follower) -> None:
    """What is left of a follower that ends at once: nothing but what it has written."""
    follower._lock.close()
    follower._generation.hold.close()


def _grown(seed: int) -> MemoryStore:
    store, growing = MemoryStore(), Growing(seed)
    while not growing.is_over:
        growing.step(store)
    return store


class _Opened:
    """Opens a database for reading, in any process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def __call__(self) -> Iterator[DuckStore]:
        store = DuckStore(self.path, is_read_only=True)
        yield store
        store.close()


class _Failing:
    """Has the disk fill up after so many files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, after: int) -> None:
        self._left = after
        self.has_failed = False
        self._replace = Path.replace
        monkeypatch.setattr(Path, "replace", lambda path, target: self._replaced(path, target))

    def _replaced(self, path: Path, target: Path) -> Path:
        self._left -= 1
        if self._left < 0:
            self.has_failed = True
            raise OSError(28, "No space left on device", str(path))
        return self._replace(path, target)
