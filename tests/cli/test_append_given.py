"""What `heptalog append` is given: events in words and as lines, by the kinds that each game of the registry has."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from heptalog.cli.exits import WrongUse
from heptalog.cli.given_events import event_in_words, forms_of, kinds_of
from heptalog.cli.render import body_json
from heptalog.replay.errors import Refused
from heptalog.replay.events import Body, CardPlayed, NoteAdded, camel_name
from heptalog.replay.fold import Fold, fold_all
from heptalog.replay.gamefile import read_events
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import AnyRules
from heptalog.replay.seven_up.events import Decision, InfractionCalled, TrumpDecided
from tests.cli.appending import HEAD, LINES, events_of, with_input
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
        ("", "heptalog: -: there is no event at all (game-file) [GAME_EMPTY]"),
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
        (("movesRetracted", f"toSequence={2**32}"), "a whole number is asked for, to 4294967295"),
        (("tilePlayed", "seat=2", "tile=5-2", "arm=NOWHERE"), "arm=NOWHERE: arm is LEFT or RIGHT or UP or DOWN"),
        (("noteAdded", "text=x", "--event-id", "two words"), "--event-id two words: 1 to 128 characters without"),
        (("noteAdded", "text=x", "--recorded-by", "x" * 129), "x: over 128 characters"),
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


def test_who_records_may_have_a_name_of_several_words(final: str) -> None:
    assert run("append", final, "noteAdded", "text=x", "--after", HEAD, "--recorded-by", "desk 2").code == 0
    assert events_of(final)[-1]["recordedBy"] == "desk 2"


def test_a_file_without_events_is_named(final: str, tmp_path: Path) -> None:
    ended = run("append", final, "--file", write(tmp_path / "empty.jsonl", []), "--after", HEAD)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"heptalog: {tmp_path}/empty.jsonl: there is no event at all (game-file) [GAME_EMPTY]\n"


def test_an_id_is_for_one_event(in_database: str) -> None:
    two = '{"noteAdded":{}}\n{"noteAdded":{}}'
    ended = with_input(two, "append", in_database, "--file", "-", "--after", HEAD, "--event-id", "x")
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.parametrize(
    ("words", "code"),
    [
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
    assert told[2].split()[1:] == ["toSequence=N", "[reason=TEXT]"]
    assert told[3].split()[1:] == ["[reason=TEXT]", "winners=SEAT,…"]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_whatever_has_no_parts_can_be_said_in_words(rules: AnyRules) -> None:
    forms = forms_of(rules)
    said = {"gameClosed"}  # seldom by chance
    for seed in range(6):
        bodies = play(rules, seed, events_max=400, with_rulings=True).bodies
        fold = Fold(bodies[0])
        for body in bodies[1:]:
            ((kind, given),) = body_json(body).items()
            fields = needed_of(body) | given
            if all(forms[kind][name] for name in fields):
                assert event_in_words([kind, *map(in_words, fields, fields.values())], fold).body == body
                said.add(kind)
    assert said >= {kind for kind in kinds_of(rules) if all(forms[kind].values())}


def needed_of(body: Body) -> dict[str, Any]:
    """What must be said of it, zeros and empty lists too, which a game file leaves out."""
    return {
        camel: getattr(body, name)
        for name, camel in zip(body.__struct_fields__, body.__struct_encode_fields__, strict=True)
        if name not in body.spare
    }


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_a_field_that_is_forgotten_is_not_taken_as_zero(rules: AnyRules) -> None:
    forgotten = set()
    for seed in range(6):
        bodies = play(rules, seed, events_max=400, with_rulings=True).bodies
        fold = Fold(bodies[0])
        for body in bodies[1:]:
            kind = camel_name(type(body))
            needed = needed_of(body)
            if kind in forgotten or not all(forms_of(rules)[kind][name] for name in needed):
                continue
            forgotten.add(kind)
            for name in needed:
                words = [in_words(other, value) for other, value in needed.items() if other != name]
                with pytest.raises(WrongUse, match=rf"^{name} .*must be given: {kind} "):
                    event_in_words([kind, *words], fold)
    assert {"movesRetracted", "noteAdded"} <= forgotten


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_what_may_be_left_out_is_a_field_with_a_default(rules: AnyRules) -> None:
    for body in kinds_of(rules).values():
        defaults = {field.name for field in structs.fields(body) if not field.required}
        assert {*body.spare} <= defaults


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("movesRetracted", "reason=oops"), "toSequence must be given: movesRetracted toSequence=N [reason=TEXT]"),
        (("tilePlayed",), "seat and tile must be given: tilePlayed seat=SEAT tile=TEXT [arm="),
        (("noteAdded",), "text must be given: noteAdded text=TEXT"),
        (("gameClosed",), "winners (winners= for none) must be given: gameClosed [reason=TEXT] winners=SEAT,…"),
        (("tilesDealt",), "hands has parts of its own: give the event as a line of a game file, --file FILE"),
    ],
)
def test_what_is_missing_is_told_before_anything_else(words: Sequence[str], told: str, final: str) -> None:
    for way in ([], ["--after", str(HEAD)], ["--after", "0"], ["--dry-run"]):
        ended = run("append", final, *words, *way)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert ended.err.startswith(f"heptalog: {told}")
    assert len(events_of(final)) == HEAD + 1


def test_nobody_wins_where_that_is_said(final: str) -> None:
    ended = run("append", final, "gameClosed", "winners=", "--after", HEAD)
    assert ended.code == 0, ended.err
    assert events_of(final)[-1]["gameClosed"] == {}


def test_a_line_of_a_game_file_keeps_its_defaults(final: str) -> None:
    ended = with_input('{"movesRetracted":{}}', "append", final, "--file", "-", "--after", HEAD)
    assert (ended.code, events_of(final)[-1]["movesRetracted"]) == (0, {}), ended.err
    assert "what came after 0" in ended.out


def test_words_and_cards_may_be_in_small_letters(final: str) -> None:
    rocks = fold_all(event.body for event in read_events([json.dumps(line).encode() for line in LINES]))
    played = event_in_words(["tilePlayed", "seat=2", "tile=5-2", "arm=left"], rocks).body
    assert played == event_in_words(["tilePlayed", "seat=2", "tile=5-2", "arm=LEFT"], rocks).body
    fold = fold_all(event.body for event in read_events(bare(UP, 2)))
    assert event_in_words(["cardPlayed", "seat=1", "card=9s"], fold).body == CardPlayed(1, "9S")
    assert event_in_words(["trumpDecided", "seat=1", "decision=beg"], fold).body == TrumpDecided(1, Decision.BEG)
    with pytest.raises(WrongUse, match=r"^decision=bet: decision is STAND or BEG or GIVE or RUN$"):
        event_in_words(["trumpDecided", "seat=1", "decision=bet"], fold)
    # A remark stays as it was said.
    assert event_in_words(["noteAdded", "text=9s"], fold).body == NoteAdded("9s")


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
