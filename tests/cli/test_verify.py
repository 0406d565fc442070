"""`heptalog verify`: what it says of good and bad games, wherever they are, and with which exit code."""

import json
import os
from pathlib import Path

import pytest

from heptalog.cli.connections import Connections
from heptalog.cli.databases import Database
from heptalog.cli.examine import verdicts_on
from heptalog.cli.spreading import _elsewhere, _own_connections
from heptalog.replay.registry import GAMES
from heptalog.service.store.duck import DuckStore
from tests.cli.given import BRIDGE, ROCKS, UP, bad, bare, changed, folder_of_games, whole, without_secrets, write
from tests.cli.running import only, run, run_program

FIELDS = ["source", "ok", "events", "sequence", "rule", "code", "message", "over"]


def test_a_good_game_is_good(game: Path) -> None:
    ended = run("verify", game, "--format", "json")
    assert ended.code == 0
    assert ended.document == [
        {
            "source": str(game),
            "ok": True,
            "events": 60,
            "sequence": None,
            "rule": None,
            "code": None,
            "message": None,
            "over": False,
        }
    ]
    assert ended.err == "heptalog: 1 game good, 0 bad; 60 events accepted\n"


def test_a_bad_game_is_told_with_place_rule_code_and_sentence(tmp_path: Path) -> None:
    lines = bare(ROCKS, length=6)
    wrong = json.dumps({"sequence": 6, "turnPassed": {"seat": 9}}).encode()
    path = write(tmp_path / "game.jsonl", [*lines, wrong])
    ended = run("verify", path, "--format", "json")
    assert ended.code == 1
    verdict = only(ended.document)
    assert list(verdict) == FIELDS
    assert (verdict["ok"], verdict["events"], verdict["sequence"]) == (False, 6, 6)
    assert verdict["code"] in ("SEAT_UNKNOWN", "NOT_YOUR_TURN")
    assert verdict["message"].startswith("line 7: ")
    text = run("verify", path)
    assert text.code == 1
    assert text.out.startswith(f"BAD  {path}: sequence 6: line 7: ")


def test_jsonl_is_one_verdict_a_line(tmp_path: Path) -> None:
    good = write(tmp_path / "a.jsonl", bare())
    wrong = write(tmp_path / "b.jsonl", bad(bare(length=5)))
    ended = run("verify", good, wrong, good, "--format", "jsonl")
    assert [(line["source"], line["ok"]) for line in ended.lines] == [
        (str(good), True),
        (str(wrong), False),
        (str(good), True),
    ]


def test_a_folder_is_searched_and_told_by_name(tmp_path: Path) -> None:
    for name in ("b/2.jsonl", "b/10.jsonl", "a.jsonl", "c/d/e.jsonl", "b-c/x.jsonl"):
        write(tmp_path / name, bare(length=3))
    for name in ("a.expected.jsonl", "b/2.expected.jsonl", "notes.txt", "b/x.jsonl.bak"):
        write(tmp_path / name, [b"not a game"])
    ended = run("verify", tmp_path, "--format", "jsonl")
    assert ended.code == 0
    names = [str(Path(line["source"]).relative_to(tmp_path)) for line in ended.lines]
    assert names == ["a.jsonl", "b/10.jsonl", "b/2.jsonl", "b-c/x.jsonl", "c/d/e.jsonl"]


def test_a_chain_and_seals_are_checked_where_there_are_any(tmp_path: Path) -> None:
    lines = whole(UP)
    assert run("verify", write(tmp_path / "good.jsonl", lines)).code == 0
    renamed = changed(lines[0], lambda tree: tree["gameStarted"]["players"][0].update(name="Somebody else"))
    broken = run("verify", write(tmp_path / "chain.jsonl", [renamed, *lines[1:]]), "--format", "json")
    assert (broken.code, broken.document[0]["code"], broken.document[0]["sequence"]) == (1, "CHAIN_BROKEN", 0)
    place = next(index for index, line in enumerate(lines) if b'"hands"' in line)

    def exchange(tree: dict[str, dict[str, list[dict[str, list[str]]]]]) -> None:
        cards = tree["cardsDealt"]["hands"][0]["cards"]
        cards[0], cards[1] = cards[1], cards[0]

    lines[place] = changed(lines[place], exchange)
    broken = run("verify", write(tmp_path / "seal.jsonl", lines), "--format", "json")
    assert (broken.code, broken.document[0]["code"], broken.document[0]["sequence"]) == (1, "SEAL_BROKEN", place)


def test_a_redacted_copy_is_a_finding_of_its_own_kind(tmp_path: Path) -> None:
    verdict = only(run("verify", write(tmp_path / "game.jsonl", without_secrets()), "--format", "json").document)
    assert (verdict["code"], verdict["sequence"], verdict["events"]) == ("VALUE_SEALED", 2, 2)
    assert verdict["message"].startswith("line 3: ")


def test_one_bad_file_never_stops_the_others(tmp_path: Path) -> None:
    folder_of_games(tmp_path / "games")
    write(tmp_path / "games" / "m.jsonl", [b"nonsense"])
    missing = tmp_path / "missing.jsonl"
    ended = run("verify", missing, tmp_path / "games", "--format", "json")
    assert ended.code == 1
    verdicts = ended.document
    assert len(verdicts) == 11
    assert (verdicts[0]["source"], verdicts[0]["code"], verdicts[0]["sequence"]) == (
        str(missing),
        "SOURCE_NOT_FOUND",
        None,
    )
    assert sum(verdict["ok"] for verdict in verdicts) == 9
    assert "9 games good, 1 bad, 1 unread" in ended.err


def test_what_cannot_be_read_is_three_unless_a_game_is_bad(tmp_path: Path, game: Path) -> None:
    wrong = write(tmp_path / "wrong.jsonl", [b"nonsense"])
    assert run("verify", game, tmp_path / "missing.jsonl").code == 3
    assert run("verify", tmp_path / "missing.jsonl", wrong).code == 1


def test_a_folder_without_games_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ended = run("verify", tmp_path / "empty", "--format", "json")
    assert ended.code == 3
    assert only(ended.document)["code"] == "SOURCE_NOT_FOUND"
    assert "there is no game file, *.jsonl or *.bundle, in it" in only(ended.document)["message"]


def test_a_game_that_ends_too_soon_is_said_to_be_running(tmp_path: Path) -> None:
    lines = bare(UP, length=10_000)
    over, short = write(tmp_path / "over.jsonl", lines), write(tmp_path / "short.jsonl", lines[:20])
    ended = run("verify", over, short)
    assert ended.out.splitlines() == [
        f"ok   {over}  {len(lines):,} events, over",
        f"ok   {short}  20 events, still running",
    ]
    document = run("verify", over, short, "--format", "json").document
    assert [verdict["over"] for verdict in document] == [True, False]


def test_what_could_not_be_read_is_not_bad(tmp_path: Path) -> None:
    missing = tmp_path / "missing.jsonl"
    wrong = write(tmp_path / "wrong.jsonl", bad(bare(length=5)))
    ended = run("verify", missing, wrong)
    assert [line.split()[0] for line in ended.out.splitlines()] == ["UNREAD", "BAD"]
    assert ended.err.startswith("heptalog: 0 games good, 1 bad, 1 unread; ")


def test_a_backup_is_not_taken_for_a_game(tmp_path: Path, database: Path) -> None:
    backup = tmp_path / "all backups" / "season"
    assert run("backup", database, backup).code == 0
    told = f"this is a backup, which `heptalog restore '{backup}' --check` checks"
    for folder in (backup, backup.parent):
        ended = run("verify", folder, "--format", "json")
        verdict = only(ended.document)
        assert (ended.code, verdict["source"], verdict["code"]) == (3, str(backup), "SOURCE_UNREADABLE")
        assert verdict["message"] == f"this cannot be opened: {told}"
    audited = run("audit", backup)
    assert (audited.code, audited.err) == (2, f"heptalog: {backup}: {told}\n")


def test_quiet_tells_only_what_is_wrong(tmp_path: Path) -> None:
    folder_of_games(tmp_path)
    wrong = write(tmp_path / "wrong.jsonl", bad(bare(BRIDGE, length=4)))
    assert run("verify", tmp_path, "--quiet").out.startswith(f"BAD  {wrong}")
    assert len(run("verify", tmp_path, "-q", "--format", "jsonl").lines) == 1


def test_many_games_in_many_processes_come_out_as_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise it takes thousands of games before a second process is worth its start.
    monkeypatch.setattr("heptalog.cli.spreading.SMALL_SIZE", 1)
    folder_of_games(tmp_path, count=30)
    write(tmp_path / "seven_up" / "7b.jsonl", bad(bare(length=12)))
    write(tmp_path / "seven_up" / "8b.jsonl", [b"{"])
    alone = run("verify", tmp_path, tmp_path / "missing", "--format", "jsonl", "--jobs", 1)
    together = run("verify", tmp_path, tmp_path / "missing", "--format", "jsonl", "--jobs", 2)
    assert together == alone
    assert (alone.code, len(alone.lines)) == (1, 93)


def test_databases_and_servers_are_verified_in_many_processes_too(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of_games(tmp_path / "games", count=3)
    log = tmp_path / "log.duckdb"
    for into in (log, server):
        assert run("import", folder, "--into", into, "--quiet").code == 0
    for name, value in (("SMALL_SIZE", 1), ("_CHUNK_COUNT", 2)):
        monkeypatch.setattr(f"heptalog.cli.spreading.{name}", value)
    alone = run("verify", log, server, "--format", "jsonl", "--jobs", 1)
    together = run("verify", log, server, "--format", "jsonl", "--jobs", 2)
    assert together == alone
    assert (alone.code, len(alone.lines)) == (0, 2 * 3 * len(GAMES))


def test_what_comes_through_a_pipe_is_verified_beside_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heptalog.cli.spreading.SMALL_SIZE", 1)
    folder = folder_of_games(tmp_path / "games", count=3)
    read, write_end = os.pipe()
    try:
        # Less than a pipe holds, so that nobody has to wait for the reader.
        with os.fdopen(write_end, "wb") as into:
            into.write(b"\n".join(bare(length=12)) + b"\n")
        ended = run("verify", folder, f"/dev/fd/{read}", "--format", "jsonl", "--jobs", 2)
    finally:
        os.close(read)
    assert ended.code == 0, ended.err
    assert [line["events"] for line in ended.lines][-1] == 12


def test_a_process_opens_a_database_once_for_all_its_chunks(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    class Counted(DuckStore):
        def __init__(self, path: Path, *, is_read_only: bool = False) -> None:
            opened.append(path)
            super().__init__(path, is_read_only=is_read_only)

    monkeypatch.setattr("heptalog.service.store.duck.DuckStore", Counted)
    _own_connections.cache_clear()
    try:
        with Connections() as connections:
            chunk = list(Database(database).games(connections))
        opened.clear()
        chunks = [_elsewhere(verdicts_on, Connections.read_ahead, chunk) for _ in range(3)]
        assert [verdict.ok for verdicts in chunks for verdict in verdicts] == [True] * 3
        assert opened == [database]
    finally:
        _own_connections().close()
        _own_connections.cache_clear()


def test_the_output_does_not_hang_on_the_hash_seed(tmp_path: Path) -> None:
    folder_of_games(tmp_path, count=2)
    write(tmp_path / "wrong.jsonl", bad(bare(length=4)))
    ended = {
        run_program("verify", tmp_path, "--format", "json", environment={"PYTHONHASHSEED": seed}) for seed in "123"
    }
    assert len(ended) == 1
