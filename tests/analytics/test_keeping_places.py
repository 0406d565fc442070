"""Of which log the tables are, who keeps them, and what makes them be made anew."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import msgspec
import pytest
from msgspec.structs import replace

from heptalog.analytics.keeping import Follower, folder_of
from heptalog.analytics.keeping.generation import Generation
from heptalog.analytics.keeping.manifest import FORM, boot_id, written
from heptalog.analytics.keeping.place import MANIFEST, begin, clear, current, keep, read
from heptalog.analytics.keeping.reading import kept_now
from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.registry import GAMES
from heptalog.service.store.memory import MemoryStore
from tests.analytics.kept import (
    BOOT,
    LOG,
    behind,
    files_in,
    following,
    generation_of,
    log_of,
    moment,
    rows_now,
    rows_of,
    rows_of_log,
)
from tests.support.recording import batches_of, recorded_game


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the tables of a log, that nobody keeps."""
    folder = tmp_path / "log.duckdb.tables"
    following(folder, log_of(*LOG)).close()
    return folder


def test_the_tables_lie_beside_their_database() -> None:
    assert folder_of(Path("/srv/season.duckdb")) == Path("/srv/season.duckdb.tables")


def test_tables_of_the_same_log_are_gone_on_with(folder: Path) -> None:
    store = log_of(*LOG)
    before = files_in(folder)
    assert behind(folder, store) == 0
    store.append(batches_of(recorded_game(GAMES[0], 2, event_count_max=10)))
    assert behind(folder, store) == 10
    follower = Follower(folder, store)
    assert follower.position == store.position() - 10
    assert before <= files_in(folder)
    follower.follow()
    assert rows_now(follower) == rows_of_log(store)


@pytest.mark.parametrize(
    "log",
    [
        log_of(*LOG[1:], LOG[0]),
        log_of(*LOG[:2]),
        log_of(*LOG[:2], recorded_game(GAMES[2], 2, event_count_max=60)),
        MemoryStore(),
    ],
    ids=["another", "shorter", "another from some event on", "empty"],
)
def test_tables_of_another_log_are_made_anew(folder: Path, log: MemoryStore) -> None:
    assert behind(folder, log) == log.position()
    with kept_now(folder, log) as snapshot:
        assert snapshot is None
    follower = Follower(folder, log)
    assert follower.position == 0
    while follower.follow():
        pass
    assert rows_now(follower) == rows_of_log(log)


def _older_form(manifest: bytes) -> bytes:
    return manifest.replace(b'"form":%d' % FORM, b'"form":%d' % (FORM - 1))


@pytest.mark.parametrize(
    "change",
    [
        _older_form,
        lambda _: b"{",
        lambda _: b"",
        lambda old: old.replace(b"heptalog", b"another"),
        lambda old: old[:-9],
    ],
    ids=["older form", "no JSON", "nothing", "another format", "cut"],
)
def test_tables_with_another_manifest_are_made_anew(folder: Path, change: Callable[[bytes], bytes]) -> None:
    path = generation_of(folder) / MANIFEST
    old = path.read_bytes()
    path.write_bytes(change(old))
    assert path.read_bytes() != old
    _is_made_anew(folder)


def test_tables_with_a_file_missing_are_made_anew(folder: Path) -> None:
    min(files_in(folder)).unlink()
    _is_made_anew(folder)


def test_tables_with_a_file_cut_are_made_anew(folder: Path) -> None:
    path = min(files_in(folder))
    path.write_bytes(path.read_bytes()[:-1])
    _is_made_anew(folder)


def test_after_a_start_of_the_machine_every_byte_is_looked_at(folder: Path) -> None:
    """Nobody waits for the files to be on the disk: what a failing machine left behind may have the right size only."""
    path = min(files_in(folder))
    path.write_bytes(bytes(path.stat().st_size))
    follower = Follower(folder, log_of(*LOG), boot=BOOT)
    assert follower.position, "without a start nothing is looked for"
    follower.close()
    _is_made_anew(folder, boot="the next one")


def test_the_boot_of_this_machine_can_be_told() -> None:
    assert boot_id() == boot_id()
    assert len(boot_id()) in (0, 36)


def test_what_is_damaged_under_a_follower_is_found_where_it_is_asked_for(folder: Path) -> None:
    store = log_of(*LOG)
    follower = Follower(folder, store)
    assert follower.verify()
    path = min(files_in(folder))
    path.write_bytes(bytes(path.stat().st_size))
    assert not follower.verify()
    with pytest.raises(Unavailable) as failure:
        follower.follow()
    assert failure.value.code is Code.TABLES_BEHIND
    follower.close()
    follower = following(folder, store)
    assert follower.verify()
    assert rows_now(follower) == rows_of_log(store)


def test_what_is_damaged_where_it_is_merged_is_made_anew(folder: Path) -> None:
    store = log_of(*LOG)
    follower = Follower(folder, store)
    for path in files_in(folder):
        path.write_bytes(b"PAR1")
    _, *games = [recorded_game(rules, seed, event_count_max=9) for rules in GAMES for seed in (5, 6, 7)]

    def follow() -> None:
        for game in games:
            store.append(batches_of(game))
            follower.follow()
            follower.release(follower.snapshot())
            while follower.rest():
                pass

    with pytest.raises(Unavailable) as failure:
        follow()
    assert failure.value.code is Code.TABLES_BEHIND
    follower.close()
    follower = following(folder, store)
    assert rows_now(follower) == rows_of_log(store)


def test_a_folder_that_is_deleted_under_a_follower_is_made_anew(folder: Path) -> None:
    store = log_of(*LOG)
    follower = Follower(folder, store)
    shutil.rmtree(folder)
    while follower.follow():
        pass
    assert rows_now(follower) == rows_of_log(store)
    with pytest.raises(Unavailable):
        keep(folder)


def test_one_keeps_the_folder(folder: Path) -> None:
    follower = Follower(folder, log_of(*LOG))
    with pytest.raises(Unavailable) as failure:
        Follower(folder, log_of(*LOG))
    assert failure.value.code is Code.DATABASE_LOCKED
    follower.close()
    follower.close()
    Follower(folder, log_of(*LOG)).close()


def test_a_follower_that_could_not_be_opened_holds_nothing(folder: Path) -> None:
    class Broken(MemoryStore):
        def position(self) -> int:
            raise Unavailable(Code.SERVER_UNREACHABLE)

    with pytest.raises(Unavailable):
        Follower(folder, Broken())
    keep(folder).close()
    with read(generation_of(folder)).alone() as is_alone:
        assert is_alone


def test_a_follower_whose_source_fails_does_nothing_more_until_it_is_opened_again(folder: Path) -> None:
    class Failing(MemoryStore):
        is_failing = False

        def read_games(self, game_ids):  # type: ignore[no-untyped-def]
            if self.is_failing:
                raise Unavailable(Code.SERVER_UNREACHABLE)
            return super().read_games(game_ids)

    store = Failing()
    for game in LOG:
        store.append(batches_of(game))
    follower = Follower(folder, store)
    _, last = batches_of(recorded_game(GAMES[0], 1, event_count_max=61), 60)
    store.append([last])
    store.is_failing = True
    for code in (Code.SERVER_UNREACHABLE, Code.TABLES_BEHIND):
        with pytest.raises(Unavailable) as failure:
            follower.follow()
        assert failure.value.code is code
    follower.close()
    store.is_failing = False
    assert rows_now(following(folder, store)) == rows_of_log(store)


def test_a_follower_that_cannot_write_at_its_end_lets_go_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise duckdb.OutOfMemoryException("no memory")

    store = log_of(*LOG)
    follower = Follower(folder, store)
    monkeypatch.setattr(Generation, "write", fails)
    with pytest.raises(duckdb.OutOfMemoryException):
        follower.close()
    monkeypatch.undo()
    keep(folder).close()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unavailable) as failure:
        keep(tmp_path / "file" / "tables")
    assert failure.value.code is Code.SOURCE_UNREADABLE


@pytest.mark.parametrize("name", ["month=2026-11", "ruleset=seven_up", "season*", "seas?n"])
def test_a_folder_whose_files_would_be_read_as_others_is_not_used(tmp_path: Path, name: str) -> None:
    with pytest.raises(Unavailable) as failure:
        keep(tmp_path / name / "log.duckdb.tables")
    assert failure.value.code is Code.SOURCE_UNREADABLE
    assert not (tmp_path / name).exists()
    store = log_of(*LOG)
    following(tmp_path / "plain" / "log.duckdb.tables", store).close()
    (tmp_path / "plain").rename(tmp_path / name)
    with kept_now(tmp_path / name / "log.duckdb.tables", store) as snapshot:
        assert snapshot is None


@pytest.mark.parametrize("name", ["a season's games", "season [1]", "x{1,2}", "ä→ö", "year=2026", "100%"])
def test_a_folder_may_have_any_other_name(tmp_path: Path, name: str) -> None:
    store = log_of(*LOG)
    follower = following(tmp_path / name / "log.duckdb.tables", store)
    assert rows_now(follower) == rows_of_log(store)


def test_the_generation_that_counts_is_the_last_that_is_whole(tmp_path: Path) -> None:
    assert current(tmp_path / "missing") is None
    first, second, third = begin(tmp_path), begin(tmp_path), begin(tmp_path)
    assert current(tmp_path) is None
    for generation in (first, second):
        (generation / MANIFEST).write_bytes(b"")
    assert current(tmp_path) == second
    (tmp_path / "notes").mkdir()
    (tmp_path / "lock").touch()
    hold = read(third)
    clear(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [second.name, third.name, "lock", "notes"]
    hold.close()
    clear(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [second.name, "lock", "notes"]


def test_generations_that_are_begun_at_the_same_time_are_not_one(tmp_path: Path) -> None:
    begun: list[Path] = []
    threads = [threading.Thread(target=lambda: begun.extend(begin(tmp_path) for _ in range(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(begun)) == 80


def test_who_reads_the_tables_of_a_log_that_has_nothing_new_waits_for_nobody(folder: Path) -> None:
    store = log_of(*LOG)
    follower = Follower(folder, store)
    with kept_now(folder, store) as lying:
        assert lying is not None
        assert rows_of(lying.snapshot) == rows_of_log(store)
        follower.close()
        shutil.copytree(folder, folder.with_name("copy"))
        store.append(batches_of(recorded_game(GAMES[0], 3, event_count_max=30)))
        follower = following(folder, store)
        with moment(follower):
            pass
        follower.rest()
        assert rows_of(lying.snapshot) == rows_of_log(log_of(*LOG)), "and nothing is taken away from who reads"
    with kept_now(folder.with_name("copy"), store) as none:
        assert none is None, "they have not all"


def test_leftovers_are_cleared_away(folder: Path) -> None:
    generation = generation_of(folder)
    number = written(generation)
    assert number is not None
    place = min(files_in(folder)).parent
    (place / "900000.parquet").write_bytes(b"")
    (place / "900001.parquet.part").write_bytes(b"")
    (place / "notes.parquet").write_bytes(b"")
    begin(folder)
    store = log_of(*LOG)
    follower = Follower(folder, store)
    assert rows_now(follower) == rows_of_log(store)
    assert not any(path.name.startswith(("9000", "notes")) for path in files_in(folder))
    assert current(folder) == generation
    manifest = written(generation)
    assert manifest is not None
    assert manifest.number == 900_002, "a number is never given twice: somebody may still read what had it"


def test_a_program_that_can_read_more_makes_the_tables_anew(folder: Path) -> None:
    path = generation_of(folder) / MANIFEST
    manifest = written(path.parent)
    assert manifest is not None
    name = LOG[0][0].event.game_id
    path.write_bytes(msgspec.json.encode(replace(manifest, unread=(name,))))
    _is_made_anew(folder)


def _is_made_anew(folder: Path, *, boot: str = BOOT) -> None:
    store = log_of(*LOG)
    follower = Follower(folder, store, boot=boot)
    assert follower.position == 0
    while follower.follow():
        pass
    assert rows_now(follower) == rows_of_log(store)
    follower.close()
    assert len([path for path in folder.iterdir() if path.is_dir()]) == 1
