"""Bad files of every kind: one clear finding with its line, the same to every command, and never a traceback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.given import bare, changed, write
from tests.cli.running import Ended, only, run

BODY: Final = b'"noteAdded":{"text":"x"}'
# What is wrong with a sixth line, after five good ones, and what is said of it.
LINES: Final[dict[str, tuple[bytes, str, int]]] = {
    "not JSON": (b"hello", "NOT_JSON", 5),
    "cut off": (b'{"sequence":5,"noteAdded":{"text":', "NOT_JSON", 5),
    "two values": (b'{"sequence":5,' + BODY + b"} {}", "NOT_JSON", 5),
    "a list": (b"[]", "NOT_JSON", 5),
    "not UTF-8": (b'{"sequence":5,"noteAdded":{"text":"\xff"}}', "NOT_UTF8", 5),
    "too deep": (b'{"sequence":5,"noteAdded":' + b"[" * 100_000, "NOT_JSON", 5),
    "no body": (b'{"sequence":5}', "BODY_MISSING", 5),
    "two bodies": (b'{"sequence":5,' + BODY + b',"turnPassed":{}}', "BODY_REPEATED", 5),
    "a null body": (b'{"sequence":5,"noteAdded":null}', "FIELD_INVALID", 5),
    "an unknown body": (b'{"sequence":5,"moonRisen":{}}', "FIELD_UNKNOWN", 5),
    "an unknown field": (b'{"sequence":5,"noteAdded":{"text":"x","size":1}}', "FIELD_UNKNOWN", 5),
    "a name twice": (b'{"sequence":5,"noteAdded":{"text":"x","text":"y"}}', "FIELD_REPEATED", 5),
    "an unknown enum value": (b'{"sequence":5,"trumpDecided":{"decision":"SLEEP"}}', "FIELD_INVALID", 5),
    "a numeric enum value": (b'{"sequence":5,"trumpDecided":{"decision":1}}', "FIELD_INVALID", 5),
    "a wrong type": (b'{"sequence":5,"noteAdded":{"text":7}}', "FIELD_INVALID", 5),
    "a huge number": (b'{"sequence":5,"turnPassed":{"seat":99999999999999999999999}}', "FIELD_INVALID", 5),
    "a negative seat": (b'{"sequence":5,"turnPassed":{"seat":-1}}', "FIELD_INVALID", 5),
    "a gap": (b'{"sequence":7,' + BODY + b"}", "SEQUENCE_GAP", 7),
    "a repeated sequence": (b'{"sequence":4,' + BODY + b"}", "SEQUENCE_GAP", 4),
    "a fault of form with its own sequence": (b'{"sequence":9,"noteAdded":{"text":7}}', "FIELD_INVALID", 9),
    "a byte-order mark inside": (b"\xef\xbb\xbf" + b'{"sequence":5,' + BODY + b"}", "BYTE_ORDER_MARK", 5),
    "a line too long": (b'{"sequence":5,"noteAdded":{"text":"' + b"x" * (1 << 20) + b'"}}', "LINE_TOO_LONG", 5),
    "an unknown seat": (b'{"sequence":5,"gameClosed":{"winners":[9]}}', "SEAT_UNKNOWN", 5),
}
COMMANDS: Final[dict[str, Callable[[Path], Ended]]] = {
    "replay": lambda path: run("replay", path, "--format", "jsonl"),
    "verify": lambda path: run("verify", path),
    "show": lambda path: run("show", path),
    "legal": lambda path: run("legal", path),
    "games": lambda path: run("games", path),
    "diff": lambda path: run("diff", path, path),
    "diff under options": lambda path: run("diff", path, "--options", "target=9"),
    "import": lambda path: run("import", path, "--into", path.with_suffix(".duckdb")),
}


@pytest.mark.parametrize("name", LINES)
def test_a_bad_line_is_told_with_its_line_and_its_sequence(name: str, tmp_path: Path) -> None:
    line, code, sequence = LINES[name]
    path = write(tmp_path / "game.jsonl", [*bare(length=5), line])
    ended = run("verify", path, "--format", "json")
    assert ended.code == 1
    verdict = only(ended.document)
    assert (verdict["code"], verdict["sequence"], verdict["events"]) == (code, sequence, 5)
    assert verdict["message"].startswith("line 6: ")
    assert "\n" not in verdict["message"]
    assert len(verdict["message"]) < 400


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["not JSON", "two bodies", "a gap", "an unknown seat"])
def test_every_command_says_the_same_of_it(command: str, name: str, tmp_path: Path) -> None:
    line, code, sequence = LINES[name]
    path = write(tmp_path / "game.jsonl", [*bare(length=5), line])
    ended = COMMANDS[command](path)
    assert ended.code == 1
    assert f"{path}: sequence {sequence}: line 6: " in ended.err + ended.out
    assert f"[{code}]" in ended.err + ended.out
    assert not path.with_suffix(".duckdb").exists(), "a bad game makes no database"


def test_an_empty_file_is_a_bad_game(tmp_path: Path) -> None:
    for content in (b"", b"\n\n", b"  \r\n"):
        path = tmp_path / "game.jsonl"
        path.write_bytes(content)
        ended = run("verify", path, "--format", "json")
        assert (ended.code, only(ended.document)["code"], only(ended.document)["events"]) == (1, "GAME_EMPTY", 0)


def test_a_blank_line_inside_is_refused_and_one_at_the_end_is_not(tmp_path: Path) -> None:
    lines = bare(length=5)
    assert run("verify", write(tmp_path / "end.jsonl", [*lines, b"", b""])).code == 0
    ended = run("verify", write(tmp_path / "inside.jsonl", [*lines[:3], b"", *lines[3:]]), "--format", "json")
    assert (ended.code, only(ended.document)["code"]) == (1, "LINE_BLANK")
    assert only(ended.document)["message"].startswith("line 4: ")


def test_a_byte_order_mark_is_refused_and_crlf_is_not(tmp_path: Path) -> None:
    lines = bare(length=5)
    assert run("verify", write(tmp_path / "crlf.jsonl", [line + b"\r" for line in lines])).code == 0
    assert run("verify", write(tmp_path / "end.jsonl", [])).code == 1
    (tmp_path / "bare.jsonl").write_bytes(b"\n".join(lines))
    assert run("verify", tmp_path / "bare.jsonl").code == 0
    ended = run("verify", write(tmp_path / "mark.jsonl", [b"\xef\xbb\xbf" + lines[0], *lines[1:]]), "--format", "json")
    assert (ended.code, only(ended.document)["code"]) == (1, "BYTE_ORDER_MARK")


def test_a_line_of_a_gigabyte_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    with path.open("wb") as file:
        file.write(b'{"sequence":0,"noteAdded":{"text":"')
        file.truncate(1 << 30)
    for command in ("verify", "replay"):
        ended = run(command, path)
        assert ended.code == 1
        assert "LINE_TOO_LONG" in ended.out + ended.err


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda tree: tree["gameStarted"].update(sevenUp={"target": 0}), "OPTION_OUT_OF_RANGE"),
        (lambda tree: tree["gameStarted"].update(rulesVersion=99), "RULESET_UNKNOWN"),
        (lambda tree: tree["gameStarted"].update(sevenRocks={}), "FIELD_INVALID"),
        (lambda tree: tree["gameStarted"].pop("sevenUp"), "FIELD_INVALID"),
        (lambda tree: tree["gameStarted"].update(players=[]), "PLAYERS_INVALID"),
        (
            lambda tree: tree["gameStarted"]["players"][1].update(id=tree["gameStarted"]["players"][0]["id"]),
            "PLAYERS_INVALID",
        ),
        (lambda tree: tree.update(occurredAt="yesterday"), "FIELD_INVALID"),
    ],
)
def test_a_bad_start_is_told_at_its_first_line(
    change: Callable[[dict[str, Any]], Any], code: str, tmp_path: Path
) -> None:
    lines = bare(length=5)
    path = write(tmp_path / "game.jsonl", [changed(lines[0], change), *lines[1:]])
    verdict = only(run("verify", path, "--format", "json").document)
    assert (verdict["code"], verdict["sequence"], verdict["events"]) == (code, 0, 0)
    assert verdict["message"].startswith("line 1: ")
