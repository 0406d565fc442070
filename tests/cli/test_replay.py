"""`heptalog replay`: one line an event, what is asked for of them, and what came before a fault."""

import json
import subprocess
from pathlib import Path

import pytest

from heptalog.cli.exits import UNHEARD
from heptalog.replay.gamefile import read_events
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import AnyRules
from tests.cli.given import ROCKS, UP, bad, bare, without_secrets, write
from tests.cli.running import PROGRAM, WAIT_SECONDS, run, run_program

FIELDS = ["sequence", "scores", "toAct", "round", "over", "winners"]


def test_every_field_is_always_written(game: Path) -> None:
    ended = run("replay", game, "--format", "jsonl")
    assert ended.code == 0
    assert [line["sequence"] for line in ended.lines] == list(range(60))
    assert {tuple(line) for line in ended.lines} == {tuple(FIELDS)}


def test_json_is_one_document_of_the_same_objects(game: Path) -> None:
    assert run("replay", game, "--format", "json").document == run("replay", game, "--format", "jsonl").lines


def test_outcomes_are_added_on_demand(game: Path) -> None:
    lines = run("replay", game, "--format", "jsonl", "--outcomes").lines
    assert lines[0]["event"] == "gameStarted"
    outcomes = [outcome for line in lines for outcome in line["outcomes"]]
    assert [outcome["number"] for outcome in outcomes if outcome["outcome"] == "trickWon"][:2] == [1, 2]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_text_is_one_readable_line_an_event_and_the_table_at_the_end(rules: AnyRules, tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(rules, 5, length=400, with_rulings=True))
    ended = run("replay", path)
    assert ended.code == 0
    numbered = [line for line in ended.out.splitlines() if line[:5].strip().isdigit()]
    with path.open("rb") as file:
        assert len(numbered) == len(list(read_events(file)))
    assert "Player 0" in ended.out


def test_a_part_begins_and_ends_where_it_is_told(game: Path) -> None:
    lines = run("replay", game, "--format", "jsonl", "--from", 3, "--to", 5).lines
    assert [line["sequence"] for line in lines] == [3, 4, 5]
    assert [line["sequence"] for line in run("replay", game, "--format", "jsonl", "--at", 4).lines] == [4]
    text = run("replay", game, "--at", 4).out
    assert text.startswith("    4  ")
    assert "Round 1" in text


def test_what_comes_after_a_part_is_not_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bad(bare(length=8)))
    assert run("replay", path, "--to", 7).code == 0
    assert run("replay", path, "--to", 8).code == 1


@pytest.mark.parametrize(
    "options", [("--at", 60), ("--from", 60), ("--from", 5, "--to", 4), ("--at", 3, "--to", 4), ("--at", -1)]
)
def test_a_part_that_is_not_there_is_wrong_use(game: Path, options: tuple[object, ...]) -> None:
    ended = run("replay", game, *options)
    assert (ended.code, ended.out) == (2, "")


def test_what_was_good_is_written_before_the_finding(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bad(bare(length=9)))
    ended = run("replay", path, "--format", "jsonl")
    assert ended.code == 1
    assert [line["sequence"] for line in ended.lines] == list(range(9))
    assert ended.err == (
        f"heptalog: {path}: sequence 9: line 10: a game starts only once (game-file) [ALREADY_STARTED]\n"
    )
    assert len(run("replay", path, "--format", "json").document) == 9


def test_a_redacted_copy_is_replayed_up_to_what_is_missing(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", without_secrets())
    ended = run("replay", path, "--format", "jsonl")
    assert ended.code == 1
    assert [line["sequence"] for line in ended.lines] == [0, 1]
    assert "[VALUE_SEALED]" in ended.err


def test_text_from_outside_cannot_move_the_cursor(tmp_path: Path) -> None:
    lines = bare(UP, 2, length=5)
    note = {"sequence": 5, "noteAdded": {"text": "\x1b[2Jgone\nnext"}}
    path = write(tmp_path / "game.jsonl", [*lines, json.dumps(note).encode()])
    out = run("replay", path).out
    assert r"Remark: \x1b[2Jgone\nnext" in out
    assert "\x1b" not in out


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(ROCKS, 3, length=2_000))
    command: list[str | Path] = [PROGRAM, "replay", path, "--format", "jsonl", "--outcomes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(WAIT_SECONDS) == UNHEARD


def test_the_output_does_not_hang_on_the_hash_seed(game: Path) -> None:
    outs = {
        run_program("replay", game, "--format", "jsonl", "--outcomes", environment={"PYTHONHASHSEED": seed}).out
        for seed in ("1", "2", "3")
    }
    assert len(outs) == 1
