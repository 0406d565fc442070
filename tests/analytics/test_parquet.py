"""Exports as Parquet: what is in one, and that any number of them come to the same as one."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from msgspec.structs import replace

from heptalog.analytics.parquet import opened
from heptalog.analytics.parquet.manifest import FORM, encoded, read
from heptalog.analytics.parquet.records import EXPORTED
from heptalog.analytics.snapshots import attach
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable
from heptalog.replay.events import Body, GameClosed, MovesRetracted, NoteAdded
from heptalog.service.store.memory import MemoryStore
from tests.analytics.exporting import (
    append_shuffled,
    assert_same,
    closing,
    expected,
    exported,
    found_in,
    log_of,
    more,
    refused,
    some_games,
)

SMALL: Final[dict[str, Any]] = {"step_events": 150, "work_events": 60, "file_size": 4_000}


@pytest.mark.parametrize("seed", range(3))
def test_many_exports_come_to_the_same_as_one(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    store = MemoryStore()
    for _ in append_shuffled(store, some_games(6, seed=seed, length=90, ruling_rate=0.08), random):
        if random.random() < 0.2:
            has_running = random.random() < 0.3
            report = exported(store, tmp_path / "export", has_running=has_running, **SMALL)
            assert_same(tmp_path / "export", expected(store, has_running=has_running))
            assert report.position == store.position()
    exported(store, tmp_path / "export", **SMALL)
    exported(store, tmp_path / "at once")
    assert_same(tmp_path / "export", expected(store))
    assert_same(tmp_path / "at once", expected(store))


def test_an_empty_log_has_all_tables_without_rows(tmp_path: Path) -> None:
    report = exported(MemoryStore(), tmp_path)
    assert (report.games, report.events, report.position) == (0, 0, 0)
    assert found_in(tmp_path) == {table.name: [] for table in EXPORTED}
    store = log_of(some_games(3))
    exported(store, tmp_path)
    assert_same(tmp_path, expected(store))


def test_running_games_are_left_out_and_listed(tmp_path: Path) -> None:
    games = [*some_games(3), *some_games(3, seed=9, length=20, ruling_rate=0)]
    store = log_of(games)
    report = exported(store, tmp_path)
    assert report.running == len(found_in(tmp_path)["left_out"]) >= 3
    assert {row["game_id"] for row in found_in(tmp_path)["events"]}.isdisjoint(
        row["game_id"] for row in found_in(tmp_path)["left_out"]
    )
    assert exported(store, tmp_path, has_running=True).events == store.position()
    assert not found_in(tmp_path)["left_out"]
    assert exported(store, tmp_path).running == report.running
    assert_same(tmp_path, expected(store))


def test_what_is_new_is_added_and_what_is_there_stays(tmp_path: Path) -> None:
    store = log_of(some_games(6))
    exported(store, tmp_path)
    before = {file.path for file in read(tmp_path).files}
    assert exported(store, tmp_path).new_events == 0
    assert {file.path for file in read(tmp_path).files} == before
    log_of(some_games(1, seed=50), store)
    exported(store, tmp_path)
    # A game of Seven Rocks is new, so nothing of the others has been written again.
    gone = before - {file.path for file in read(tmp_path).files}
    assert all("ruleset=seven_rocks" in path or path.count("/") == 1 for path in gone)
    assert_same(tmp_path, expected(store))


@pytest.mark.parametrize(
    "after",
    [
        [NoteAdded("Seen by the arbiter.")],
        [MovesRetracted(5)],
        [MovesRetracted(5), GameClosed("Late.", (1, 3))],
        [MovesRetracted(5), NoteAdded("Well."), GameClosed("Late.")],
    ],
    ids=["a note", "a takeback", "another end", "no winner"],
)
def test_a_game_that_changed_after_its_end_is_written_again(tmp_path: Path, after: Sequence[Body]) -> None:
    games = some_games(6, ruling_rate=0, length=2_000)
    store = log_of(games)
    for entries in games:
        store.append([], [refused(entries[3])])
    exported(store, tmp_path)
    assert len(found_in(tmp_path)["refusals"]) == len(games)
    more(store, games[1], after)
    exported(store, tmp_path)
    assert_same(tmp_path, expected(store))
    more(store, games[1], [MovesRetracted(7)])
    exported(store, tmp_path)
    assert_same(tmp_path, expected(store))
    assert len(found_in(tmp_path)["refusals"]) == len(games) - 1


def test_refusals_wait_for_the_end_of_their_game(tmp_path: Path) -> None:
    running, over = some_games(1, length=20, ruling_rate=0), some_games(1, seed=1, ruling_rate=0, length=2_000)
    store = log_of([*running, *over])
    unknown = replace(refused(over[0][0]), game_id="never begun")
    store.append([], [refused(running[0][3]), refused(over[0][3]), unknown])

    def numbers() -> list[int]:
        return sorted(row["refusal_number"] for row in found_in(tmp_path)["refusals"])

    exported(store, tmp_path)
    assert numbers() == [2, 3]
    exported(store, tmp_path, has_running=True)
    assert numbers() == [1, 2, 3]
    exported(store, tmp_path)
    assert numbers() == [2, 3]
    more(store, running[0], [GameClosed("Rain.")])
    exported(store, tmp_path)
    assert numbers() == [1, 2, 3]


def test_daily_exports_of_a_year_do_not_make_many_files(tmp_path: Path) -> None:
    games = some_games(30, length=40, ruling_rate=0)
    store = MemoryStore()
    for entries in games:
        log_of([entries], store)
        more(store, entries, [closing(entries)])
        exported(store, tmp_path)
    manifest = read(tmp_path)
    counts = [
        sum((file.table, file.ruleset, file.month) == (table.name, ruleset, month) for file in manifest.files)
        for table in EXPORTED
        for ruleset, month in {(file.ruleset, file.month) for file in manifest.files}
    ]
    assert max(counts) <= 4
    assert_same(tmp_path, expected(store))


@pytest.mark.parametrize("form", ["FORM", "TABLES_FORM"])
def test_files_of_an_older_form_are_all_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    store = log_of(some_games(3))
    exported(store, tmp_path)
    before = {file.path for file in read(tmp_path).files}
    monkeypatch.setattr(f"heptalog.analytics.parquet.manifest.{form}", 7)
    exported(store, tmp_path)
    assert before.isdisjoint(file.path for file in read(tmp_path).files)
    assert_same(tmp_path, expected(store))


def test_a_game_that_cannot_be_read_is_told_and_stops_no_other(tmp_path: Path) -> None:
    store = log_of(some_games(4))
    broken = store._log[-1]  # nobody else can damage it
    store._games[broken.game_id].records[-1] = replace(broken, record=broken.record[:-1])
    report = exported(store, tmp_path)
    assert [(game.game_id, game.reason) for game in report.unread] == [(broken.game_id, Code.RECORD_DAMAGED)]
    assert {row["game_id"] for row in found_in(tmp_path)["games"]}.isdisjoint({broken.game_id})
    # It is tried again, though nothing has happened since.
    store._games[broken.game_id].records[-1] = broken
    assert not exported(store, tmp_path).unread
    assert_same(tmp_path, expected(store))


# What it is refused for.


def code_of(error: pytest.ExceptionInfo[HeptalogError]) -> Code:
    return error.value.code


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ana")
    with pytest.raises(Unavailable) as error:
        exported(log_of(some_games(1)), tmp_path)
    assert code_of(error) is Code.EXPORT_FOREIGN
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    (tmp_path / "manifest.json").write_text('{"name": "another program"}')
    with pytest.raises(Unavailable) as error:
        exported(log_of(some_games(1)), tmp_path)
    assert code_of(error) is Code.EXPORT_FOREIGN


def test_another_log_and_a_shorter_one_are_refused(tmp_path: Path) -> None:
    games = some_games(3)
    exported(log_of(games), tmp_path)
    for other in (log_of(some_games(4, seed=7)), log_of(games[:1])):
        with pytest.raises(Unavailable) as error:
            exported(other, tmp_path)
        assert code_of(error) is Code.EXPORT_FOREIGN
    assert_same(tmp_path, expected(log_of(games)))


def test_the_reason_of_a_refusal_is_the_one_that_there_is(tmp_path: Path) -> None:
    games = some_games(3)
    store = log_of(games)
    store.append([], [refused(games[0][3])])
    exported(store, tmp_path)
    for other, reason in (
        # Of another log, though shorter too.
        (log_of(some_games(1, seed=7)), "it is an export of another log"),
        (log_of(games[:1]), f"it is of a longer log: it has {store.position():,} events, and this one {len(games[0])}"),
        (log_of(games), "it is of a longer log: of refusals it has 1, and this one 0"),
        (MemoryStore(), f"it is of a longer log: it has {store.position():,} events, and this one 0"),
    ):
        with pytest.raises(Unavailable) as error:
            exported(other, tmp_path)
        assert error.value.facts["problem"] == reason


def test_a_log_that_goes_on_otherwise_is_refused(tmp_path: Path) -> None:
    games = some_games(3)
    exported(log_of(games), tmp_path)
    other = log_of([*games[:2], *some_games(3, seed=70)])
    with pytest.raises(Unavailable) as error:
        exported(other, tmp_path)
    assert code_of(error) is Code.EXPORT_FOREIGN


@pytest.mark.parametrize("change", ["missing", "shorter", "changed", "manifest"])
def test_a_damaged_export_is_refused_and_names_the_file(tmp_path: Path, change: str) -> None:
    store = log_of(some_games(3))
    exported(store, tmp_path)
    path = tmp_path / (read(tmp_path).of("turns")[0].path if change != "manifest" else "manifest.json")
    content = path.read_bytes()
    if change == "missing":
        path.unlink()
    elif change == "shorter":
        path.write_bytes(content[:-1])
    elif change == "changed":
        path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    else:
        path.write_bytes(content.replace(b'"rows": ', b'"rows": 1', 1))
    with pytest.raises(Corrupt) as error:
        exported(store, tmp_path)
    assert code_of(error) is Code.EXPORT_DAMAGED
    assert error.value.facts["path"] == str(path)


def test_a_newer_form_is_left_alone(tmp_path: Path) -> None:
    exported(log_of(some_games(1)), tmp_path)
    (tmp_path / "manifest.json").write_bytes(encoded(replace(read(tmp_path), form=FORM + 1)))
    with pytest.raises(Unavailable) as error:
        read(tmp_path)
    assert code_of(error) is Code.RECORD_NEWER


def test_a_manifest_cannot_name_what_is_elsewhere(tmp_path: Path) -> None:
    exported(log_of(some_games(1)), tmp_path)
    manifest = read(tmp_path)
    for path in ("../games/000001.parquet", "/etc/passwd", "games/../../000001.parquet", "games/000001.txt"):
        files = (replace(manifest.files[0], path=path), *manifest.files[1:])
        (tmp_path / "manifest.json").write_bytes(encoded(replace(manifest, files=files)))
        with pytest.raises(Corrupt):
            read(tmp_path)


def test_a_file_of_somebody_else_is_neither_read_nor_removed(tmp_path: Path) -> None:
    games = some_games(3)
    store = log_of(games[:2])
    exported(store, tmp_path)
    own = tmp_path / "games" / "notes.txt"
    own.write_text("mine")
    log_of(games[2:], store)
    exported(store, tmp_path)
    assert own.read_text() == "mine"
    assert_same(tmp_path, expected(store))


# What is read from it.


def test_questions_are_asked_of_an_export(tmp_path: Path) -> None:
    import duckdb

    store = log_of([*some_games(6), *some_games(2, seed=4, length=20, ruling_rate=0)])
    exported(store, tmp_path, has_running=True)
    snapshot = opened(tmp_path)
    assert snapshot.position == store.position()
    assert all(not part.excluded for parts in snapshot.tables.values() for part in parts)
    with duckdb.connect() as connection:
        attach(connection, snapshot)
        ((count,),) = connection.execute("SELECT count(*) FROM turns").fetchall()
        assert count == len(expected(store, has_running=True)["turns"])
        with pytest.raises(duckdb.CatalogException):
            connection.execute("SELECT record FROM events")
