"""`heptalog rebuild`, and the tables of a database that no server holds: made, followed, waited for and checked."""

import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest

from heptalog.analytics.keeping import folder_of
from heptalog.analytics.keeping.place import MANIFEST, Hold, current, keep
from heptalog.cli import tables
from heptalog.cli.tables import tables_of
from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.registry import GAMES
from heptalog.service.store.duck import DuckStore
from tests.analytics.kept import files_in, rows_of, rows_of_log
from tests.cli.running import run, run_program, serving
from tests.support.newer import record_newer
from tests.support.recording import batches_of, recorded_game


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with a few games."""
    path = tmp_path / "log.duckdb"
    record(path, 1)
    return path


def record(database: Path, seed: int) -> None:
    """Record a game of each kind."""
    with closing(DuckStore(database)) as store:
        for rules in GAMES:
            store.append(batches_of(recorded_game(rules, seed, event_count_max=60, ruling_rate=0.02)))


def test_the_tables_are_made_and_say_how_many_rows_they_have(database: Path) -> None:
    ended = run("rebuild", database)
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].split() == ["table", "rows"]
    assert lines[2].split() == ["games", "3"]
    assert lines[-1] == f"{database}: made anew, {position_of(database)} events"
    assert len(lines) == 2 + 16 + 1


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_program_is_told_the_same(database: Path, form: str) -> None:
    ended = run("rebuild", database, "--format", form)
    assert ended.code == 0
    assert ended.document["source"] == str(database)
    assert ended.document["events"] == position_of(database)
    with closing(DuckStore(database, is_read_only=True)) as store:
        assert ended.document["tables"] == {name: len(rows) for name, rows in rows_of_log(store).items()}
    checked = run("rebuild", database, "--check", "--format", form)
    assert checked.code == 0
    position = ended.document["events"]
    assert checked.document == {"ok": True, **ended.document, "position": position, "head": position, "behind": 0}
    assert (ended.out.count("\n") == 1) == (form == "jsonl")


def test_what_is_right_passes_the_check(database: Path) -> None:
    with tables_of(database):
        pass
    ended = run("rebuild", database, "--check")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[-1] == (f"{database}: every row is as it should be, {position_of(database)} events")


def test_what_is_right_as_far_as_it_goes_is_told_to_be_behind(database: Path) -> None:
    assert run("rebuild", database).code == 0
    before = position_of(database)
    record(database, 2)
    behind = position_of(database) - before
    ended = run("rebuild", database, "--check")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[-1] == (
        f"{database}: every row is as it should be, {before} events; {behind} events of the log are not in them yet"
    )
    told = run("rebuild", database, "--check", "--format", "json").document
    assert (told["position"], told["head"], told["behind"]) == (before, before + behind, behind)


def test_what_is_not_right_is_told_and_nothing_is_changed(database: Path) -> None:
    run("rebuild", database)
    path = min(path for path in files_in(folder_of(database)) if "/turns/" in str(path))
    path.write_bytes(bytes(path.stat().st_size))
    before = {path: path.read_bytes() for path in files_in(folder_of(database))}
    ended = run("rebuild", database, "--check")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("heptalog: the tables are not what follows from the events: ")
    assert ended.err.endswith("[TABLES_DIFFER]\n")
    told = run("rebuild", database, "--check", "--format", "json")
    assert (told.code, told.err) == (1, "")
    assert (told.document["ok"], told.document["code"]) == (False, "TABLES_DIFFER")
    assert {path: path.read_bytes() for path in files_in(folder_of(database))} == before
    assert run("rebuild", database).code == 0
    assert run("rebuild", database, "--check").code == 0


def test_tables_that_there_are_not_cannot_be_checked(database: Path) -> None:
    ended = run("rebuild", database, "--check")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == f"heptalog: there is no such file: path {folder_of(database)} [SOURCE_NOT_FOUND]\n"


def test_the_old_ones_go(database: Path) -> None:
    run("rebuild", database)
    first = current(folder_of(database))
    run("rebuild", database)
    second = current(folder_of(database))
    assert first != second
    folders = [path for path in folder_of(database).iterdir() if path.is_dir()]
    assert len(folders) == 1


@pytest.mark.parametrize("source", ["{}#game", "games", "nothing", "nothing.duckdb", "grpc://127.0.0.1:1"])
def test_only_a_database_or_a_server_will_do(database: Path, source: str) -> None:
    (database.parent / "games").mkdir()
    ended = run("rebuild", database.parent / "games" if source == "games" else source.format(database))
    assert ended.code == (2 if "#" in source or source == "games" else 3), ended
    assert ended.out == ""
    assert ended.err.count("\n") == 1


def test_the_tables_of_a_server_are_not_checked_from_outside(database: Path) -> None:
    ended = run("rebuild", "grpc://127.0.0.1:1", "--check")
    assert (ended.code, ended.out) == (2, "")


def test_a_server_does_it_while_it_runs(database: Path) -> None:
    with serving(database) as server:
        held = run("rebuild", database)
        assert (held.code, held.out) == (3, "")
        assert "grpc://HOST:PORT" in held.err
        ended = run_program("rebuild", server.url, "--format", "json")
        assert ended.code == 0
        assert ended.document["source"] == server.url
        assert ended.document["tables"]["games"] == 3
    assert run("rebuild", database, "--check").code == 0


def test_the_tables_have_all_that_is_recorded(database: Path) -> None:
    for seed in range(2, 5):
        with tables_of(database) as snapshot, closing(DuckStore(database, is_read_only=True)) as store:
            assert rows_of(snapshot) == rows_of_log(store)
        record(database, seed)


def test_many_events_are_taken_on_all_cores(
    database: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("heptalog.analytics.keeping.opening._FAR", 1)
    monkeypatch.setattr(tables, "core_count", lambda: 1)
    with tables_of(database) as snapshot, closing(DuckStore(database, is_read_only=True)) as store:
        assert rows_of(snapshot) == rows_of_log(store)
    assert capsys.readouterr().err == ""


def test_where_nothing_is_new_nothing_is_written_and_nobody_waited_for(database: Path) -> None:
    with tables_of(database):
        pass
    before = {path: path.stat().st_mtime_ns for path in folder_of(database).rglob("*")}
    with closing(keep(folder_of(database))), tables_of(database) as snapshot:
        assert snapshot.position == position_of(database)
    assert {path: path.stat().st_mtime_ns for path in folder_of(database).rglob("*")} == before


def test_who_reads_lets_others_go_on_and_keeps_what_is_read(database: Path) -> None:
    with tables_of(database) as first:
        rows = rows_of(first)
        record(database, 2)
        with tables_of(database) as second:
            assert second.position > first.position
        assert run("rebuild", database).code == 0
        with tables_of(database):
            pass
        assert rows_of(first) == rows


def test_another_that_brings_them_up_to_date_is_waited_for(
    database: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(database)
    lock = keep(folder)
    waits = _let_go(lock, monkeypatch, after=3)
    with tables_of(database) as snapshot:
        assert snapshot.position == position_of(database)
    assert len(waits) == 3
    assert capsys.readouterr().err == (
        f"heptalog: {folder} is being brought up to date by another program; waiting for it\n"
    )


def test_it_is_not_waited_for_for_ever(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with closing(keep(folder_of(database))), pytest.raises(Unavailable) as failure, tables_of(database):
        pass
    assert failure.value.code is Code.DATABASE_LOCKED


def test_where_the_place_cannot_be_written_they_are_made_elsewhere_for_once(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder_of(database).write_bytes(b"")
    with tables_of(database) as snapshot, closing(DuckStore(database, is_read_only=True)) as store:
        assert rows_of(snapshot) == rows_of_log(store)
        (place,) = map(Path, snapshot.folders)
        assert place.exists()
    assert not place.exists()
    assert capsys.readouterr().err == (
        f"heptalog: {folder_of(database)}: File exists; the tables are made in a temporary folder, for this once\n"
    )


def test_a_folder_of_another_database_is_not_believed(database: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    record(other, 7)
    with tables_of(other):
        pass
    shutil.copytree(folder_of(other), folder_of(database))
    with tables_of(database) as snapshot, closing(DuckStore(database, is_read_only=True)) as store:
        assert rows_of(snapshot) == rows_of_log(store)


def test_a_manifest_that_is_damaged_is_no_hindrance(database: Path) -> None:
    with tables_of(database):
        pass
    generation = current(folder_of(database))
    assert generation is not None
    (generation / MANIFEST).write_bytes(b"{}")
    with tables_of(database) as snapshot:
        assert snapshot.position == position_of(database)
    assert not generation.exists()


def test_games_that_cannot_be_read_here_are_counted_each_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "newer.duckdb"
    with closing(DuckStore(database)) as store:
        record_newer(store, "a kind")
    for _ in range(2):
        with tables_of(database) as snapshot:
            assert len(rows_of(snapshot)["games"]) == 3
        assert capsys.readouterr().err == (
            "heptalog: 1 game cannot be read here to the end, and the tables have no more of it\n"
        )


def position_of(database: Path) -> int:
    """How many events a database has."""
    with closing(DuckStore(database, is_read_only=True)) as store:
        return store.position()


def _let_go(lock: Hold, monkeypatch: pytest.MonkeyPatch, *, after: int) -> list[float]:
    """Have who keeps the folder let go of it while it is waited for."""
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == after:
            lock.close()

    monkeypatch.setattr(time, "sleep", sleep)
    return waits
