"""Whether the tables that lie there are believed: they are of this log as a whole, and their bytes are theirs."""

from contextlib import suppress
from pathlib import Path

import pytest

from heptalog.analytics.keeping import Follower, build, check
from heptalog.analytics.keeping.manifest import written
from heptalog.analytics.keeping.opening import hash_at
from heptalog.analytics.keeping.place import begin, current
from heptalog.analytics.keeping.segments import Damaged
from heptalog.analytics.keeping.segments import read as read_rows
from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.registry import GAMES
from heptalog.service.store.memory import MemoryStore
from tests.analytics.kept import (
    LOG,
    behind,
    files_in,
    following,
    generation_of,
    log_of,
    refused,
    rows_now,
    rows_of_log,
    same,
    silently,
)
from tests.support.recording import batches_of, recorded_game


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the tables of a log, that nobody keeps."""
    folder = tmp_path / "log.duckdb.tables"
    following(folder, log_of(*LOG)).close()
    return folder


def test_a_log_that_differs_in_a_game_in_the_middle_is_another(folder: Path) -> None:
    other = log_of(LOG[0], recorded_game(GAMES[1], 2, event_count_max=60), LOG[2])
    manifest = written(generation_of(folder))
    assert manifest is not None
    assert manifest.position == other.position()
    ends = [[hash_at(store, place) for place in (1, other.position())] for store in (other, log_of(*LOG))]
    assert ends[0] == ends[1], "the first and the last event are the same"
    assert behind(folder, other) == other.position()
    assert rows_now(following(folder, other)) == rows_of_log(other)


def test_a_log_in_which_something_else_was_refused_is_another(tmp_path: Path) -> None:
    stores = []
    for place in range(2):
        store = log_of(*LOG)
        store.append([], [refused(batch) for batch in batches_of(LOG[place], 20)[: 3 - place]])
        stores.append(store)
    first, restored = stores
    following(tmp_path, first).close()
    assert behind(tmp_path, first) == 0
    assert behind(tmp_path, restored) == restored.position(), "it has fewer"
    restored.append([], [refused(batches_of(LOG[2], 20)[0])])
    assert restored.refusal_count() == first.refusal_count()
    assert behind(tmp_path, restored) == restored.position(), "it has as many, and the last is another"
    restored.append([], [refused(batches_of(LOG[2], 20)[0])])
    follower = following(tmp_path, restored)
    assert rows_now(follower) == rows_of_log(restored)


@pytest.mark.parametrize("step", [1, 7, 5_000])
def test_what_log_it_is_does_not_depend_on_how_it_was_read(tmp_path: Path, step: int) -> None:
    store = log_of(*LOG)
    follower = Follower(tmp_path, store)
    while follower.follow(step):
        pass
    follower.close()
    manifest = written(generation_of(tmp_path))
    assert manifest is not None
    built = tmp_path / "built"
    build(built, lambda: same(store), processes=1, tell=silently)
    again = written(generation_of(built))
    assert again is not None
    assert (manifest.tree, manifest.refused_last) == (again.tree, again.refused_last)
    assert len(manifest.tree) == store.position().bit_count()


def test_tables_of_a_log_that_cannot_say_what_it_is_are_made_anew(tmp_path: Path) -> None:
    class Lacking(MemoryStore):
        def tile(self, level: int, index: int, width: int) -> list[bytes]:
            raise Corrupt(Code.POSITION_DAMAGED, rule="evidence", position=1)

    store = Lacking()
    for game in LOG:
        store.append(batches_of(game))
    build(tmp_path, lambda: same(store), processes=1, tell=silently)
    assert behind(tmp_path, store) == store.position()
    follower = following(tmp_path, store)
    assert rows_now(follower) == rows_of_log(log_of(*LOG))
    follower.close()
    with pytest.raises(Corrupt) as failure:
        check(tmp_path, lambda: same(store), tell=silently)
    assert failure.value.code is Code.POSITION_DAMAGED


def test_any_number_of_generations_is_counted_on(tmp_path: Path) -> None:
    for name in ("999999", "9999999", "00000000", "٣", "12"):
        (tmp_path / name).mkdir()
    made = [begin(tmp_path).name for _ in range(3)]
    assert made == ["10000000", "10000001", "10000002"]
    assert rows_now(following(tmp_path, log_of(*LOG))) == rows_of_log(log_of(*LOG))
    assert generation_of(tmp_path).name == "10000003"


@pytest.mark.parametrize("is_begun", [True, False])
def test_where_there_is_no_room_what_was_begun_is_taken_away(folder: Path, tmp_path: Path, is_begun: bool) -> None:
    room = [True]

    def check_room() -> None:
        if not room[0]:
            raise Unavailable(Code.WRITE_FAILED)

    if is_begun:
        folder = tmp_path / "begun"
    before = files_in(folder)
    store = log_of(*LOG, recorded_game(GAMES[0], 2, event_count_max=60))
    follower = Follower(folder, store, check_room=check_room)
    follower.follow()
    follower.release(follower.snapshot())
    assert files_in(folder) > before
    room[0] = False
    with pytest.raises(Unavailable):
        follower.rest()
    follower.abandon()
    follower.close()
    assert files_in(folder) == before
    assert (current(folder) is None) == is_begun
    assert rows_now(following(folder, store)) == rows_of_log(store)


def test_a_page_that_is_not_what_was_written_is_never_merged(folder: Path) -> None:
    path = min(path for path in files_in(folder) if "/turns/" in str(path))
    whole = path.read_bytes()
    read_rows(path)
    found = 0
    for place in range(100, len(whole) // 2, 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with suppress(Damaged):
            read_rows(path)
            continue
        found += 1
    assert found > 10
