"""`heptalog doctor` of what cannot be read: where the events are, and what each of its steps comes to."""

import gzip
import os
import re
import shutil
from pathlib import Path

import pytest

from heptalog.service.store.duck import DuckStore
from heptalog.service.store.heads import head_path
from tests.cli.doctored import beside, doctor, files, made, older
from tests.cli.running import run
from tests.contract.given import appended, begin

OLDER = Path(__file__).parents[1] / "golden/logs/0001"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A database with 24 events and a checkpoint, and beside it, in `older`, what it was after 12."""
    return made(tmp_path)


def test_a_damaged_write_ahead_log(log: Path, game: Path) -> None:
    """What was put in order is in the database, and what came before the damage is in the write-ahead log."""
    store = DuckStore(log)
    places = []
    for number in (5, 6, 7):
        places.append(beside(log, "wal").stat().st_size if beside(log, "wal").exists() else 0)
        appended(store, begin(number))
    copies = log.parent.parent / "copies"
    shutil.copytree(log.parent, copies)
    store.close()
    for name in files(log):
        (log.parent / name).unlink()
    shutil.copytree(copies, log.parent, dirs_exist_ok=True)
    content = bytearray(beside(log, "wal").read_bytes())
    content[places[2] + 60] ^= 0xFF
    beside(log, "wal").write_bytes(content)
    for command, *rest in (
        ("serve", "--port", "0"),
        ("verify",),
        ("audit",),
        ("games",),
        ("backup", log.with_name("backup")),
    ):
        ended = run(command, log, *rest)
        told = ended.out + ended.err
        assert (ended.code, told.count("[RECORD_DAMAGED]"), "positions 1 to 27, path" in told) == (1, 1, True)
    ended = run("import", game, "--into", log)
    assert (ended.code, "`heptalog doctor` says what can be done, positions 1 to 27" in ended.err) == (1, True)
    ended = doctor(log)
    assert ended.code == 1
    assert [problem["code"] for problem in ended.document["problems"]] == ["RECORD_DAMAGED"]
    found = ended.document["salvage"]
    assert (found["inDatabase"], found["readable"]) == (24, 26)
    told = run("doctor", log).out
    spans = ("1 to 24 are in the database itself", "25 to 26 in the write-ahead log before", "27 to 27 after it")
    assert all(f"events {span}" in told for span in spans)
    assert run("doctor", log, "--accept", "--yes").code == 1
    (cut,) = re.findall(r"`truncate --size=(\d+) \S+games\.duckdb\.wal`. That keeps events 1 to 26,", told)
    os.truncate(beside(log, "wal"), int(cut))
    (problem,) = doctor(log).document["problems"]
    assert problem["code"] == "EVENTS_LOST"
    assert "position 27," in problem["message"]
    assert run("doctor", log, "--accept", "--yes").code == 0
    assert doctor(log).document["log"]["events"] == 26


def test_a_write_ahead_log_without_a_whole_commit_is_moved_away(log: Path) -> None:
    older(log)
    content = bytearray(beside(log, "wal").read_bytes())
    content[len(content) // 2] ^= 0xFF
    beside(log, "wal").write_bytes(content)
    report = doctor(log).document
    assert report["salvage"] == {"inDatabase": 0, "readable": 0, "walSize": report["salvage"]["walSize"]}
    assert not any("truncate" in line or "away" in line for line in report["advice"])
    assert any("heptalog restore" in line for line in report["advice"])
    beside(log, "wal").write_bytes(b"x" * 100)
    log.write_bytes(b"x" * 100)
    assert doctor(log).document["salvage"] == {"inDatabase": None, "readable": 0, "walSize": 0}
    assert "readable    nothing, with the write-ahead log or without it" in run("doctor", log).out


@pytest.mark.parametrize("ending", ["head", "checkpoint"])
def test_a_file_beside_it_that_cannot_be_read_is_told_once(log: Path, ending: str) -> None:
    beside(log, ending).unlink()
    beside(log, ending).mkdir()
    report = doctor(log).document
    (problem,) = report["problems"]
    assert problem["message"] == f"this cannot be opened: Is a directory, path {beside(log, ending)}"
    assert report["advice"] == [
        f"Make {beside(log, ending)} a file that can be read: it says how long the log must be."
    ]


def test_an_older_schema_is_brought_up_to_date_by_writing(tmp_path: Path) -> None:
    log = tmp_path / "log.duckdb"
    for name in ("log.duckdb", "log.duckdb.wal"):
        (tmp_path / name).write_bytes(gzip.decompress((OLDER / f"{name}.gz").read_bytes()))
    refused = run("verify", log)
    assert "serve or import into it once" in refused.out
    ended = doctor(log)
    assert (ended.code, ended.document["ok"], ended.document["schema"]) == (0, True, 1)
    (step,) = ended.document["advice"]
    assert "brought up to date: serve it or import into it once" in step
    assert "changes nothing of the events" in step
    lines = run("doctor", log).out.splitlines()
    assert lines[-2].startswith("it opens for writing")
    assert lines[-1] == step


def test_a_name_that_the_engine_does_not_take(log: Path) -> None:
    misnamed = log.with_name(os.fsdecode(b"\xff.duckdb"))
    log.rename(misnamed)
    head_path(log).rename(head_path(misnamed))
    backup = log.with_name(os.fsdecode(b"backup\xff"))
    told = str(log.parent) + r"/\xff.duckdb"
    for form in ("text", "json"):
        ended = run("doctor", misnamed, "--format", form)
        assert (ended.code, ended.out.count("the engine takes only files whose names are UTF-8")) == (3, 1)
        assert "the files beside it a name that is UTF-8." in ended.out
    for arguments in (
        ("serve", misnamed, "--port", "0"),
        ("audit", misnamed),
        ("backup", misnamed, backup),
        ("games", misnamed),
    ):
        ended = run(*arguments)
        assert (ended.code, ended.out) == (3, "")
        assert f"names are UTF-8, path {told} [SOURCE_UNREADABLE]" in ended.err
    misnamed.rename(log)
    head_path(misnamed).rename(head_path(log))
    taken = run("backup", log, backup, "--format", "json")
    assert (taken.code, taken.document["directory"]) == (0, str(log.parent) + r"/backup\xff")
    refused = run("restore", backup, misnamed)
    assert (refused.code, f"path {told} [SOURCE_UNREADABLE]" in refused.err) == (3, True)
    assert not misnamed.exists()
