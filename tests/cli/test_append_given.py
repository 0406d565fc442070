"""What `heptalog append` is given: events in words and as lines, by the kinds that each game of the registry has."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from heptalog.cli.given_events import event_in_words, forms_of, kinds_of
from heptalog.cli.render import body_json
from heptalog.replay.errors import Refused
from heptalog.replay.events import Body
from heptalog.replay.fold import Fold, fold_all
from heptalog.replay.gamefile import read_events
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import AnyRules
from heptalog.replay.seven_up.events import InfractionCalled
from tests.cli.appending import HEAD, events_of, with_input
from tests.cli.given import UP, bare, write
from tests.cli.running import run
from tests.support.play import play


def test_lines_of_a_game_file_are_recorded_all_or_none(final: str, tmp_path: Path) -> None:
    own = {"noteAdded": {"text": "twice"}, "eventId": "own", "recordedBy": "desk-9"}
    lines = [{"tilePlayed": {"seat": 2, "tile": "5-2"}}, own, {"sequence": 7, "noteAdded": {"text": "twice"}}]
    path = write(tmp_path / "more.jsonl", [json.dumps(line).encode() for line in lines])
    wrong = write(tmp_path / "wrong.jsonl", [*path.read_bytes().splitlines(), b'{"turnPassed":{"seat":0}}'])
    ended = run("append", final, "--file", wrong, "--after", HEAD)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"heptalog: {wrong}: line 4: ")
    assert ended.err.endswith("(SR-R10) [NOT_YOUR_TURN]\n")
    assert len(events_of(final)) == HEAD + 1
    ended = run("append", final, "--file", path, "--after", HEAD, "--recorded-by", "desk-2")
    assert ended.code == 0, ended.err
    assert ended.err == f"heptalog: 3 events recorded in {final}\n"
    assert [line["recordedBy"] for line in events_of(final)[-3:]] == ["desk-2", "desk-9", "desk-2"]
    again = run("append", final, "--file", path, "--after", HEAD, "--recorded-by", "desk-2")
    assert (again.code, again.err) == (0, "heptalog: it is recorded already; nothing is added\n")


def test_what_legal_lists_can_be_appended_from_stdin(final: str) -> None:
    move = run("legal", final, "--format", "jsonl", "--limit", "1").out
    ended = with_input(move, "append", final, "--file", "-", "--after", HEAD)
    assert ended.code == 0, ended.err
    assert events_of(final)[-1]["tilePlayed"] == json.loads(move)["tilePlayed"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: there is no event at all (game-file) [GAME_EMPTY]"),
        ('{"noteAdded":{}}\n{"noteAdded":', "line 2: this is not JSON"),
        ('{"noteAdded":{}}\n{"sequence":9,"noteAdded":{}}', "line 2: a field has not the form it must have"),
        ('{"recordedAt":"2026-01-31T12:00:00Z","noteAdded":{}}', "line 1: a field has not the form it must have"),
        ('{"noteAdded":{}}\n' * 513, "a field has not the form it must have: 1 to 512 events, field events (api)"),
    ],
)
def test_a_bad_line_is_told_by_its_number(text: str, told: str, final: str) -> None:
    ended = with_input(text, "append", final, "--file", "-", "--after", HEAD)
    assert (ended.code, ended.out) == (1, "")
    assert told in ended.err
    assert len(events_of(final)) == HEAD + 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("cardPlayed", "seat=1"), "the events of this game are movesRetracted, gameClosed, noteAdded, tilesDealt"),
        (("gameStarted",), "the events of this game are "),
        (("noteAdded", "bo is late"), "noteAdded is given text as FIELD=VALUE"),
        (("noteAdded", "words=x"), "noteAdded is given text as FIELD=VALUE"),
        (("noteAdded", "text=x", "text=y"), "text is given twice"),
        (("turnPassed", "seat=zoe"), "zoe: a seat is its number, or a player of the game by id or name"),
        (("turnPassed", "seat=4"), "seat 4: the game has the seats 0 to 3"),
        (("movesRetracted", "toSequence=-1"), "toSequence=-1: a whole number is asked for"),
        (("tilesDealt", "hands=1-1"), "hands has parts of its own"),
        (("noteAdded", "text=x", "--occurred-at", "today"), "--occurred-at today: a time"),
        (("noteAdded", "text=x", "--file", "file"), "and not both"),
        (("noteAdded", "text=caf\udce9"), "text=caf\\udce9: this is not UTF-8"),
        (("noteAdded", "text=x", "--recorded-by", "\udce9"), "this is not UTF-8"),
        ((), "no event is given"),
    ],
)
def test_wrong_words_are_wrong_use(words: Sequence[str], told: str, in_database: str) -> None:
    ended = run("append", in_database, *words, "--after", HEAD)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err


def test_an_id_is_for_one_event(in_database: str) -> None:
    two = '{"noteAdded":{}}\n{"noteAdded":{}}'
    ended = with_input(two, "append", in_database, "--file", "-", "--after", HEAD, "--event-id", "x")
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("tilePlayed", "seat=2", "tile=5-2", "arm=NOWHERE"), "FIELD_INVALID"),
        (("movesRetracted", f"toSequence={2**32}"), "FIELD_INVALID"),
        (("noteAdded", "text=x", "--event-id", "two words"), "FIELD_INVALID"),
        (("noteAdded", "text=x", "--recorded-by", "x" * 129), "FIELD_INVALID"),
        (("noteAdded", f"text={'x' * 300_000}"), "EVENT_TOO_LARGE"),
    ],
)
def test_what_no_log_takes_is_told_by_its_code(words: Sequence[str], code: str, final: str) -> None:
    for way in (["--dry-run"], ["--after", str(HEAD)]):
        ended = run("append", final, *words, *way)
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.endswith(f"[{code}]\n")
    assert len(events_of(final)) == HEAD + 1


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_what_a_game_records_is_listed_from_the_registry(rules: AnyRules, tmp_path: Path) -> None:
    log = tmp_path / "log.duckdb"
    assert run("import", write(tmp_path / "game.jsonl", bare(rules, length=10)), "--into", log).code == 0
    (game,) = [line["gameId"] for line in run("games", log, "--format", "jsonl").lines]
    document = run("append", f"{log}#{game}", "--format", "json").document
    assert document["kinds"] == forms_of(rules)
    assert document["standing"]["sequence"] == 9
    told = run("append", f"{log}#{game}").out.splitlines()
    assert [line.split()[0] for line in told[2:]] == list(document["kinds"])
    assert told[2].split()[1:] == ["toSequence=N", "reason=TEXT"]
    assert told[3].split()[1:] == ["reason=TEXT", "winners=SEAT,…"]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_whatever_has_no_parts_can_be_said_in_words(rules: AnyRules) -> None:
    forms = forms_of(rules)
    said = {"gameClosed"}  # seldom by chance
    for seed in range(6):
        bodies = play(rules, seed, events_max=400, with_rulings=True).bodies
        fold = Fold(bodies[0])
        for body in bodies[1:]:
            ((kind, fields),) = body_json(body).items()
            if all(forms[kind][name] for name in fields):
                assert event_in_words([kind, *map(in_words, fields, fields.values())], fold).body == body
                said.add(kind)
    assert said >= {kind for kind in kinds_of(rules) if all(forms[kind].values())}


def in_words(name: str, value: Any) -> str:
    """A field and its value as an argument."""
    return f"{name}={','.join(map(str, value)) if isinstance(value, list | tuple) else value}"


def test_an_infraction_of_seven_up_is_called_by_a_players_name(tmp_path: Path) -> None:
    lines = bare(UP, 2)
    fold = fold_all(event.body for event in read_events(lines))
    # The first moment of play.
    count = next(count for count in range(1, len(lines)) if can_happen(fold.until(count - 1), InfractionCalled(seat=1)))
    log = tmp_path / "log.duckdb"
    assert run("import", write(tmp_path / "game.jsonl", lines[:count]), "--into", log).code == 0
    (entry,) = run("games", log, "--format", "jsonl").lines
    game = f"{log}#{entry['gameId']}"
    ended = run("append", game, "infractionCalled", f"seat={entry['players'][1]['id']}", "--after", count - 1)
    assert ended.code == 0, ended.err
    assert events_of(game)[-1]["infractionCalled"] == {"seat": 1}


def can_happen(fold: Fold, body: Body) -> bool:
    """Whether the rules allow it now."""
    try:
        fold.check(body)
    except Refused:
        return False
    return True
