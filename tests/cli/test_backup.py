"""`heptalog backup` and `heptalog restore`: what they say, how they end, and that both kinds of source will do."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from heptalog.cli.backups import lines_of_restored
from heptalog.service.backup.restoring import BadGame, Restored
from heptalog.service.store.duck import DuckStore
from tests.cli.given import folder_of_games
from tests.cli.running import run, run_program, serving
from tests.service.backing import KEY, OTHER_KEY, all_of, checkpoint, files_of, grow


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A log with a signed checkpoint."""
    path = tmp_path / "log.duckdb"
    with closing(DuckStore(path)) as store:
        grow(store)
    return path


def test_a_database_goes_into_a_folder_and_comes_out_again(tmp_path: Path, database: Path) -> None:
    backup, again = tmp_path / "backup", tmp_path / "again.duckdb"
    taken = run("backup", database, backup, "--format", "json")
    assert taken.code == 0
    assert (taken.document["events"], taken.document["newEvents"]) == (taken.document["events"],) * 2
    assert taken.document["checkpoint"] == taken.document["events"]
    ended = run("backup", database, backup)
    assert ended.code == 0
    assert ended.out.startswith("0 new events, 0 new refusals\n")
    assert "its signatures not checked" in ended.out
    restored = run("restore", backup, again, "--format", "json")
    assert restored.code == 0
    assert restored.document["root"] == taken.document["root"]
    with closing(DuckStore(database)) as one, closing(DuckStore(again)) as other:
        assert all_of(one) == all_of(other)


def test_a_log_that_is_not_what_it_should_be_is_not_backed_up(tmp_path: Path, database: Path) -> None:
    older = tmp_path / "older.duckdb"
    shutil.copy(database, older)
    with closing(DuckStore(database)) as store:
        grow(store, 1)
    shutil.copy(older, database)
    for command in (("backup", database, tmp_path / "backup"), ("checkpoint", database)):
        ended = run(*command)
        assert (ended.code, ended.out) == (1, "")
        assert "[EVENTS_LOST]" in ended.err
    exported = run("export", database, "--out", tmp_path / "games")
    assert exported.code == 1
    assert "[EVENTS_LOST]" in exported.err


def test_a_running_server_is_backed_up(tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with serving(tmp_path / "log.duckdb", "--no-tables") as server:
        assert run("import", folder_of_games(tmp_path / "games", 1), "--into", server.url).code == 0
        taken = run_program("backup", server.url, backup, "--format", "json")
        assert (taken.code, taken.err) == (0, "")
        # What a server holds is copied by way of the server.
        locked = run_program("backup", tmp_path / "log.duckdb", backup)
        assert locked.code == 3
        assert "[DATABASE_LOCKED]" in locked.err
        assert server.stopped() == 0
    assert run("backup", tmp_path / "log.duckdb", backup).out.startswith("0 new events")
    assert run("restore", backup, tmp_path / "again.duckdb").code == 0
    assert run("verify", tmp_path / "again.duckdb").code == 0


def test_what_programs_are_told(tmp_path: Path, database: Path) -> None:
    (taken,) = run("backup", database, tmp_path / "backup", "--format", "jsonl").lines
    assert list(taken) == [
        "directory",
        "events",
        "newEvents",
        "refusals",
        "newRefusals",
        "root",
        "checkpoint",
        "signedBy",
        "newFiles",
    ]
    (checked,) = run("restore", tmp_path / "backup", "--check", "--format", "jsonl").lines
    (restored,) = run("restore", tmp_path / "backup", tmp_path / "again.duckdb", "--format", "jsonl").lines
    assert {**restored, "database": None} == checked
    assert restored["database"] == str(tmp_path / "again.duckdb")
    assert {"madeAt", "signedBy", "badGames"} < restored.keys()
    text = run("restore", tmp_path / "backup", "--check").out
    assert f"as of {restored['madeAt'][:19]}Z\n" in text


def test_folders_that_are_missing_are_made(tmp_path: Path, database: Path) -> None:
    assert run("backup", database, tmp_path / "backups" / "of" / "season").code == 0
    assert run("restore", tmp_path / "backups" / "of" / "season", "--check").code == 0


def test_a_backup_with_bad_games_is_not_called_good() -> None:
    bad = BadGame("game", 3, "ILLEGAL_MOVE", "SU-R8")
    checked = Restored(None, "2026-01-01T00:00:00.5Z", 4, 1, 0, 0, "root", 0, (), bad_games=(bad,))
    lines = list(lines_of_restored(checked))
    assert lines[0] == "BAD  game: sequence 3 (SU-R8) [ILLEGAL_MOVE]"
    assert lines[1].startswith("the backup has: 4 events of 1 game")
    assert next(lines_of_restored(replace(checked, bad_games=()))).startswith("the backup is good: ")


def test_keys_are_held_against_the_latest_checkpoint(tmp_path: Path, database: Path) -> None:
    backup, key = tmp_path / "backup", KEY.verifiers[0].format()
    ended = run("backup", database, backup, "--key", key)
    assert ended.code == 0
    assert f"signed by {KEY.name}" in ended.out
    assert "signed by" in run("restore", backup, "--check", "--key", key).out
    (tmp_path / "other.pub").write_text(OTHER_KEY.verifiers[0].format() + "\n")
    refused = run("restore", backup, "--check", "--key", tmp_path / "other.pub")
    assert (refused.code, refused.out) == (1, "")
    assert "[SIGNATURE_MISSING]" in refused.err
    with closing(DuckStore(database)) as store:
        store.keep_checkpoint(checkpoint(store, OTHER_KEY))
    assert run("backup", database, backup, "--key", key).code == 1


def test_without_a_checkpoint_there_is_nothing_to_hold_against_a_key(tmp_path: Path) -> None:
    with closing(DuckStore(tmp_path / "log.duckdb")):
        pass
    for arguments in (
        ("backup", tmp_path / "log.duckdb", tmp_path / "backup"),
        ("restore", tmp_path / "backup", "--check"),
    ):
        ended = run(*arguments, "--key", KEY.verifiers[0].format())
        assert ended.code == 0
        assert "nothing to hold against a key" in ended.err


def test_a_restore_touches_nothing_that_is_there(tmp_path: Path, database: Path) -> None:
    run("backup", database, tmp_path / "backup")
    before = files_of(tmp_path / "backup") | {database.name: database.read_bytes()}
    ended = run("restore", tmp_path / "backup", database)
    assert (ended.code, ended.out) == (2, "")
    assert "is there already" in ended.err
    # A head record alone says that there was a log.
    database.unlink()
    assert run("restore", tmp_path / "backup", database).code == 2
    database.with_name(database.name + ".head").unlink()
    database.with_name(database.name + ".checkpoint").unlink()
    assert run("restore", tmp_path / "backup", database).code == 0
    assert files_of(tmp_path / "backup").items() <= before.items()


def test_a_damaged_backup_is_told_with_its_file(tmp_path: Path, database: Path) -> None:
    backup = tmp_path / "backup"
    run("backup", database, backup)
    (events,) = [path for path in backup.iterdir() if "events" in path.name]
    events.write_bytes(events.read_bytes()[:-1])
    for arguments in (("restore", backup, tmp_path / "again.duckdb"), ("restore", backup, "--check")):
        ended = run(*arguments)
        assert (ended.code, ended.out) == (1, "")
        assert "[BACKUP_DAMAGED]" in ended.err
        assert events.name in ended.err
    assert not (tmp_path / "again.duckdb").exists()


def test_an_older_log_put_back_is_told_with_the_positions_that_are_gone(tmp_path: Path, database: Path) -> None:
    size = run("backup", database, tmp_path / "backup", "--format", "json").document["events"]
    assert run("restore", tmp_path / "backup", tmp_path / "old.duckdb", "--to-position", size - 3).code == 0
    ended = run("backup", tmp_path / "old.duckdb", tmp_path / "backup")
    assert (ended.code, ended.out) == (1, "")
    assert "[EVENTS_LOST]" in ended.err
    assert f"positions {size - 2} to {size}" in ended.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("backup", "game.jsonl", "backup"), 3),
        (("backup", "log.duckdb#game", "backup"), 2),
        (("backup", "nothing.duckdb", "backup"), 3),
        (("backup", "grpc://127.0.0.1:1", "backup"), 3),
        (("backup", "log.duckdb", "log.duckdb/backup"), 3),
        (("backup", "log.duckdb", "log.duckdb"), 3),
        (("backup", "log.duckdb", "backup", "--key", "no key"), 3),
        (("restore", "backup"), 2),
        (("restore", "backup", "new.duckdb", "--check"), 2),
        (("restore", "nothing", "new.duckdb"), 3),
        (("restore", "good", "nowhere/new.duckdb"), 3),
        (("restore", "good", "new.duckdb", "--to-position", "100000"), 2),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    run("backup", database, "good")
    ended = run(*arguments)
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.count("\n") == 1 or code == 2
    assert not (tmp_path / "new.duckdb").exists()
