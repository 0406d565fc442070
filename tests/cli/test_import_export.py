"""`heptalog import` and `heptalog export`: what goes in comes out, once, whole or not at all."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from heptalog.replay.gamefile import read_events
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import AnyRules
from tests.cli.given import BRIDGE, ROCKS, UP, bad, bare, changed, folder_of_games, whole, without_secrets, write
from tests.cli.running import only, run, run_program


def imported(into: object, *paths: object) -> list[tuple[bool, int, int]]:
    """What each import came to: whether it is well, and its new and known events."""
    ended = run("import", *paths, "--into", into, "--format", "jsonl")
    assert ended.code == (0 if all(line["ok"] for line in ended.lines) else 1)
    return [(line["ok"], line["added"], line["known"]) for line in ended.lines]


def exported(source: str) -> list[bytes]:
    """The lines of an exported game."""
    ended = run("export", source)
    assert ended.code == 0, ended.err
    return ended.out.encode().splitlines()


@pytest.fixture(params=["database", "server"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A log of either kind to import into."""
    if request.param == "database":
        return str(tmp_path / "log.duckdb")
    server: str = request.getfixturevalue("server")
    return server


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.key)
def test_a_bare_game_comes_out_as_it_went_in(rules: AnyRules, log: str, tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(rules, 2, length=700, with_rulings=True))
    count = len(path.read_bytes().splitlines())
    assert imported(log, path) == [(True, count, 0)]
    game = only(run("games", log, "--format", "jsonl").lines)
    assert run("diff", path, f"{log}#{game['gameId']}").code == 0
    lines = exported(f"{log}#{game['gameId']}")
    assert run("verify", write(tmp_path / "exported.jsonl", lines)).code == 0
    (first,) = {event.game_id for event in read_events(lines)}
    assert first == game["gameId"]
    assert all(event.event_id and event.recorded_at and event.hash for event in read_events(lines))


def test_importing_again_adds_nothing_and_is_no_error(log: str, tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", bare(ROCKS, 1, length=700))
    count = len(path.read_bytes().splitlines())
    assert count > 512, "more than one batch"
    assert imported(log, path) == [(True, count, 0)]
    assert imported(log, path) == [(True, 0, count)]
    assert imported(log, path, path) == [(True, 0, count), (True, 0, count)]
    assert len(run("games", log, "--format", "jsonl").lines) == 1


def test_one_game_in_two_files_is_one_game(log: str, tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", bare())
    copy = tmp_path / "copy.jsonl"
    # The same events in other words: spaces, the order of names, a field at its default.
    copy.write_text("".join(json.dumps(json.loads(line), sort_keys=True) + "\r\n" for line in bare()))
    assert imported(log, one, copy) == [(True, 60, 0), (True, 0, 60)]


def test_a_record_keeps_its_ids_times_seals_and_hashes(log: str, tmp_path: Path) -> None:
    lines = whole(BRIDGE, 2, length=60, game_id="table-7")
    path = write(tmp_path / "game.jsonl", lines)
    assert imported(log, path) == [(True, 60, 0)]
    assert exported(f"{log}#table-7") == lines
    assert run("diff", path, f"{log}#table-7", "--envelope").code == 0


def test_a_longer_copy_continues_the_game(log: str, tmp_path: Path) -> None:
    lines = whole(length=60)
    short, long = write(tmp_path / "short.jsonl", lines[:25]), write(tmp_path / "long.jsonl", lines)
    assert imported(log, short) == [(True, 25, 0)]
    assert imported(log, long) == [(True, 35, 25)]
    assert imported(log, short) == [(True, 0, 25)]
    assert imported(log, short, long) == [(True, 0, 25), (True, 0, 60)]
    assert exported(f"{log}#game") == lines


def test_two_stages_of_a_game_in_one_import_follow_each_other(log: str, tmp_path: Path) -> None:
    lines = whole(length=60)
    write(tmp_path / "games" / "1.jsonl", lines[:25])
    write(tmp_path / "games" / "2.jsonl", lines)
    assert imported(log, tmp_path / "games") == [(True, 25, 0), (True, 35, 25)]


def test_what_contradicts_the_log_is_a_finding_and_stops_no_other(log: str, tmp_path: Path) -> None:
    lines = whole(length=30)
    assert imported(log, write(tmp_path / "first.jsonl", lines)) == [(True, 30, 0)]
    unchained = [changed(line, lambda tree: (tree.pop("hash"), tree.pop("previousHash"))) for line in lines]
    other = changed(unchained[0], lambda tree: tree["gameStarted"]["players"][0].update(name="Somebody else"))
    contradiction = write(tmp_path / "contradiction.jsonl", [other, *unchained[1:]])
    foreign = write(tmp_path / "foreign.jsonl", whole(BRIDGE, length=30))
    good = write(tmp_path / "good.jsonl", bare(ROCKS))
    ended = run("import", contradiction, foreign, good, "--into", log, "--format", "json")
    assert ended.code == 1
    first, second, third = ended.document
    assert (first["code"], first["sequence"], first["gameId"]) == ("EVENT_ID_REUSED", 0, "game")
    assert first["message"].startswith("line 1: ")
    assert (second["ok"], second["code"]) == (False, "EVENT_ID_REUSED")
    assert third["ok"] is True
    assert exported(f"{log}#game") == lines


def test_a_contradiction_is_told_with_its_place_in_the_game(log: str, tmp_path: Path) -> None:
    lines = whole(ROCKS, 1, length=700)
    count = len(lines)
    assert count > 515, "more than one batch"
    assert imported(log, write(tmp_path / "first.jsonl", lines)) == [(True, count, 0)]
    unchained = [changed(line, lambda tree: (tree.pop("hash"), tree.pop("previousHash"))) for line in lines]
    for place in (3, 514):
        other = changed(unchained[place], lambda tree: tree.update(recordedBy="somebody else"))
        foreign = changed(unchained[place], lambda tree: tree.update(eventId="another"))
        for line, code in ((other, "EVENT_ID_REUSED"), (foreign, "BATCH_PARTLY_KNOWN")):
            forked = write(tmp_path / "forked.jsonl", [*unchained[:place], line, *unchained[place + 1 :]])
            (found,) = run("import", forked, "--into", log, "--format", "json").document
            assert (found["code"], found["sequence"]) == (code, place)
            assert found["message"].startswith(f"line {place + 1}: ")
            assert re.search(rf"(at sequence|new events) {place}\b", found["message"])


def test_another_game_of_the_same_name_is_told_by_where_it_differs(log: str, tmp_path: Path) -> None:
    lines = whole(ROCKS, 1, length=40, game_id="final")
    assert run("import", write(tmp_path / "first.jsonl", lines), "--into", log).code == 0

    def without_ids(tree: dict[str, Any]) -> None:
        for name in ("hash", "previousHash", "eventId"):
            del tree[name]

    bare_lines = [changed(line, without_ids) for line in lines]
    fork = [*bare_lines[:20], changed(bare_lines[20], lambda tree: tree.update(occurredAt="2001-01-01T00:00:00Z"))]
    for given, sequence, words in (
        (fork, 20, "it is another game from event 20 on; `heptalog diff FILE "),
        (
            bare_lines,
            0,
            "only its ids, times or hashes are other ones from event 0 on; `heptalog diff --envelope FILE ",
        ),
    ):
        (found,) = run("import", write(tmp_path / "b.jsonl", given), "--into", log, "--format", "json").document
        assert (found["code"], found["sequence"]) == ("GAME_EXISTS", sequence)
        assert words in found["message"]
        assert f"{log}#final' says how" in found["message"].replace("`", "")


def test_a_bad_game_writes_nothing(log: str, tmp_path: Path) -> None:
    wrong = write(tmp_path / "wrong.jsonl", bad(bare()))
    ended = run("import", wrong, "--into", log, "--format", "json")
    assert ended.code == 1
    assert (ended.document[0]["code"], ended.document[0]["sequence"]) == ("ALREADY_STARTED", 60)
    if log.startswith("grpc"):
        assert run("games", log, "--format", "json").document == []
    else:
        assert not Path(log).exists()


def test_a_redacted_copy_cannot_be_imported(log: str, tmp_path: Path) -> None:
    ended = run("import", write(tmp_path / "copy.jsonl", without_secrets()), "--into", log, "--format", "json")
    assert (ended.code, ended.document[0]["code"]) == (1, "VALUE_SEALED")


def test_a_chain_that_cannot_hold_is_made_anew(log: str, tmp_path: Path) -> None:
    # Chained and without ids: verify takes it, but the log's ids are covered by its hashes.
    from heptalog.replay.codec import chained
    from heptalog.replay.evidence.chain import GENESIS
    from heptalog.replay.gamefile import encode_line

    previous, lines = GENESIS, []
    for event in read_events(bare()):
        linked, _ = chained(event, previous)
        previous = linked.hash
        lines.append(encode_line(linked))
    path = write(tmp_path / "game.jsonl", lines)
    assert run("verify", path).code == 0
    assert imported(log, path) == [(True, 60, 0)]
    assert imported(log, path) == [(True, 0, 60)]
    assert run("verify", log).code == 0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"gameId": "two words"}, "FIELD_INVALID"),
        ({"gameId": "x" * 129}, "FIELD_INVALID"),
        ({"eventId": "two words"}, "FIELD_INVALID"),
        ({"recordedBy": "x" * 129}, "FIELD_INVALID"),
        ({"noteAdded": {"text": "x" * 300_000}}, "EVENT_TOO_LARGE"),
    ],
)
def test_what_a_log_cannot_hold_is_told_before_anything_is_written(
    change: dict[str, object], code: str, log: str, tmp_path: Path
) -> None:
    note = {"sequence": 20, "noteAdded": {"text": "x"}, **change}
    path = write(tmp_path / "game.jsonl", [*bare(length=20), json.dumps(note).encode()])
    assert run("verify", path).code == 0
    result = only(run("import", path, "--into", log, "--format", "jsonl").lines)
    assert (result["ok"], result["code"]) == (False, code)
    assert "events[" not in result["message"]
    if "gameId" not in change:
        assert result["sequence"] == 20
        assert result["message"].startswith("line 21: ")
    assert not Path(log).exists()


def test_large_events_are_sent_in_messages_that_fit(log: str, tmp_path: Path) -> None:
    notes = [
        json.dumps({"sequence": sequence, "noteAdded": {"text": "x" * 200_000}}).encode() for sequence in range(9, 40)
    ]
    path = write(tmp_path / "game.jsonl", [*bare(length=9), *notes])
    assert imported(log, path) == [(True, 40, 0)]
    assert imported(log, path) == [(True, 0, 40)]


def test_games_are_created_in_the_order_of_their_files(tmp_path: Path) -> None:
    folder = folder_of_games(tmp_path / "games", count=20)
    ended = run("import", folder, "--into", tmp_path / "log.duckdb", "--format", "jsonl")
    assert ended.code == 0
    listed = run("games", tmp_path / "log.duckdb", "--format", "jsonl").lines
    assert [line["gameId"] for line in listed] == list(dict.fromkeys(line["gameId"] for line in ended.lines))


def test_ids_are_the_same_for_ever(tmp_path: Path) -> None:
    # Were this to change, a file imported years ago would be imported a second time.
    lines = [
        b'{"sequence":0,"gameStarted":{"players":[{"id":"ana"},{"id":"bo"}],"sevenUp":{}}}',
        b'{"sequence":1,"dealerDrawn":{"seat":1}}',
    ]
    path = write(tmp_path / "game.jsonl", lines)
    assert run("import", path, "--into", tmp_path / "log.duckdb").code == 0
    game = only(run("games", tmp_path / "log.duckdb", "--format", "jsonl").lines)["gameId"]
    assert game == "4c029f58-c90f-82d7-b43a-369ed3c8043b"
    events = read_events(exported(f"{tmp_path / 'log.duckdb'}#{game}"))
    assert [event.event_id for event in events] == [
        "860b9df8-6a75-8ecd-a902-8a10f7ec23ae",
        "a9d09215-487b-8cad-a7e7-a9def7e0aa33",
    ]


def test_from_log_to_log(log: str, database: Path, tmp_path: Path) -> None:
    assert imported(log, database) == [(True, 60, 0)]
    game = only(run("games", log, "--format", "jsonl").lines)["gameId"]
    assert exported(f"{log}#{game}") == exported(f"{database}#{game}")
    assert imported(tmp_path / "third.duckdb", f"{log}#{game}") == [(True, 60, 0)]
    assert imported(database, log) == [(True, 0, 60)]


def test_all_games_are_exported_into_a_folder(tmp_path: Path) -> None:
    database = tmp_path / "log.duckdb"
    folder_of_games(tmp_path / "games")
    write(tmp_path / "games" / "odd.jsonl", whole(game_id="../a/b:.expected"))
    write(tmp_path / "games" / "long.jsonl", whole(UP, 3, game_id="七" * 120))
    assert run("import", tmp_path / "games", "--into", database).code == 0
    out = tmp_path / "out"
    assert run("export", database, "--out", out).code == 0
    assert len(list(out.iterdir())) == 11
    assert run("verify", out).code == 0
    assert imported(database, out) == [(True, 0, known) for _, _, known in imported(database, out)]
    assert run("export", database).code == 2
    assert run("export", database, "--out", tmp_path / "games" / "odd.jsonl").code == 2


def test_a_file_is_written_whole_or_not_at_all(database: Path, tmp_path: Path) -> None:
    game = only(run("games", database, "--format", "jsonl").lines)["gameId"]
    out = tmp_path / "out.jsonl"
    out.write_text("what was there")
    assert run("export", f"{database}#nobody", "--out", out).code == 3
    assert out.read_text() == "what was there"
    assert run("export", f"{database}#{game}", "--out", out).code == 0
    assert len(out.read_bytes().splitlines()) == 60
    assert run("export", f"{database}#{game}", "--out", tmp_path / "no" / "folder.jsonl").code == 3
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".heptalog")]


def test_a_file_is_exported_in_the_one_form(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text('{ "gameStarted" : {"sevenUp":{}, "players":[{"name":"", "id":"a"},{"id":"b"}]} }')
    line = b'{"sequence":0,"gameStarted":{"players":[{"id":"a"},{"id":"b"}],"sevenUp":{}}}'
    assert exported(str(path)) == [line]


def test_a_bad_file_exports_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "game.jsonl", [*bare(), b"{"])
    ended = run("export", path)
    assert (ended.code, ended.out) == (1, "")
    assert "line 61" in ended.err


def test_import_needs_a_place(tmp_path: Path, game: Path) -> None:
    assert run("import", game).code == 2
    for into in ("log.duckdb#game", "grpc://127.0.0.1:1#game", "grpc://nowhere", tmp_path):
        assert run("import", game, "--into", into).code == 2
    assert run("import", game, "--into", tmp_path / "no" / "log.duckdb").code == 3
    assert run("import", game, "--into", game).code == 3
    assert run("import", tmp_path / "missing.jsonl", "--into", tmp_path / "log.duckdb").code == 3
    assert not (tmp_path / "log.duckdb").exists()


def test_export_goes_through_a_pipe(database: Path) -> None:
    game = only(run("games", database, "--format", "jsonl").lines)["gameId"]
    ended = run_program("export", f"{database}#{game}")
    assert ended.code == 0
    assert ended.out.encode().splitlines() == exported(f"{database}#{game}")
