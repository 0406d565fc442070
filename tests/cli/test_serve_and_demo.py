"""`heptalog serve` and `heptalog demo`: a real server in its own process, started, used and stopped."""

import signal
import socket
from pathlib import Path

import pytest

from heptalog.replay.registry import NEWEST
from heptalog.service.client import Client
from tests.cli.given import bare, write
from tests.cli.running import WAIT_SECONDS, only, run, run_program, serving


def test_a_server_says_where_it_listens_and_ends_well(tmp_path: Path) -> None:
    with serving(tmp_path / "log.duckdb") as server:
        assert server.announced.startswith("listening on 127.0.0.1:")
        assert (tmp_path / "log.duckdb").exists()
        assert server.stopped() == 0


def test_what_is_recorded_is_there_when_it_has_stopped(tmp_path: Path, game: Path) -> None:
    database = tmp_path / "log.duckdb"
    with serving(database) as server:
        assert run("import", game, "--into", server.url).code == 0
        name = only(run("games", server.url, "--format", "jsonl").lines)["gameId"]
        assert run("verify", server.url, "--format", "json").document[0]["source"] == f"{server.url}#{name}"
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(WAIT_SECONDS) == 0
    assert run("diff", game, f"{database}#{name}").code == 0
    assert run("verify", database).code == 0


def test_the_port_is_the_one_asked_for_and_only_one_server_has_it(tmp_path: Path) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        ended = run_program("serve", tmp_path / "log.duckdb", "--port", bound.getsockname()[1])
    assert (ended.code, ended.out) == (3, "")
    assert "[PORT_IN_USE]" in ended.err
    assert ended.err.count("\n") == 1


def test_only_loopback_may_be_listened_on(tmp_path: Path) -> None:
    ended = run_program("serve", tmp_path / "log.duckdb", "--host", "0.0.0.0", "--port", 0)
    assert (ended.code, ended.out) == (3, "")
    assert "loopback" in ended.err


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    assert run_program("serve", tmp_path, "--port", 0).code == 3


def test_a_game_is_recorded_move_by_move_and_seen_from_outside(tmp_path: Path) -> None:
    with serving(tmp_path / "log.duckdb", "--no-tables") as server:
        path = write(tmp_path / "game.jsonl", bare(length=12))
        assert run("import", path, "--into", server.url).code == 0
        name = only(run("games", server.url, "--format", "jsonl").lines)["gameId"]
        with Client(server.announced.split()[-1]) as client:
            recorder = client.resume(name)
            move = next(iter(client.legal(name)))
            recorder.append(move)
        assert len(run("replay", f"{server.url}#{name}", "--format", "jsonl").lines) == 13
        assert run("show", f"{server.url}#{name}", "--as", "public").code == 0
        assert run("diff", path, f"{server.url}#{name}").code == 1


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demonstration printed, and where it left its database."""
    folder = tmp_path_factory.mktemp("demo")
    ended = run_program("demo", "--out", folder)
    assert ended.code == 0, ended.err
    return ended.out, folder


def test_the_demonstration_does_the_main_job(shown: tuple[str, Path]) -> None:
    out, folder = shown
    for command in ("games", "replay", "verify", "diff", "export", "sql"):
        assert f"$ heptalog {command} " in out
    assert out.count("ok   grpc://") == len(NEWEST)
    assert "The games are the same." in out
    rows = run("sql", folder / "demo.duckdb", "SELECT ruleset, status FROM games", "--format", "json").document
    assert sorted(row["ruleset"] for row in rows) == sorted(NEWEST)
    assert {row["status"] for row in rows} == {"WON"}


def test_the_demonstration_can_be_shown_again(shown: tuple[str, Path]) -> None:
    _, folder = shown
    key = (folder / "demo.key").read_bytes()
    ended = run_program("demo", "--out", folder, "--seed", 8)
    assert ended.code == 0
    assert "There was a demonstration here before: its games stay" in ended.out
    assert f"with the key that is there, {folder / 'demo.key'}" in ended.out
    assert (folder / "demo.key").read_bytes() == key
    assert len(run("games", folder / "demo.duckdb", "--format", "jsonl").lines) == 2 * len(NEWEST)
