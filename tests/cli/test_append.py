"""`heptalog append`: a ruling, or whatever else happened, recorded by hand into a game, once and never blindly."""

import json
import re
import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from heptalog.cli import recording
from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.events import Event, NoteAdded
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import Client
from heptalog.service.store.duck import DuckStore
from tests.cli.appending import HEAD, TAKEN_BACK, events_of, imported, with_input
from tests.cli.given import write
from tests.cli.running import run, serving
from tests.cli.terminals import terminal
from tests.support.documents import ROOT


def refusals_in(game: str) -> list[tuple[int, str, str]]:
    """What a database keeps of what was refused."""
    with closing(DuckStore(Path(game.partition("#")[0]), is_read_only=True)) as store:
        return [(refusal.sequence, refusal.kind, refusal.code) for refusal in store.refusals()]


def test_a_ruling_is_recorded_and_told_with_how_the_game_stands_before_and_after(final: str, tmp_path: Path) -> None:
    ended = run("append", final, *TAKEN_BACK, "--after", HEAD, "--recorded-by", "desk-2")
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "After event 4 · round 1 · scores 10 10 · to act: chie",
        "    5  The arbiter takes back what came after 3: played out of turn · it stands again as after 3",
        "After event 5 · round 1 · scores 10 0 · to act: bo",
    ]
    assert ended.err == f"heptalog: 1 event recorded in {final}\n"
    line = events_of(final)[-1]
    assert line["movesRetracted"] == {"toSequence": 3, "reason": "played out of turn"}
    assert (line["recordedBy"], "occurredAt" in line) == ("desk-2", False)
    exported = write(tmp_path / "out.jsonl", [json.dumps(line).encode() for line in events_of(final)])
    assert run("verify", exported).code == 0


def test_winners_are_named_in_any_order(final: str) -> None:
    time = "2026-12-01T03:10:00.5Z"
    ended = run(
        *("append", final, "gameClosed", "winners=dag, bo", "reason=chie and ana have left", "--after", HEAD),
        *("--occurred-at", time, "--format", "json"),
    )
    assert ended.code == 0
    line = events_of(final)[-1]
    assert line["gameClosed"] == {"reason": "chie and ana have left", "winners": [1, 3]}
    assert line["occurredAt"] == "2026-12-01T03:10:00.500Z"
    report = ended.document
    assert (report["gameId"], report["added"], report["known"]) == ("final", 1, 0)
    assert (report["sequences"], report["eventIds"]) == ([5], [line["eventId"]])
    assert (report["before"]["over"], report["after"]["over"], report["after"]["winners"]) == (False, True, [1, 3])


def test_the_same_command_again_adds_nothing(final: str) -> None:
    first = run("append", final, *TAKEN_BACK, "--after", HEAD)
    assert run("append", final, "noteAdded", "text=and bo goes on", "--after", HEAD + 1).code == 0
    again = run("append", final, *TAKEN_BACK, "--after", HEAD)
    assert (again.code, again.out) == (0, first.out)
    assert again.err == "heptalog: it is recorded already; nothing is added\n"
    report = run("append", final, *TAKEN_BACK, "--after", HEAD, "--format", "json").document
    assert (report["added"], report["known"], report["sequences"]) == (0, 1, [HEAD + 1])
    assert len(events_of(final)) == HEAD + 3


def test_an_id_of_ones_own_is_recognised_wherever_the_game_is_now(final: str) -> None:
    note = ("append", final, "noteAdded", "text=the clock was stopped", "--event-id", "desk-1-17")
    assert run(*note, "--after", HEAD).code == 0
    assert events_of(final)[-1]["eventId"] == "desk-1-17"
    assert run("append", final, "noteAdded", "text=go on", "--after", HEAD + 1).code == 0
    for after in (HEAD, HEAD + 2):
        again = run(*note, "--after", after)
        assert (again.code, again.err) == (0, "heptalog: it is recorded already; nothing is added\n")
        assert "    5  Remark: the clock was stopped" in again.out
    reused = run("append", final, "noteAdded", "text=other", "--event-id", "desk-1-17", "--after", HEAD + 2)
    assert (reused.code, reused.out) == (1, "")
    assert "[EVENT_ID_REUSED]" in reused.err
    assert len(events_of(final)) == HEAD + 3


def test_where_the_game_has_gone_on_nothing_is_recorded_and_what_is_new_is_shown(final: str) -> None:
    assert run("append", final, "noteAdded", "text=bo has asked for the arbiter", "--after", HEAD).code == 0
    for dry in ([], ["--dry-run"]):
        ended = run("append", final, *TAKEN_BACK, "--after", HEAD, *dry)
        assert (ended.code, ended.out) == (1, "    5  Remark: bo has asked for the arbiter\n")
        assert "[SEQUENCE_MISMATCH]" in ended.err
    assert run("append", final, *TAKEN_BACK, "--after", HEAD + 2).code == 1
    assert len(events_of(final)) == HEAD + 2


def test_what_is_told_follows_on_what_others_have_recorded_since_it_was_read(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = imported(server, tmp_path)
    send = Client.append

    def after_others(client: Client, append: Append) -> Receipt:
        send(client, Append("final", HEAD, (Event(0, NoteAdded("bo has asked for the arbiter")),)))
        return send(client, append)

    with monkeypatch.context() as patch:
        patch.setattr(Client, "append", after_others)
        ended = run("append", game, *TAKEN_BACK, "--after", HEAD + 1)
    assert ended.code == 0, ended.err
    assert [line.split(" · ")[0].split(":")[0].strip() for line in ended.out.splitlines()] == [
        "After event 5",
        "6  The arbiter takes back what came after 3",
        "After event 6",
    ]


def test_a_dry_run_tells_the_same_and_records_nothing(final: str) -> None:
    dry = run("append", final, *TAKEN_BACK, "--dry-run")
    assert (dry.code, dry.err) == (0, "heptalog: it can be recorded; with --dry-run nothing is\n")
    report = run("append", final, *TAKEN_BACK, "--dry-run", "--format", "json").document
    assert (report["added"], report["known"], report["sequences"]) == (0, 0, [HEAD + 1])
    assert len(events_of(final)) == HEAD + 1
    assert run("append", final, *TAKEN_BACK, "--after", HEAD).out == dry.out
    known = run("append", final, *TAKEN_BACK, "--after", HEAD, "--dry-run")
    assert (known.code, known.err) == (0, "heptalog: it is recorded already; nothing is added\n")


@pytest.mark.parametrize(
    ("words", "code", "rule"),
    [
        (("movesRetracted", "toSequence=30"), "RETRACTION_INVALID", "game-file"),
        (("gameClosed", "winners=ana,bo"), "CLOSING_INVALID", "game-file"),
        (("tilePlayed", "seat=bo", "tile=1-1"), "NOT_YOUR_TURN", "SR-R10"),
    ],
)
def test_what_the_rules_refuse_is_told_by_code_and_rule(words: Sequence[str], code: str, rule: str, final: str) -> None:
    for way in (["--dry-run"], ["--after", str(HEAD)]):
        ended = run("append", final, *words, *way)
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.endswith(f"({rule}) [{code}]\n")
        assert ended.err.count("\n") == 1
    assert len(events_of(final)) == HEAD + 1


def test_only_what_was_to_be_recorded_is_kept_as_a_refusal(in_database: str) -> None:
    assert run("append", in_database, "movesRetracted", "toSequence=30", "--dry-run").code == 1
    assert refusals_in(in_database) == []
    assert run("append", in_database, "movesRetracted", "toSequence=30", "--after", HEAD).code == 1
    assert refusals_in(in_database) == [(HEAD + 1, "movesRetracted", Code.RETRACTION_INVALID)]


def test_where_nobody_can_be_asked_what_was_seen_is_said(in_database: str) -> None:
    for ended in (
        run("append", in_database, *TAKEN_BACK),
        run("append", in_database, *TAKEN_BACK, "--format", "json"),
        with_input('{"noteAdded":{}}', "append", in_database, "--file", "-"),
    ):
        assert (ended.code, ended.out) == (2, "")
        assert "say --after N" in ended.err
    assert len(events_of(in_database)) == HEAD + 1


def test_only_a_game_of_a_log_is_recorded_into(in_database: str, tmp_path: Path) -> None:
    note = ("noteAdded", "text=x", "--after", HEAD)
    database = in_database.partition("#")[0]
    for name, code in (
        (tmp_path / "game.jsonl", 2),
        (database, 2),
        (tmp_path / "missing.jsonl", 3),
        (f"{tmp_path}/missing.duckdb#final", 3),
        (f"{database}#nobody", 3),
        ("grpc://127.0.0.1:1#final", 3),
    ):
        ended = run("append", name, *note)
        assert (ended.code, ended.out, ended.err.count("\n")) == (code, "", 1)
    assert not (tmp_path / "missing.duckdb").exists()


def test_a_database_that_a_server_holds_is_not_touched(in_database: str) -> None:
    with serving(Path(in_database.partition("#")[0]), "--no-tables") as server:
        ended = run("append", in_database, *TAKEN_BACK, "--after", HEAD)
        assert (ended.code, ended.out) == (3, "")
        assert f"pid {server.process.pid}" in ended.err
        assert ended.err.endswith("[DATABASE_LOCKED]\n")
        assert run("append", f"{server.url}#final", *TAKEN_BACK, "--after", HEAD).code == 0
        assert server.stopped() == 0
    assert len(events_of(in_database)) == HEAD + 2


def test_a_lost_answer_says_how_to_ask_again(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = imported(server, tmp_path)
    send = Client.append

    def answered_to_nobody(*arguments: Any) -> None:
        send(*arguments)
        raise Unavailable(Code.DEADLINE_PASSED, rule="api")

    with monkeypatch.context() as patch:
        patch.setattr(Client, "append", answered_to_nobody)
        ended = run("append", game, *TAKEN_BACK, "--after", HEAD)
    assert (ended.code, ended.out) == (3, "")
    assert f"whether it was recorded is not known; the same command with --after {HEAD} records it once" in ended.err
    assert run("append", game, *TAKEN_BACK, "--after", HEAD).code == 0
    assert len(events_of(game)) == HEAD + 2


def test_the_example_of_the_document_is_as_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = re.findall(r"```console\n(.*?)```", (ROOT / "docs" / "client.md").read_text(), re.DOTALL)
    command, *told = shown.splitlines()
    _, _, *words = shlex.split(command)
    game = imported(str(tmp_path / "season.duckdb"), tmp_path)
    monkeypatch.chdir(tmp_path)
    ended = run(*words, "--after", HEAD)
    assert game.endswith(words[1])
    assert [*ended.out.splitlines(), *ended.err.splitlines()] == [line for line in told if "[y/N]" not in line]


# At a terminal.


def test_on_a_terminal_it_is_asked_for(in_database: str) -> None:
    with terminal("append", in_database, *TAKEN_BACK, columns=200) as screen:
        seen = screen.until("Record it? [y/N]: ")
        assert seen.index("After event 4 ") < seen.index("takes back") < seen.index("After event 5 ")
        assert len(events_of(in_database)) == HEAD + 1
        screen.type("y\r")
        code, told = screen.ended()
        assert (code, told.splitlines()[-1]) == (0, f"heptalog: 1 event recorded in {in_database}")
    assert len(events_of(in_database)) == HEAD + 2


@pytest.mark.parametrize(("key", "code"), [("n\r", 1), ("\x04", 130)])
def test_who_does_not_say_yes_records_nothing(key: str, code: int, in_database: str) -> None:
    with terminal("append", in_database, *TAKEN_BACK) as screen:
        screen.until("Record it? [y/N]: ")
        screen.type(key)
        ended, told = screen.ended()
        assert ended == code
        assert "internal error" not in told
    assert len(events_of(in_database)) == HEAD + 1


def test_another_answer_than_yes_or_no_is_asked_for_again(in_database: str) -> None:
    with terminal("append", in_database, *TAKEN_BACK) as screen:
        screen.until("Record it? [y/N]: ")
        screen.type("perhaps\r")
        assert "heptalog: answer y or n" in screen.until("Record it? [y/N]: ")
        assert len(events_of(in_database)) == HEAD + 1
        screen.type("YES\r")
        assert screen.ended()[0] == 0
    assert len(events_of(in_database)) == HEAD + 2


def test_what_comes_while_somebody_thinks_is_not_passed_over(in_database: str) -> None:
    with terminal("append", in_database, *TAKEN_BACK, columns=200) as screen:
        screen.until("Record it? [y/N]: ")
        # Meanwhile nobody holds the database.
        assert run("append", in_database, "noteAdded", "text=bo has left", "--after", HEAD).code == 0
        screen.type("y\r")
        code, told = screen.ended()
        assert code == 1
        assert told.index("    5  Remark: bo has left") < told.index("[SEQUENCE_MISMATCH]")
    assert [*events_of(in_database)[-1]][-1] == "noteAdded"


def test_the_same_from_another_desk_meanwhile_adds_nothing(final: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = recording._receipt

    def twice(*arguments: Any) -> Receipt:
        ask(*arguments)
        return ask(*arguments)

    monkeypatch.setattr(recording, "_receipt", twice)
    report = run("append", final, *TAKEN_BACK, "--after", HEAD, "--format", "json").document
    assert (report["added"], report["known"], report["sequences"]) == (0, 1, [HEAD + 1])
    assert len(events_of(final)) == HEAD + 2
