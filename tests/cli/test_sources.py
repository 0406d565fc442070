"""How games are named, and what is said where one cannot be opened or reached."""

import socket
from pathlib import Path

import pytest

from heptalog.service.store.duck import DuckStore
from tests.cli.given import bare, folder_of_games, whole, write
from tests.cli.running import Ended, only, run, run_program, serving

COMMANDS = ("replay", "show", "legal", "export", "verify", "games")


def of_game(command: str, name: object) -> Ended:
    """A command on one game."""
    return run(command, name)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_missing_is_three(command: str, tmp_path: Path, database: Path) -> None:
    missing = {
        str(tmp_path / "no.jsonl"): "SOURCE_NOT_FOUND",
        f"{tmp_path / 'no.duckdb'}#game": "SOURCE_NOT_FOUND",
        f"{database}#nobody": "GAME_NOT_FOUND",
    }
    for name, code in missing.items():
        ended = of_game(command, name)
        assert ended.code == 3
        assert f"[{code}]" in ended.out + ended.err
    for command_on_all in ("verify", "games"):
        assert run(command_on_all, tmp_path / "no.duckdb").code == 3


@pytest.mark.parametrize("command", ["replay", "show", "legal"])
def test_one_game_must_be_named(command: str, tmp_path: Path, database: Path) -> None:
    assert of_game(command, database).code == 2
    assert of_game(command, "grpc://127.0.0.1:1").code == 2
    assert of_game(command, tmp_path).code == 3


@pytest.mark.parametrize(
    "name",
    [
        "grpc://",
        "grpc://host",
        "grpc://host:0",
        "grpc://host:99999",
        "grpc://:1#g",
        "grpc://host:1#",
        "grpc://::1:7#g",
        "",
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_that_is_none_is_wrong_use(command: str, name: str) -> None:
    ended = of_game(command, name)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_a_server_that_is_down_is_three_and_soon(command: str) -> None:
    with socket.socket() as bound:
        # Bound and not listening: nobody else can take the port meanwhile.
        bound.bind(("127.0.0.1", 0))
        name = f"grpc://127.0.0.1:{bound.getsockname()[1]}#game"
        ended = of_game(command, name)
    assert ended.code == 3
    assert "[SERVER_UNREACHABLE]" in ended.err + ended.out
    assert "ipv4" not in ended.err + ended.out


def test_import_into_a_server_that_is_down_is_three(game: Path) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert run("import", game, "--into", f"grpc://127.0.0.1:{bound.getsockname()[1]}").code == 3


def test_a_number_sign_may_stand_in_the_name_of_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "round #1.jsonl", bare())
    assert run("verify", path).code == 0
    folder = tmp_path / "x.duckdb#1"
    assert run("import", path, "--into", write(folder / "a.jsonl", bare()).parent / "log.duckdb").code == 0
    game = only(run("games", folder / "log.duckdb", "--format", "jsonl").lines)["gameId"]
    assert run("verify", f"{folder / 'log.duckdb'}#{game}").code == 0


def test_a_game_id_may_have_a_number_sign(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", whole(game_id="cup#7/1"))
    assert run("import", path, "--into", tmp_path / "log.duckdb").code == 0
    assert run("diff", path, f"{tmp_path / 'log.duckdb'}#cup#7/1").code == 0


def test_a_database_by_another_name_is_known_by_its_content(game: Path, tmp_path: Path) -> None:
    assert run("import", game, "--into", tmp_path / "log").code == 0
    assert run("verify", tmp_path / "log").code == 0
    game_id = only(run("games", tmp_path / "log", "--format", "jsonl").lines)["gameId"]
    assert run("replay", f"{tmp_path / 'log'}#{game_id}").code == 0


def test_a_database_stands_for_all_its_games(tmp_path: Path, server: str) -> None:
    folder = folder_of_games(tmp_path / "games")
    for log in (tmp_path / "log.duckdb", server):
        assert run("import", folder, "--into", log).code == 0
        ended = run("verify", log, "--format", "jsonl")
        assert ended.code == 0
        games = [line["gameId"] for line in run("games", log, "--format", "jsonl").lines]
        assert [line["source"] for line in ended.lines] == [f"{log}#{game}" for game in games]


@pytest.mark.parametrize("content", [b"", b"hello", b"\0" * 20_000, b"\0" * 8 + b"DUCK" + b"\0" * 9_000])
def test_a_foreign_database_is_three_and_stays_as_it_is(content: bytes, tmp_path: Path, game: Path) -> None:
    path = tmp_path / "log.duckdb"
    path.write_bytes(content)
    for ended in (
        run("verify", path),
        run("games", path),
        run("replay", f"{path}#game"),
        run("sql", path, "SELECT 1"),
        run("import", game, "--into", path),
        run_program("serve", path, "--port", 0),
    ):
        assert ended.code == 3
        assert ".duckdb" in ended.out + ended.err
    assert path.read_bytes() == content


def test_a_truncated_database_is_no_traceback(database: Path, tmp_path: Path) -> None:
    whole_file = database.read_bytes()
    for size in (5_000, len(whole_file) // 2, len(whole_file) - 100):
        path = tmp_path / f"{size}.duckdb"
        path.write_bytes(whole_file[:size])
        for ended in (run("verify", path), run("games", path), run("sql", path, "SELECT count(*) FROM games")):
            # What was cut off may have been of no use.
            assert ended.code in (0, 1, 3)


def test_a_database_that_a_server_holds_is_locked(database: Path, game: Path) -> None:
    with serving(database, "--no-tables"):
        for ended in (
            run("verify", database),
            run("games", database),
            run("replay", f"{database}#game"),
            run("sql", database, "SELECT 1"),
            run("import", game, "--into", database),
            run_program("serve", database, "--port", 0),
        ):
            assert ended.code == 3
            assert "another process holds this database" in ended.out + ended.err


def test_readers_do_not_exclude_each_other(database: Path) -> None:
    store = DuckStore(database, is_read_only=True)
    try:
        assert run_program("verify", database).code == 0
    finally:
        store.close()
