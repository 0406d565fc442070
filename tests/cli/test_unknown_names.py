"""A name that there is not: every command ends the same way, says what there is, and leaves nothing behind."""

from pathlib import Path
from typing import Final

import pytest

from tests.cli.given import BRIDGE, bare, whole, write
from tests.cli.running import run

NOWHERE: Final = "grpc://127.0.0.1:1"
# Commands on one game, as they are called; GAME stands for its name and OUT for a file that is not there.
ON_ONE_GAME: Final[dict[str, tuple[str, ...]]] = {
    "show": ("GAME",),
    "replay": ("GAME",),
    "legal": ("GAME",),
    "games": ("GAME",),
    "verify": ("GAME",),
    "export": ("GAME", "--out", "OUT"),
    "diff": ("GAME", "GAME"),
    "diff under options": ("GAME", "--options", "target=9"),
    "bundle": ("GAME", "--out", "OUT"),
    "reveal": ("GAME", "--seat", "0", "--out", "OUT"),
    "append": ("GAME", "noteAdded", "text=x", "--after", "59"),
}
# What is kept somewhere and is not there.
ABSENT: Final = {
    "game": ("LOG#nobody", "GAME_NOT_FOUND"),
    "game of an odd name": ("LOG#../a b/é", "GAME_NOT_FOUND"),
    "database": ("NONE.duckdb#game", "SOURCE_NOT_FOUND"),
    "server": (f"{NOWHERE}#game", "SERVER_UNREACHABLE"),
}
# What a program or a game has of its own: what is asked, and the words that say what there is.
UNKNOWN: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "seat of legal": (("legal", "GAME", "--seat", "9"), "seats 0 to 3"),
    "seat of reveal": (("reveal", "GAME", "--seat", "9"), "seats 0 to 3"),
    "viewer of show": (("show", "GAME", "--as", "seat:9"), "seats 0 to 3"),
    "player of show": (("show", "GAME", "--as", "Nobody"), "0 Player 0, 1 Player 1"),
    "player of replay": (("replay", "GAME", "--as", "Nobody"), "0 Player 0, 1 Player 1"),
    "player of legal": (("legal", "GAME", "--as", "Nobody"), "0 Player 0, 1 Player 1"),
    "player of export": (("export", "GAME", "--as", "Nobody", "--out", "OUT"), "0 Player 0, 1 Player 1"),
    "player of bundle": (("bundle", "GAME", "--as", "Nobody", "--out", "OUT"), "0 Player 0, 1 Player 1"),
    "player of reveal": (("reveal", "GAME", "--seat", "Nobody", "--out", "OUT"), "0 Player 0, 1 Player 1"),
    "round of reveal": (
        ("reveal", "GAME", "--seat", "1", "--round", "50", "--out", "OUT"),
        "the game has the rounds 1 to 2",
    ),
    "event of show": (("show", "GAME", "--at", "999"), "its last is 59"),
    "event of replay": (("replay", "GAME", "--at", "999"), "its last is 59"),
    "event of legal": (("legal", "GAME", "--at", "999"), "its last is 59"),
    "option": (("diff", "GAME", "--options", "targt=9"), "did you mean target?"),
    "kind of event": (("append", "GAME", "notAdded", "text=x", "--after", "59"), "noteAdded"),
    "rules of games": (("games", "LOG", "--ruleset", "chess"), "seven_rocks, seven_up, seven_bridge"),
    "rules of simulate": (("simulate", "OUT.duckdb", "--games", "1", "--ruleset", "chess"), "seven_rocks, seven_up"),
    "view": (("views", "standing"), "standings"),
    "table": (("sql", "LOG", "SELECT * FROM gmaes"), "did you mean games?, character 15 "),
    "column": (("sql", "LOG", "SELECT statu FROM games"), "did you mean status?, character 8 "),
}


def called(words: tuple[str, ...], log: Path, out: Path, name: str) -> list[str]:
    """The words of a command with what they stand for."""
    named = {"GAME": name, "LOG": str(log), "OUT": str(out), "OUT.duckdb": f"{out}.duckdb"}
    return [named.get(word, word) for word in words]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one game of 60 events, and tables that were made."""
    folder = tmp_path_factory.mktemp("names")
    path = folder / "log.duckdb"
    assert run("import", write(folder / "game.jsonl", whole()), "--into", path).code == 0
    assert run("sql", path, "SELECT 1").code == 0
    return path


@pytest.mark.parametrize("kind", ABSENT)
@pytest.mark.parametrize("command", ON_ONE_GAME)
def test_what_is_kept_somewhere_and_is_not_there_is_three(command: str, kind: str, log: Path, tmp_path: Path) -> None:
    name, code = ABSENT[kind]
    name = name.replace("LOG", str(log)).replace("NONE", str(tmp_path / "none"))
    ended = run(command.split()[0], *called(ON_ONE_GAME[command], log, tmp_path / "out", name))
    assert ended.code == 3, ended
    assert f"[{code}]" in ended.out + ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["show", "replay", "legal", "bundle", "reveal", "diff", "export"])
def test_a_database_that_is_missing_is_three_also_without_a_game(command: str, tmp_path: Path) -> None:
    words = called(ON_ONE_GAME[command], tmp_path, tmp_path / "out", str(tmp_path / "none.duckdb"))
    ended = run(command, *words)
    assert (ended.code, ended.out) == (3, "")
    assert "[SOURCE_NOT_FOUND]" in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_a_program_or_a_game_has_of_its_own_is_two_and_told(name: str, log: Path, tmp_path: Path) -> None:
    words, told = UNKNOWN[name]
    ended = run(*called(words, log, tmp_path / "out", f"{log}#game"))
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended
    assert told in ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_filter_that_nothing_fits_is_fine(log: Path) -> None:
    ended = run("games", log, "--player", "nobody")
    assert (ended.code, ended.out, ended.err) == (0, "", "heptalog: no game fits\n")


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("passTokens=x", "passTokens is a whole number from 0 to 52"),
        ("passTokens=-1", "passTokens is a whole number from 0 to 52"),
        ("passTokens=53", "passTokens is a whole number from 0 to 52"),
        ("rounds=1e9", "rounds is a whole number from 1 to 1000"),
        ("jokers=1", "jokers is 0 or 2"),
        ("openingSeven=9X", "openingSeven is 7D or 7H"),
        ("scoring=WORST", "scoring is VALUES or COUNT"),
        ("ghosts=maybe", "ghosts is true or false"),
        ("fanTan=3", "fanTan is true or false"),
        ("limit", "an option is given as NAME=VALUE; limit is a whole number from 0 to 100000"),
    ],
)
def test_an_option_is_told_by_its_name_and_what_it_may_be(option: str, told: str, tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(BRIDGE))
    ended = run("diff", path, "--options", option)
    assert (ended.code, ended.out, ended.err) == (2, "", f"heptalog: --options {option}: {told}\n")


def test_a_value_of_a_few_is_taken_in_any_case(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(BRIDGE))
    ended = run("diff", path, "--options", "scoring=count", "--format", "json")
    assert ended.document["options"]["right"]["scoring"] == "COUNT"


@pytest.mark.parametrize("name", ["http://example.org/log", "grpc://log", "#log", "log\x7f", "my log", "a+b", ""])
def test_a_key_with_a_name_that_none_should_have_is_not_made(name: str, tmp_path: Path) -> None:
    ended = run("keygen", name, "--out", tmp_path / "key", "--public", tmp_path / "key.pub")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.endswith("[KEY_INVALID]\n")
    assert list(tmp_path.iterdir()) == []


def test_a_public_key_signs_nothing_and_is_not_passed_over(log: Path, tmp_path: Path) -> None:
    key, public, out = tmp_path / "key", tmp_path / "key.pub", tmp_path / "out"
    assert run("keygen", "example.org/log", "--out", key, "--public", public).code == 0
    for command in (
        ("bundle", f"{log}#game", "--key", public, "--out", out),
        ("checkpoint", log, "--fresh", "--key", public),
    ):
        ended = run(*command)
        assert (ended.code, ended.out) == (2, "")
        assert "a private key is needed here, and this is a public one, " in ended.err
        assert "[KEY_INVALID]" in ended.err
    assert not out.exists()


@pytest.mark.parametrize("source", ["NONE", "BINARY", "EMPTY", NOWHERE])
def test_an_export_of_what_cannot_be_read_leaves_no_folder(source: str, tmp_path: Path) -> None:
    (tmp_path / "binary.duckdb").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "empty.duckdb").touch()
    name = source if source == NOWHERE else str(tmp_path / f"{source.lower()}.duckdb")
    before = sorted(tmp_path.iterdir())
    ended = run("export", name, "--out", tmp_path / "out")
    assert (ended.code, ended.out) == (3, "")
    assert sorted(tmp_path.iterdir()) == before


def test_a_server_is_not_started_over_one_game(tmp_path: Path) -> None:
    ended = run("serve", f"{tmp_path}/log.duckdb#game", "--port", "0")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith("#game: name a database, without a game\n")
    assert list(tmp_path.iterdir()) == []


def test_two_bad_games_are_the_same_only_as_far_as_they_are_good(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_bytes(b"")
    ended = run("diff", path, path)
    assert ended.code == 1
    assert "The games are the same as far as they are good.\n" in ended.out
