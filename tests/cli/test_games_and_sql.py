"""`heptalog games` and `heptalog sql`: lists and questions, and what may not be asked."""

import csv
import json
import os
import re
import subprocess
from io import StringIO
from pathlib import Path

import pytest

from heptalog.replay.registry import NEWEST
from tests.cli.given import BRIDGE, ROCKS, UP, bad, bare, changed, folder_of_games, write
from tests.cli.running import PROGRAM, only, run, run_program
from tests.support.play import EVENT_COUNT_MAX


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A folder with a game of each kind: one won, one closed by the arbiter, one that goes on."""
    closing = json.dumps({"sequence": 10, "gameClosed": {"winners": [1]}}).encode()
    write(tmp_path / "games" / "bridge.jsonl", [*bare(BRIDGE, length=10), closing])
    write(tmp_path / "games" / "rocks.jsonl", bare(ROCKS, length=20))
    lines = bare(UP, 3, length=EVENT_COUNT_MAX)
    cup = changed(lines[0], lambda tree: tree["gameStarted"].update(tournament="Cup", table="7"))
    write(tmp_path / "games" / "up.jsonl", [cup, *lines[1:]])
    return tmp_path / "games"


@pytest.fixture(params=["folder", "database", "server"])
def source(request: pytest.FixtureRequest, games: Path, tmp_path: Path) -> str:
    """Those games, somewhere."""
    if request.param == "folder":
        return str(games)
    into = str(tmp_path / "log.duckdb") if request.param == "database" else request.getfixturevalue("server")
    assert run("import", games, "--into", into).code == 0
    return str(into)


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
    assert text.splitlines()[0].split() == [
        *("game", "ruleset", "players", "status", "events", "scores", "winners", "created"),
    ]
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


@pytest.fixture
def log(games: Path, tmp_path: Path) -> Path:
    """Those games in a database."""
    path = tmp_path / "log.duckdb"
    assert run("import", games, "--into", path).code == 0
    return path


QUESTION = "SELECT ruleset, events, status FROM games ORDER BY ruleset"


def test_a_question_is_answered_in_every_form(log: Path) -> None:
    rows = run("sql", log, QUESTION, "--format", "json").document
    assert [(row["ruleset"], row["status"]) for row in rows] == [
        ("seven_bridge", "CLOSED"),
        ("seven_rocks", "RUNNING"),
        ("seven_up", "WON"),
    ]
    assert run("sql", log, QUESTION, "--format", "jsonl").lines == rows
    read = list(csv.DictReader(StringIO(run("sql", log, QUESTION, "--format", "csv").out)))
    assert read == [{name: str(value) for name, value in row.items()} for row in rows]
    text = run("sql", log, QUESTION).out.splitlines()
    assert text[0].split() == ["ruleset", "events", "status"]
    assert [line.split() for line in text[2:]] == [[str(value) for value in row.values()] for row in rows]


def test_values_of_every_kind_come_out(log: Path) -> None:
    question = (
        "SELECT NULL AS a, true AS b, 170141183460469231731687303715884105727::HUGEINT AS c, 1.50::DECIMAL(9, 2) AS d, "
        "'x\x01'::BLOB AS e, TIMESTAMPTZ '2026-01-31 12:00:00+01' AS f, [1, 2] AS g, {'h': 'i'} AS h, "
        "DATE '2026-01-31' AS i, 'nan'::DOUBLE AS j, '' AS k, 1 AS k, '七' AS m"
    )
    row = only(run("sql", log, question, "--format", "json").document)
    assert row == {
        "a": None,
        "b": True,
        "c": 170141183460469231731687303715884105727,
        "d": 1.5,
        "e": "7801",
        "f": "2026-01-31T11:00:00Z",
        "g": [1, 2],
        "h": {"h": "i"},
        "i": "2026-01-31",
        "j": None,
        "k": "",
        "k_2": 1,
        "m": "七",
    }
    for format_ in ("text", "csv"):
        out = run("sql", log, question, "--format", format_).out
        assert "2026-01-31 11:00:00" in out
        assert "七" in out


ODD = (
    "SELECT E'a\\r\\nb,\"c' AS a, NULL AS b, '' AS c, ['x' || chr(8238) || 'y'] AS d, E'p\\rq' AS \"e\\f\", ' g ' AS g"
)


def test_csv_is_faithful(log: Path) -> None:
    # Whoever reads it as text would make one newline of two characters.
    done = subprocess.run([PROGRAM, "sql", log, ODD, "--format", "csv"], capture_output=True, check=True)
    out = done.stdout.decode()
    assert out.count("\n") == 3
    (row,) = csv.DictReader(StringIO(out, newline=""))
    assert row == {"a": 'a\r\nb,"c', "b": "", "c": "", "d": '["x\u202ey"]', "e\\f": "p\rq", "g": " g "}
    assert ',,"",' in out
    assert run("sql", log, "SELECT NULL AS a", "--format", "csv").out == 'a\n""\n'


def test_text_does_nothing_to_a_terminal(log: Path) -> None:
    out = run("sql", log, ODD + ", E'\\x1b[2J' AS \"\x1b[2J\"").out
    assert out.count("\n") == 3
    assert all(character.isprintable() or character == "\n" for character in out)
    assert '["x\\u202ey"]' in out


def test_the_name_of_a_game_is_never_broken(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [line["game"] for line in run("games", log, "--format", "jsonl").lines]
    for width in (80, 40, 10):
        monkeypatch.setattr("heptalog.cli.output._WIDTH_OF_A_PIPE", width)
        lines = run("games", log).out.splitlines()
        assert [line.split()[0] for line in lines if line[:1] not in (" ", "")][2:] == names
        if width == 80:
            assert max(map(len, lines)) <= width


def test_no_row_is_no_error(log: Path) -> None:
    question = "SELECT game_id FROM games WHERE events < 0"
    assert run("sql", log, question).out.splitlines()[0] == "game_id"
    assert run("sql", log, question, "--format", "json").document == []
    assert run("sql", log, question, "--format", "csv").out == "game_id\n"


def test_a_long_answer_is_cut_for_people_only(log: Path) -> None:
    question = "SELECT range AS n FROM range(2500)"
    text = run("sql", log, question)
    assert len(text.out.splitlines()) == 1002
    assert "the first 1,000 rows" in text.err
    assert len(run("sql", log, question, "--format", "jsonl").lines) == 2500


@pytest.mark.parametrize(
    "question",
    [
        "",
        ";",
        "SELEC 1",
        "SELECT nothing FROM games",
        "SELECT * FROM nowhere",
        "SELECT 1; SELECT 2",
        "DELETE FROM log.events",
        "INSERT INTO log.migrations VALUES (9, 'x', now())",
        "CREATE TABLE t (i INT)",
        "CREATE TEMP TABLE t (i INT)",
        "DROP VIEW games",
        "COPY (SELECT 1) TO 'out.csv'",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "CHECKPOINT",
        "connect 'x'",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT 'x'::INT",
        "SELECT error('stop')",
    ],
)
def test_what_may_not_be_asked_is_wrong_use(question: str, log: Path, tmp_path: Path) -> None:
    before = log.read_bytes()
    ended = run("sql", log, question)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert log.read_bytes() == before
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("sql", "{}/x.duckdb", "SELECT 1"),
        ("serve", "{}/x.duckdb", "--port", "0"),
        ("demo", "--into", "{}/x"),
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
    names = [line["game"] for line in run("games", log, "--format", "jsonl").lines]
    assert len(names) == len(set(names)) > 100
    assert run("games", log, "--limit", "5", "--format", "jsonl").lines[4]["game"] == names[4]
