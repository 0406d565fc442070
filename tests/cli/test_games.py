"""`heptalog games`: lists of games, and what is no game."""

import os
import re
from pathlib import Path

import pytest

from heptalog.replay.registry import NEWEST
from tests.cli.given import bad, bare, folder_of_games, write
from tests.cli.running import only, run, run_program

HEADS = ["game", "ruleset", "players", "status", "events", "scores", "winners", "created"]


@pytest.fixture(params=["folder", "database", "server"])
def source(request: pytest.FixtureRequest, games: Path) -> str:
    """Those games, somewhere."""
    if request.param == "folder":
        return str(games)
    if request.param == "database":
        return str(request.getfixturevalue("log"))
    server: str = request.getfixturevalue("server")
    assert run("import", games, "--into", server).code == 0
    return server


def listed(source: str, *options: str) -> list[str]:
    """The kinds of the games that fit."""
    ended = run("games", source, "--format", "jsonl", *options)
    assert ended.code == 0
    return sorted(line["ruleset"] for line in ended.lines)


def test_a_list_says_what_each_game_is(source: str) -> None:
    rows = run("games", source, "--results", "--format", "json").document
    up = only(rows, lambda row: row["ruleset"] == "seven_up")
    assert (up["tournament"], up["table"], up["status"]) == ("Cup", "7", "WON")
    assert [player["id"] for player in up["players"]] == ["p0", "p1", "p2", "p3"]
    assert up["winners"]
    closed = only(rows, lambda row: row["ruleset"] == "seven_bridge")
    assert (closed["status"], closed["events"], closed["winners"]) == ("CLOSED", 11, [1])
    assert only(rows, lambda row: row["ruleset"] == "seven_rocks")["status"] == "RUNNING"
    text = run("games", source, "--results").out
    assert text.splitlines()[0].split() == HEADS
    assert len(text.splitlines()) == 5
    # People read seconds, programs what was recorded.
    times = [f"{row['createdAt'][:19]}Z" for row in rows if row["createdAt"]]
    assert sorted(re.findall(r"\S+Z$", text, re.MULTILINE)) == sorted(times)


def test_what_nobody_looked_for_has_no_columns(source: str) -> None:
    heads = run("games", source).out.splitlines()[0].split()
    is_replayed = Path(source).is_dir()
    assert [name in heads for name in ("status", "scores", "winners")] == [True, is_replayed, is_replayed]


def test_a_list_is_cut_down_by_every_filter(source: str) -> None:
    assert listed(source) == ["seven_bridge", "seven_rocks", "seven_up"]
    assert listed(source, "--ruleset", "seven_rocks") == ["seven_rocks"]
    assert listed(source, "--tournament", "Cup") == ["seven_up"]
    assert listed(source, "--status", "closed") == ["seven_bridge"]
    assert listed(source, "--status", "running", "--player", "p3") == ["seven_rocks"]
    assert listed(source, "--player", "nobody") == []
    assert len(listed(source, "--limit", "2")) == 2


def test_a_player_is_found_by_id_or_by_whole_name(source: str) -> None:
    everything = run("games", source, "--format", "jsonl").lines
    for row in everything:
        for player in row["players"]:
            for text in filter(None, (player["id"], player["name"])):
                fitting = [
                    other["ruleset"]
                    for other in everything
                    if any(text in (each["id"], each["name"]) for each in other["players"])
                ]
                assert listed(source, "--player", text) == sorted(fitting)
    assert any(player["name"] not in ("", player["id"]) for row in everything for player in row["players"])
    assert listed(source, "--player", "Player") == []


def test_what_is_one_of_a_few_is_taken_in_any_case(source: str) -> None:
    assert listed(source, "--status", "CLOSED") == listed(source, "--status", "Closed") == ["seven_bridge"]
    for text in ("Seven Up", "seven-up", "SEVENUP", "sevenUp"):
        assert listed(source, "--ruleset", text) == ["seven_up"]
    assert run("games", source, "--format", "JSONL").lines


def test_no_game_is_no_error(source: str) -> None:
    ended = run("games", source, "--player", "nobody")
    assert (ended.code, ended.out) == (0, "")
    assert "no game fits" in ended.err


def test_a_filter_that_is_none_is_wrong_use(games: Path) -> None:
    for options in (("--ruleset", "chess"), ("--status", "lost"), ("--limit", "0")):
        assert run("games", games, *options).code == 2


@pytest.mark.parametrize("key", sorted(NEWEST))
def test_every_game_of_the_registry_can_be_asked_for(key: str, games: Path) -> None:
    ended = run("games", games, "--ruleset", key, "--format", "jsonl")
    assert ended.code == 0
    assert {line["ruleset"] for line in ended.lines} <= {key}


def test_a_ruleset_that_is_none_is_told_which_there_are(games: Path) -> None:
    ended = run("games", games, "--ruleset", "chess")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"heptalog: --ruleset chess: the games are {', '.join(NEWEST)}\n"


def test_a_bad_game_is_told_and_the_others_are_listed(games: Path) -> None:
    write(games / "wrong.jsonl", bad(bare()))
    ended = run("games", games, "--format", "jsonl")
    assert ended.code == 1
    assert len(ended.lines) == 3
    assert "[ALREADY_STARTED]" in ended.err


def test_the_name_of_a_game_is_never_broken(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [line["gameId"] for line in run("games", log, "--format", "jsonl").lines]
    for width in (40, 10):
        monkeypatch.setattr("heptalog.cli.wordtables.terminal_width", lambda width=width: width)
        lines = run("games", log).out.splitlines()
        assert [line.split()[1] for line in lines if line.startswith("  game ")] == names


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200, None])
def test_no_word_is_broken_and_a_pipe_has_everything(
    log: Path, monkeypatch: pytest.MonkeyPatch, width: int | None
) -> None:
    rows = run("games", log, "--results", "--format", "jsonl").lines
    monkeypatch.setattr("heptalog.cli.wordtables.terminal_width", lambda: width)
    out = run("games", log, "--results").out
    lines = out.splitlines()
    for row in rows:
        names = [player["name"] or player["id"] for player in row["players"]]
        words = {row["gameId"], row["status"].lower(), *" ".join(names).split(), *map(str, row["scores"])}
        assert words <= {word.rstrip(",") for word in out.split()}
    if lines[0] == "row 1":
        # Then nothing is left out.
        assert lines.count("") == len(rows) - 1
        assert [line.split()[0] for line in lines[1:9]] == HEADS
        return
    assert width is None or max(map(len, lines)) <= width
    assert [line.split()[0] for line in lines if line[:1] != " "][2:] == [row["gameId"] for row in rows]
    if width is None:
        assert (lines[0].split(), len(lines)) == (HEADS, 2 + len(rows))


@pytest.mark.parametrize(
    "arguments",
    [
        ("sql", "{}/x.duckdb", "SELECT 1"),
        ("serve", "{}/x.duckdb", "--port", "0"),
        ("demo", "--out", "{}/x"),
        ("games", "{}/x.duckdb"),
    ],
)
def test_what_cannot_be_opened_is_three_in_one_line(arguments: tuple[str, ...], game: Path) -> None:
    # Below an ordinary file there is nothing, and nothing can be made.
    ended = run_program(*(argument.format(game) for argument in arguments))
    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert str(game) in ended.err


@pytest.mark.skipif(os.geteuid() == 0, reason="who is root may read everything")
@pytest.mark.parametrize("arguments", [("sql", "{}", "SELECT 1"), ("serve", "{}", "--port", "0")])
def test_what_may_not_be_read_is_three(arguments: tuple[str, ...], log: Path) -> None:
    log.chmod(0)
    ended = run_program(*(argument.format(log) for argument in arguments))
    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)


def test_a_list_that_could_not_be_opened_is_not_called_empty(tmp_path: Path) -> None:
    for command in (("games",), ("sql",)):
        ended = run(*command, tmp_path / "no.duckdb", *(("SELECT 1",) if command == ("sql",) else ()))
        assert (ended.code, ended.err.count("\n")) == (3, 1)
        assert ended.err.endswith("[SOURCE_NOT_FOUND]\n")


def test_many_games_fill_more_than_a_page(tmp_path: Path) -> None:
    log = tmp_path / "log.duckdb"
    assert run("import", folder_of_games(tmp_path / "games", 40), "--into", log).code == 0
    names = [line["gameId"] for line in run("games", log, "--format", "jsonl").lines]
    assert len(names) == len(set(names)) > 100
    assert run("games", log, "--limit", "5", "--format", "jsonl").lines[4]["gameId"] == names[4]
