"""A game that a newer version has gone on with, in a database and on a server: one clear word, and the others go on."""

from pathlib import Path

import pytest

from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from tests.cli.running import Ended, run
from tests.support.newer import NEWER, record_newer
from tests.support.serving import Service

WORD = "this was recorded by a newer version of Heptalog"


@pytest.fixture(params=[how for how in NEWER if how != "a field far within"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, int]:
    """A database with such a game between two others, and the sequence of the event."""
    path = tmp_path / "games.duckdb"
    store = DuckStore(path)
    at = record_newer(store, request.param)
    store.close()
    return path, at


def check_alone(ended: Ended, source: object, at: int) -> None:
    """Of three games the one in the middle cannot be read, and that is said once, at its place."""
    assert ended.code == 3
    assert [verdict["ok"] for verdict in ended.lines] == [True, False, True]
    verdict = ended.lines[1]
    assert (verdict["source"], verdict["code"]) == (f"{source}#game", "RECORD_NEWER")
    assert (verdict["sequence"], verdict["events"]) == (at, at)
    assert verdict["message"].startswith(WORD)


def test_verify_goes_on(log: tuple[Path, int]) -> None:
    path, at = log
    check_alone(run("verify", path, "--format", "jsonl"), path, at)
    text = run("verify", path)
    assert text.out.count(WORD) == 1
    assert "2 games good, 0 bad, 1 unread" in text.err


def test_verify_goes_on_in_many_processes(log: tuple[Path, int], monkeypatch: pytest.MonkeyPatch) -> None:
    path, at = log
    monkeypatch.setattr("heptalog.cli.spreading.SMALL_SIZE", 1)
    check_alone(run("verify", path, "--format", "jsonl", "--jobs", 2), path, at)


def test_what_comes_before_is_replayed(log: tuple[Path, int]) -> None:
    path, at = log
    ended = run("replay", f"{path}#game", "--format", "jsonl")
    assert (ended.code, len(ended.lines)) == (3, at)
    assert WORD in ended.err
    assert "[RECORD_NEWER]" in ended.err
    for arguments in (("export", f"{path}#game"), ("show", f"{path}#game"), ("legal", f"{path}#game")):
        ended = run(*arguments)
        assert (ended.code, ended.err.count("\n")) == (3, 1)
        assert WORD in ended.err
    assert run("diff", f"{path}#game", f"{path}#first").code == 3


def test_export_of_all_goes_on(log: tuple[Path, int], tmp_path: Path) -> None:
    path, _ = log
    ended = run("export", path, "--out", tmp_path / "out")
    assert ended.code == 3
    assert WORD in ended.err
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["first.jsonl", "last.jsonl"]


def test_games_are_listed_and_asked_for_in_sql(log: tuple[Path, int]) -> None:
    path, at = log
    listed = run("games", path, "--format", "jsonl")
    assert (listed.code, [row["gameId"] for row in listed.lines]) == (0, ["first", "game", "last"])
    replayed = run("games", path, "--results", "--format", "jsonl")
    assert (replayed.code, [row["gameId"] for row in replayed.lines]) == (3, ["first", "last"])
    assert WORD in replayed.err
    asked = run("sql", path, "SELECT count(*) AS n FROM games", "--format", "csv")
    # In the tables a game is as far as it can be read, and that it is not whole is told.
    assert (asked.code, asked.out.split()) == (0, ["n", "3" if at else "2"])
    assert "1 game" in asked.err


def test_no_events_are_brought_into_it_and_others_are(log: tuple[Path, int], tmp_path: Path) -> None:
    path, _ = log
    last, other = tmp_path / "last.jsonl", tmp_path / "other.jsonl"
    assert run("export", f"{path}#last", "--out", last).code == 0
    started = b'{"sequence":0,"gameId":"game","gameStarted":{"players":[{"id":"a"},{"id":"b"}],"sevenUp":{}}}\n'
    other.write_bytes(started)
    ended = run("import", other, last, "--into", path, "--format", "jsonl")
    assert ended.code == 3
    assert [(line["ok"], line["code"]) for line in ended.lines] == [(False, "RECORD_NEWER"), (True, None)]


def test_a_server_has_it_too() -> None:
    store = MemoryStore()
    at = record_newer(store, "a kind")
    with Service(store) as service:
        url = f"grpc://{service.target}"
        check_alone(run("verify", url, "--format", "jsonl"), url, at)
        assert run("replay", f"{url}#game").code == 3
        assert len(run("games", url, "--format", "jsonl").lines) == 3
