"""`heptalog diff`: where two games part, wherever they are, and one game under other options."""

import json
from pathlib import Path

import pytest

from heptalog.replay.events import CardPlayed, TurnPassed
from heptalog.replay.gamefile import read_events
from tests.cli.given import BRIDGE, bad, bare, changed, whole, without_secrets, write
from tests.cli.running import run


def noted(lines: list[bytes], text: str) -> list[bytes]:
    """A game with a remark at its end."""
    return [*lines, json.dumps({"sequence": len(lines), "noteAdded": {"text": text}}).encode()]


def test_a_game_is_the_same_as_itself(game: Path) -> None:
    ended = run("diff", game, game, "--format", "json")
    assert ended.code == 0
    document = ended.document
    assert (document["same"], document["event"], document["state"], document["result"]) == (True, None, None, [])
    assert "The games are the same." in run("diff", game, game).out


def test_the_first_event_that_differs_is_told_with_its_fields(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", noted(bare(length=9), "a"))
    other = write(tmp_path / "other.jsonl", noted(bare(length=9), "b"))
    ended = run("diff", one, other, "--format", "json")
    assert ended.code == 1
    assert ended.document["event"] == {"sequence": 9, "fields": [{"field": "text", "left": "a", "right": "b"}]}
    assert (ended.document["state"], ended.document["result"]) == (None, [])
    assert "First event that differs: 9 (noteAdded)" in run("diff", one, other).out


def test_a_game_that_ends_sooner_differs_there(tmp_path: Path) -> None:
    long = write(tmp_path / "long.jsonl", bare(length=30))
    short = write(tmp_path / "short.jsonl", bare(length=29))
    document = run("diff", long, short, "--format", "json").document
    assert document["event"]["sequence"] == 29
    assert document["event"]["fields"][0]["right"] is None
    assert {"field": "sequence", "left": 29, "right": 28} in document["result"]
    assert "nothing" in run("diff", long, short).out


def test_two_plays_of_one_deal_part_in_event_state_and_result(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", bare(seed=2))
    other = write(tmp_path / "other.jsonl", bare(seed=3))
    document = run("diff", one, other, "--format", "jsonl").lines[0]
    assert document["event"]["sequence"] <= document["state"]["sequence"]
    assert document["result"]
    text = run("diff", one, other).out
    assert "First state that differs: after event" in text
    assert "Result:" in text


def test_ids_times_seals_and_hashes_count_only_when_asked_for(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", whole(game_id="one"))
    other = write(tmp_path / "other.jsonl", whole(game_id="other"))
    plain = write(tmp_path / "plain.jsonl", bare())
    assert run("diff", one, other).code == 0
    assert run("diff", one, plain).code == 0
    ended = run("diff", one, other, "--envelope", "--format", "json")
    assert ended.code == 1
    fields = {field["field"] for field in ended.document["event"]["fields"]}
    assert {"gameId", "eventId", "hash"} <= fields


def test_a_bad_game_is_said_to_be_bad(tmp_path: Path, game: Path) -> None:
    wrong = write(tmp_path / "wrong.jsonl", bad(bare()))
    ended = run("diff", game, wrong, "--format", "json")
    assert ended.code == 1
    assert ended.document["right"]["code"] == "ALREADY_STARTED"
    assert ended.document["event"]["sequence"] == 60
    assert f"{wrong}: sequence 60" in ended.err
    assert run("diff", wrong, wrong).code == 1


def test_a_redacted_copy_is_the_same_where_its_hashes_are(tmp_path: Path) -> None:
    copy = write(tmp_path / "copy.jsonl", without_secrets())
    full = write(tmp_path / "full.jsonl", whole(length=30))
    ended = run("diff", full, copy, "--format", "json")
    assert (ended.code, ended.err) == (0, "")
    assert (ended.document["same"], ended.document["event"], ended.document["result"]) == (True, None, [])
    assert ended.document["right"]["code"] == "VALUE_SEALED"
    told = run("diff", full, copy).out.splitlines()
    assert told[1] == f"B  {copy}  30 events, redacted from event 2"
    assert told[3:] == [
        "The events are the same, by their hashes also what is left out.",
        "The states are the same as far as both go.",
        "The results cannot be compared: what led to them is left out.",
    ]


def test_a_redacted_copy_of_another_game_differs_in_its_hashes(tmp_path: Path) -> None:
    copy = write(tmp_path / "copy.jsonl", without_secrets())
    # The same moves under another name, so that nothing but the hashes tells them apart.
    other = write(tmp_path / "other.jsonl", whole(length=30, game_id="other"))
    ended = run("diff", other, copy, "--format", "json")
    assert (ended.code, ended.document["same"], ended.document["event"]["sequence"]) == (1, False, 0)
    assert [field["field"] for field in ended.document["event"]["fields"]] == ["hash"]
    assert "First event that differs: 0 (gameStarted)" in run("diff", other, copy).out


def test_as_many_events_are_told_as_were_good(tmp_path: Path, game: Path) -> None:
    wrong = write(tmp_path / "wrong.jsonl", bad(bare()))
    torn = write(tmp_path / "torn.jsonl", [*bare(length=9), b'{"sequence":'])
    for path in (wrong, torn):
        right = run("diff", game, path, "--format", "json").document["right"]
        told = run("diff", game, path).out.splitlines()[1]
        assert told == f"B  {path}  {right['events']} good events, then bad at {right['sequence']}"


def test_files_databases_and_servers_can_be_mixed(game: Path, database: Path, server: str) -> None:
    assert run("import", game, "--into", server).code == 0
    (listed,) = run("games", database, "--format", "jsonl").lines
    names = [str(game), f"{database}#{listed['gameId']}", f"{server}#{listed['gameId']}"]
    for left in names:
        for right in names:
            ended = run("diff", left, right, "--format", "json")
            assert (ended.code, ended.document["same"]) == (0, True)


def test_what_cannot_be_opened_is_three(game: Path, tmp_path: Path) -> None:
    ended = run("diff", game, tmp_path / "missing.jsonl")
    assert (ended.code, ended.out) == (3, "")


@pytest.mark.parametrize(
    "arguments", [(), ("--options",), ("--options", "passTokens"), ("--options", "=5"), ("--options", "moon=5")]
)
def test_wrong_use_is_two(arguments: tuple[str, ...], tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(BRIDGE))
    ended = run("diff", path, *arguments)
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.parametrize(
    "options",
    [
        "passTokens=5,passTokens=5",
        "ghosts=true,fanTan",
        "fanTan=7",
        "passTokens=-1",
        "passTokens=x",
        "passTokens=1000",
        "jokers=1",
        "scoring=WORST",
    ],
)
def test_an_option_that_cannot_be_is_wrong_use(options: str, tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(BRIDGE))
    assert run("diff", path, "--options", options).code == 2


def test_an_option_given_twice_is_wrong_use_in_two_arguments_too(game: Path) -> None:
    ended = run("diff", game, "--options", "target=5", "--options", "target=6")
    assert (ended.code, ended.out, ended.err) == (2, "", "heptalog: --options target=6: target is given twice\n")


def test_fan_tan_is_a_name_for_no_ghosts(tmp_path: Path, game: Path) -> None:
    path = write(tmp_path / "bridge.jsonl", bare(BRIDGE))
    without = run("diff", path, "--options", "ghosts=false", "--format", "json")
    assert without.document["options"]["right"]["ghosts"] is False
    for options in ("fanTan", "fanTan=true"):
        assert run("diff", path, "--options", options, "--format", "json") == without
    assert run("diff", path, "--options", "fanTan=false").out == run("diff", path, "--options", "ghosts=true").out
    assert run("diff", game, "--options", "fanTan=true").code == 2


def test_another_option_shows_where_the_outcome_parts(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", _with_three_tokens(bare(BRIDGE, 2, length=60)))
    with path.open("rb") as file:
        events = list(read_events(file))
    passed = next((event.sequence for event in events if isinstance(event.body, TurnPassed)), None)
    ended = run("diff", path, "--options", "passTokens=5", "--format", "json")
    document = ended.document
    assert document["options"]["right"]["passTokens"] == 5
    if passed is None:
        assert any(isinstance(event.body, CardPlayed) for event in events)
        assert (ended.code, document["same"]) == (0, True)
    else:
        assert ended.code == 1
        assert document["outcome"]["sequence"] == passed
        assert document["outcome"]["left"] != document["outcome"]["right"]


def test_the_same_options_change_nothing(game: Path) -> None:
    with game.open("rb") as file:
        started = json.loads(file.readline())["gameStarted"]["sevenUp"]
    ended = run("diff", game, "--options", f"target={started.get('target', 7)}")
    assert ended.code == 0
    assert "Everything follows as it did." in ended.out


def test_options_can_end_a_game_sooner(tmp_path: Path) -> None:
    lines = bare(seed=2, length=60)
    assert run("replay", write(tmp_path / "game.jsonl", lines), "--format", "jsonl").lines[-1]["scores"] != [0, 0]
    ended = run("diff", tmp_path / "game.jsonl", "--options", "target=1", "--format", "json")
    assert ended.code == 1
    assert ended.document["illegal"]["code"] in ("GAME_OVER", "WRONG_PHASE")
    assert ended.document["end"]["right"]["over"] is True
    text = run("diff", tmp_path / "game.jsonl", "--options", "target=1").out
    assert "The outcome parts at event" in text
    assert "would not be legal" in text


def _with_three_tokens(lines: list[bytes]) -> list[bytes]:
    first = changed(lines[0], lambda tree: tree["gameStarted"]["sevenBridge"].pop("passTokens", None))
    return [first, *lines[1:]]
