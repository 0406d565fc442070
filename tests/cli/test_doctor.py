"""`heptalog doctor`: what it sees, what it advises, and what accepting does."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from heptalog.service.store import TreeHead
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.heads import head_path, make_head
from tests.cli.doctored import alter, beside, doctor, files, made, older
from tests.cli.running import run, run_program, serving
from tests.contract.given import appended, begin, checkpoint_of, fill, game


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A database with 24 events and a checkpoint, and beside it, in `older`, what it was after 12."""
    return made(tmp_path)


def test_nothing_is_wrong(log: Path) -> None:
    ended = doctor(log)
    assert ended.code == 0
    report = ended.document
    assert (report["ok"], report["problems"], report["advice"], report["incidents"]) == (True, [], [], [])
    assert [Path(file["path"]).name for file in report["files"]] == [
        "games.duckdb",
        "games.duckdb.wal",
        "games.duckdb.head",
        "games.duckdb.checkpoint",
    ]
    assert [file["size"] is not None for file in report["files"]] == [True, False, True, True]
    assert report["log"] == report["head"] == report["checkpoint"]
    assert report["log"]["events"] == 24
    assert report["schema"] == report["schemaKnown"] == 2
    assert report["free"] > 0
    text = run("doctor", log)
    told, audit = text.out.splitlines()[-1].split(": ")
    assert text.code == 0
    assert told == "it opens and can be read, and is as long as was acknowledged; whether every event is as it was"
    assert audit == f"`heptalog audit {log}`"
    assert len(run("doctor", log, "--format", "jsonl").lines) == 1


def test_an_older_copy_by_its_positions(log: Path) -> None:
    older(log)
    ended = doctor(log)
    assert ended.code == 1
    report = ended.document
    assert [problem["code"] for problem in report["problems"]] == ["EVENTS_LOST", "EVENTS_LOST"]
    assert "positions 13 to 24" in report["problems"][0]["message"]
    assert (report["log"]["events"], report["head"]["events"], report["checkpoint"]["events"]) == (12, 24, 24)
    steps = ["Copy", "If the files are not of one moment", "heptalog restore", "--accept"]
    assert [step in line for step, line in zip(steps, report["advice"], strict=True)] == [True] * 4
    # What others are told leads here, and here it is not said again.
    for arguments in (
        ("serve", log, "--port", "0"),
        ("import", log.parent / "none", "--into", log),
        ("sql", log, "SELECT 1"),
    ):
        refused = run(*arguments)
        if "import" not in arguments:
            assert "`heptalog doctor` says what can be done, positions 13 to 24" in refused.err
    assert "`heptalog doctor` says" not in run("doctor", log).out


def test_a_loss_is_told_once(log: Path) -> None:
    older(log)
    for arguments in (("import", log, "--into", log.with_name("new.duckdb")), ("games", "--results", log)):
        ended = run(*arguments)
        assert ended.code == 1
        assert (ended.out + ended.err).count("[EVENTS_LOST]") == 1


ENDINGS = ("wal", "head", "checkpoint")


def test_what_it_does_not_read_it_does_not_vouch_for(log: Path) -> None:
    alter(log, "UPDATE log.events SET sequence = 99 WHERE position = 7")
    ended = run("doctor", log)
    assert ended.code == 0
    assert f"whether every event is as it was: `heptalog audit {log}`" in ended.out
    assert run("audit", log).code == 1


def test_files_are_told_as_they_were_named_and_times_to_the_second(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(log.parent)
    lines = run("doctor", log.name).out.splitlines()
    named = [file["path"] for file in doctor(Path(log.name)).document["files"]]
    assert named == [line.split()[0] for line in lines[:4]] == [log.name, *(f"{log.name}.{end}" for end in ENDINGS)]
    assert lines[1].endswith("not there")
    assert all(re.search(r"\d{2}:\d{2}:\d{2}Z$", lines[index]) for index in (0, 2, 3, 7))
    older(log)
    for command, *rest in (("doctor",), ("serve", "--port", "0"), ("verify",), ("games",)):
        ended = run(command, log.name, *rest)
        assert "path games.duckdb.head (" in ended.out + ended.err
        assert str(log.parent) not in ended.out + ended.err
    # What is beside the file that a link leads to is not beside the link.
    link = log.parent.parent / "link.duckdb"
    link.symlink_to(log)
    assert f"path {head_path(log)} (" in run("serve", link, "--port", "0").err


def _without_wal(log: Path) -> None:
    older(log)
    beside(log, "wal").unlink()


def _another_log(log: Path) -> None:
    path = log.parent.parent / "other.duckdb"
    store = DuckStore(path)
    fill(store, [game(3), game(4)])
    store.close()
    shutil.copy(path, log)


def _a_changed_node(log: Path) -> None:
    """The events are as they were: it is only the stored tree."""
    alter(log, "INSERT INTO log.tree VALUES (1, 0, 'x'::BLOB)")


def _foreign(log: Path) -> None:
    log.write_bytes(b"x" * 9000)
    head_path(log).unlink()
    beside(log, "checkpoint").unlink()


def _head_folder(log: Path) -> None:
    head_path(log).unlink()
    head_path(log).mkdir()


CASES: dict[str, tuple[Callable[[Path], object], list[str], int, list[str]]] = {
    "the write-ahead log is gone": (_without_wal, ["EVENTS_LOST"] * 2, 1, ["put ", "restore", "--accept"]),
    "another log": (_another_log, ["HEAD_DIFFERS", "CHECKPOINT_DIFFERS"], 1, ["audit", "restore", "--accept"]),
    "no head": (lambda log: head_path(log).unlink(), ["HEAD_MISSING"], 1, ["audit", "restore", "--accept"]),
    "a damaged head": (
        lambda log: head_path(log).write_bytes(b"x" * 8192),
        ["HEAD_MISSING"],
        1,
        ["audit", "restore", "--accept"],
    ),
    "a damaged checkpoint": (
        lambda log: beside(log, "checkpoint").write_text("x"),
        ["CHECKPOINT_DIFFERS"],
        1,
        ["audit", "restore", "--accept"],
    ),
    "an event is gone": (
        lambda log: alter(log, "DELETE FROM log.events WHERE position = 7"),
        ["POSITION_DAMAGED"],
        1,
        ["restore"],
    ),
    "a changed node": (_a_changed_node, ["TREE_DIFFERS"], 1, ["audit", "restore", "--accept"]),
    "no database": (lambda log: log.unlink(), ["EVENTS_LOST"] * 2, 1, ["restore", "begin an empty log"]),
    "half of it": (lambda log: log.write_bytes(log.read_bytes()[:9000]), ["RECORD_DAMAGED"], 1, ["restore"]),
    "something else": (lambda log: log.write_bytes(b"x" * 9000), ["RECORD_DAMAGED"], 1, ["restore"]),
    "something else, and nothing that says more": (_foreign, ["DATABASE_FOREIGN"], 3, ["restore"]),
    "a head that is a folder": (_head_folder, ["SOURCE_UNREADABLE"], 1, ["Make ", "games.duckdb.head a file"]),
    "a newer schema": (
        lambda log: alter(log, "INSERT INTO log.migrations VALUES (3, '0003_later.sql', now())"),
        ["DATABASE_NEWER"],
        3,
        ["newer one"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_and_what_can_be_done(log: Path, name: str) -> None:
    damage, codes, code, steps = CASES[name]
    damage(log)
    ended = doctor(log)
    report = ended.document
    assert [problem["code"] for problem in report["problems"]] == codes
    assert ended.code == code
    told = " ".join(report["advice"])
    for step in ("put ", "audit", "restore", "begin an empty log", "newer one", "--accept", "Make ", *steps):
        if step in steps or step in ("restore", "--accept"):
            assert (step in told) == (step in steps), step
    text = run("doctor", log)
    assert text.code == code
    assert all(f"[{code}]" in text.out for code in codes)


def test_a_database_that_is_held(log: Path) -> None:
    with serving(log, "--no-tables") as served:
        ended = doctor(log)
        assert ended.code == 3
        (problem,) = ended.document["problems"]
        assert problem["code"] == "DATABASE_LOCKED"
        assert f"pid {served.process.pid}" in problem["message"]
        assert "a server is named as grpc://HOST:PORT" in run("verify", log).out
        assert served.stopped() == 0
    assert doctor(log).code == 0


def test_there_is_nothing(tmp_path: Path) -> None:
    ended = run("doctor", tmp_path / "none.duckdb")
    assert (ended.code, ended.out) == (3, "")
    assert "[SOURCE_NOT_FOUND]" in ended.err


def test_a_full_disk(log: Path) -> None:
    ended = doctor(log, "--reserve", "900000TB")
    assert (ended.code, [problem["code"] for problem in ended.document["problems"]]) == (1, ["DISK_RESERVE"])
    assert ["--reserve" in line for line in ended.document["advice"]] == [True]
    assert run("doctor", log, "--reserve", "9 parrots").code == 2


ACCEPTED: dict[str, tuple[str, int, int | None]] = {
    "the write-ahead log is gone": ("EVENTS_LOST first 1 last 24", 0, 24),
    "another log": ("HEAD_DIFFERS size 24; CHECKPOINT_DIFFERS size 24", 24, 24),
    "no head": ("HEAD_MISSING", 24, None),
    "a damaged head": ("HEAD_MISSING", 24, None),
    "a damaged checkpoint": ("CHECKPOINT_DIFFERS", 24, 24),
    "a changed node": ("TREE_DIFFERS last 24 size 256", 24, 24),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_accepted_goes_on_and_is_on_record(log: Path, name: str) -> None:
    finding, size, head_size = ACCEPTED[name]
    CASES[name][0](log)
    with pytest.raises(Exception, match=r"EVENTS_LOST|DIFFERS|HEAD_MISSING"):
        DuckStore(log)
    ended = run("doctor", log, "--accept", "--yes")
    assert ended.code == 0
    assert f"the log goes on after event {size}" in ended.err
    report = doctor(log).document
    assert report["ok"]
    assert [incident["finding"] for incident in report["incidents"]] == [finding]
    with _incidents(log) as rows:
        assert [row[1:4] for row in rows] == [(finding, head_size, size)]
    store = DuckStore(log)
    appended(store, begin(9))
    assert store.tree_head().size == size + 1
    store.keep_checkpoint(checkpoint_of(size + 1, store.tree_head().root))
    store.close()
    assert doctor(log).code == 0
    assert "accepted    20" in run("doctor", log).out


def test_what_is_told_in_the_end_is_how_the_log_is_then(log: Path) -> None:
    older(log)
    ended = run("doctor", log, "--accept", "--yes", "--format", "json")
    report = ended.document
    assert (ended.code, report["ok"], report["problems"], report["log"]["events"]) == (0, True, [], 12)
    told = run("doctor", log).out
    lost = "the log is shorter than what was acknowledged: positions 13 to 24 [EVENTS_LOST]"
    (line,) = [line for line in told.splitlines() if line.startswith("accepted ")]
    assert line.endswith(f"Z: {lost}")


def test_who_is_asked_sees_it_before_and_after(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older(log)
    monkeypatch.setattr("typer.confirm", lambda *_, **__: True)
    monkeypatch.setattr("heptalog.cli.commands.doctor._is_answered", lambda: True)
    told = run("doctor", log, "--accept").out
    assert (
        told.index("that which loses least first") < told.index("accepted  ") < told.index("it opens and can be read")
    )


def test_commands_can_be_copied_whatever_the_path(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    log = made(tmp_path / "a b")
    assert run("doctor", log).out.endswith(f"`heptalog audit '{log}'`\n")
    older(log)
    assert f"`heptalog doctor '{log}' --accept`" in run("doctor", log).out


def test_a_checkpoint_that_does_not_hold_is_set_aside(log: Path) -> None:
    older(log)
    note = beside(log, "checkpoint").read_text()
    assert run("doctor", log, "--accept", "-y").code == 0
    (aside,) = log.parent.glob("games.duckdb.checkpoint*")
    assert aside.name != "games.duckdb.checkpoint"
    assert aside.read_text() == note


def test_a_checkpoint_that_holds_stays(log: Path) -> None:
    head_path(log).unlink()
    before = beside(log, "checkpoint").read_text()
    assert run("doctor", log, "--accept", "-y").code == 0
    assert beside(log, "checkpoint").read_text() == before


def test_where_nobody_answers_nothing_is_accepted(log: Path) -> None:
    older(log)
    before = files(log)
    ended = run_program("doctor", log, "--accept")
    assert ended.code == 2
    assert "--yes" in ended.err
    assert files(log) == before


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
def test_it_is_asked(log: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    older(log)
    monkeypatch.setattr("typer.confirm", lambda *_, **__: answer == "y")
    monkeypatch.setattr("heptalog.cli.commands.doctor._is_answered", lambda: True)
    assert run("doctor", log, "--accept").code == code
    assert run("doctor", log).code == code


@pytest.mark.parametrize("name", ["an event is gone", "no database", "a newer schema", "something else"])
def test_what_cannot_go_on_is_not_accepted(log: Path, name: str) -> None:
    CASES[name][0](log)
    before = files(log)
    ended = run("doctor", log, "--accept", "--yes")
    assert ended.code == CASES[name][2]
    assert "accepted" in ended.err
    assert files(log) == before


def test_nothing_to_accept(log: Path) -> None:
    before = files(log)
    assert run("doctor", log, "--accept", "--yes").code == 0
    assert files(log) == before


def test_a_head_that_was_made_by_hand(log: Path) -> None:
    make_head(head_path(log), TreeHead(23, bytes(32)), 0)
    assert doctor(log).document["problems"][0]["code"] == "HEAD_DIFFERS"


@contextmanager
def _incidents(log: Path) -> Iterator[list[tuple[object, ...]]]:
    with duckdb.connect() as connection:
        connection.execute("ATTACH ? AS ours (READ_ONLY)", [str(log)])
        yield connection.execute(
            "SELECT accepted_at, finding, head_size, size, head_root, root FROM ours.log.incidents"
        ).fetchall()
