"""`heptalog audit`: a whole log, told place by place."""

from contextlib import closing
from pathlib import Path

import pytest

from heptalog.service.evidence.keys import SigningKey
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.heads import head_path
from tests.cli.audits import alter, in_many_processes
from tests.cli.given import folder_of_games
from tests.cli.running import run
from tests.contract.given import fill, game
from tests.trials.victims import Victim, made


def test_a_whole_log_is_told_in_three_lines(victim: Victim, outside: Path, key: Path) -> None:
    ended = run("audit", victim.path, "--checkpoint", outside, "--key", key)
    assert (ended.code, ended.err) == (0, "")
    told, root, latest = ended.out.splitlines()
    size = len(victim.log.rows("events"))
    assert told.startswith(f"ok   {victim.path}  {size} events, 6 games, ")
    # As the third line of a checkpoint has it, so that it can be compared by eye.
    assert root == f"root {victim.outside.splitlines()[2]}  size {size}"
    assert latest.startswith(f"latest checkpoint that holds: over {size} events, signed by example.org/tampered at 20")


def test_who_has_signed_instead_is_told_once(victim: Victim, tmp_path: Path) -> None:
    other = tmp_path / "other.pub"
    other.write_text("".join(f"{one.format()}\n" for one in SigningKey("example.org/other", b"8" * 32).verifiers))
    ended = run("audit", victim.path, "--key", other)
    assert ended.code == 1
    told, more, *_, latest = ended.out.splitlines()
    assert "none of the given keys has signed this: signed by example.org/tampered" in told
    count = run("audit", victim.path, "--key", other, "--format", "json").document["counts"]["SIGNATURE_MISSING"]
    assert more == f"BAD  {victim.path}: {count - 1} more [SIGNATURE_MISSING]"
    assert latest.endswith(" events, signed by none of the given keys")
    assert not [path for path in victim.path.parent.iterdir() if "audit" in path.name]


def test_as_json_and_as_lines(victim: Victim) -> None:
    alter(victim.path, "UPDATE log.events SET seat = 9 WHERE position IN (3, 4)")
    whole = run("audit", victim.path, "--format", "json").document
    lines = run("audit", victim.path, "--format", "jsonl").lines
    assert [line["position"] for line in lines[:-1]] == [3, 4]
    assert lines[0] == {
        "source": str(victim.path),
        "code": "COLUMNS_DIFFER",
        "message": "what is kept beside the record is not what the record says",
        "rule": "evidence",
        "position": 3,
        "gameId": "seven_rocks-0",
        "sequence": 2,
        "table": "events",
        "column": "seat",
    }
    assert whole.pop("findings") == [{name: line[name] for name in line if name != "source"} for line in lines[:-1]]
    assert whole == lines[-1]
    assert (whole["ok"], whole["counts"]) == (False, {"COLUMNS_DIFFER": 2})


def test_every_bad_place_is_told_and_no_more_than_a_person_can_read(victim: Victim) -> None:
    alter(victim.path, "UPDATE log.events SET recorded_by = 'somebody'")
    alter(victim.path, "DELETE FROM log.endings WHERE game_number = 1")
    ended = run("audit", victim.path)
    size = len(victim.log.rows("events"))
    lines = ended.out.splitlines()
    assert ended.code == 1
    assert sum("[COLUMNS_DIFFER]" in line for line in lines) == 21
    assert f"BAD  {victim.path}: {size - 20} more [COLUMNS_DIFFER]" in lines
    assert any("[ENDINGS_DIFFER]" in line for line in lines) == bool(
        [row for row in victim.log.rows("endings") if row[0] == 1]
    )
    assert len(run("audit", victim.path, "--format", "jsonl").lines) > size


def test_a_log_that_does_not_open_is_audited_all_the_same(victim: Victim) -> None:
    size = len(victim.log.rows("events"))
    alter(victim.path, "DELETE FROM log.events WHERE position > ?", size - 3)
    findings = run("audit", victim.path, "--format", "json").document["findings"]
    lost = [finding for finding in findings if finding["code"] == "EVENTS_LOST"]
    assert {finding.get("path") or finding["table"] for finding in lost} == {
        "games.duckdb.head",
        "games.duckdb.checkpoint",
        "checkpoints",
    }
    assert {(finding["position"], finding["last"]) for finding in lost} == {(size - 2, size)}


def test_a_copy_without_its_head_record_is_told(victim: Victim) -> None:
    head_path(victim.path).unlink()
    ended = run("audit", victim.path)
    assert ended.code == 1
    assert "[HEAD_MISSING]" in ended.out
    head_path(victim.path).write_bytes(b"nonsense")
    assert (
        "games.duckdb.head: the head record beside the database is missing or damaged" in run("audit", victim.path).out
    )


def test_a_checkpoint_that_was_signed_over_another_log_is_told(
    victim: Victim, key: Path, tmp_path: Path, outside: Path
) -> None:
    other = made(tmp_path / "other.duckdb", length=50, games_each=1)
    note = tmp_path / "other.checkpoint"
    note.write_text(other.outside)
    ended = run("audit", victim.path, "--checkpoint", note, "--checkpoint", outside, "--key", key)
    assert ended.code == 1
    (line,) = [line for line in ended.out.splitlines() if "[CHECKPOINT_DIFFERS]" in line]
    assert "other.checkpoint: this is not the log that the checkpoint was signed over" in line
    longer = made(tmp_path / "longer.duckdb", length=60, games_each=3)
    note.write_text(longer.outside)
    assert "[EVENTS_LOST]" in run("audit", victim.path, "--checkpoint", note).out


def test_a_checkpoint_of_no_key_is_told(victim: Victim, outside: Path, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger.pub"
    stranger.write_text(SigningKey("example.org/stranger", bytes(32)).verifiers[0].format())
    ended = run("audit", victim.path, "--checkpoint", outside, "--key", stranger, "--format", "json")
    assert ended.code == 1
    # The one given, the one beside the database, and those in it.
    kept = len(victim.log.rows("checkpoints"))
    assert ended.document["counts"] == {"SIGNATURE_MISSING": 2 + kept}


@pytest.mark.parametrize("name", ["", "missing.duckdb", "games.duckdb#game", "grpc://127.0.0.1:1", "."])
def test_what_cannot_be_audited(name: str, victim: Victim, tmp_path: Path) -> None:
    text = name if name.startswith("grpc") or not name else str(tmp_path / name)
    ended = run("audit", text)
    assert (ended.code, ended.out) == (3 if name in ("missing.duckdb", "grpc://127.0.0.1:1") else 2, "")
    assert ended.err.count("\n") == 1


def test_a_checkpoint_that_is_none_is_no_finding(victim: Victim, tmp_path: Path) -> None:
    assert run("audit", victim.path, "--checkpoint", tmp_path / "missing").code == 3
    (tmp_path / "nonsense").write_text("nonsense")
    ended = run("audit", victim.path, "--checkpoint", tmp_path / "nonsense")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "[NOTE_INVALID]" in ended.err
    assert run("audit", victim.path, "--state", tmp_path / "state", "--no-state").code == 2


def test_nothing_hidden_is_told(victim: Victim) -> None:
    """Whatever is done to a hand, neither it nor its salt is in what is said."""
    for row in victim.log.rows("events"):
        if row[4] == "tilesDealt":
            alter(
                victim.path,
                "UPDATE log.events SET event = ? WHERE position = ?",
                row[2].replace(b"6-6", b"6-5"),
                row[0],
            )
    ended = run("audit", victim.path, "--format", "json")
    assert "SEAL_BROKEN" in ended.document["counts"]
    assert not [text for text in ("6-5", "6-6", "5-5", "0-0") if text in ended.out]


def test_many_processes_find_what_one_finds(tmp_path: Path, small_works: None, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "games.duckdb"
    assert run("import", folder_of_games(tmp_path / "games"), "--into", log, "--quiet").code == 0
    alter(log, "UPDATE log.events SET kind = 'x' WHERE position % 50 = 0")
    alone = run("audit", log, "--jobs", 1, "--format", "jsonl")
    in_many_processes(monkeypatch)
    together = run("audit", log, "--jobs", 2, "--format", "jsonl")
    assert together == alone
    assert alone.code == 1


def test_a_log_without_any_checkpoint_is_not_one_that_a_key_has_signed(tmp_path: Path, key: Path) -> None:
    path = tmp_path / "log.duckdb"
    with closing(DuckStore(path)) as store:
        fill(store, [game(1)])
    assert run("audit", path).code == 0
    ended = run("audit", path, "--key", key, "--format", "json")
    assert (ended.code, ended.document["counts"]) == (1, {"SIGNATURE_MISSING": 1})


def test_a_finding_without_a_place_has_none(victim: Victim) -> None:
    alter(victim.path, "DELETE FROM log.checkpoints")
    victim.path.with_name("games.duckdb.checkpoint").unlink()
    other = SigningKey("example.org/other", bytes(32)).verifiers[0].format()
    lines = run("audit", victim.path, "--key", other).out.splitlines()
    assert lines[0].startswith(f"BAD  {victim.path}: ")
    assert ": :" not in lines[0]
    assert lines[0].endswith("(evidence) [SIGNATURE_MISSING]")


def test_a_log_behind_a_link_has_its_files_where_it_lies(victim: Victim, tmp_path: Path, key: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "season.duckdb"
    link.symlink_to(victim.path)
    ended = run("audit", link, "--key", key)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"ok   {link}  ")
    head_path(victim.path).unlink()
    assert "games.duckdb.head: the head record" in run("audit", link).out


def test_the_checkpoint_beside_the_database_is_one_that_it_keeps(victim: Victim, key: Path) -> None:
    last = max(row[0] for row in victim.log.rows("checkpoints"))
    alter(victim.path, "DELETE FROM log.checkpoints WHERE checkpoint_number = ?", last)
    (finding,) = run("audit", victim.path, "--key", key, "--format", "json").document["findings"]
    assert (finding["code"], finding["table"], finding["path"]) == (
        "COLUMNS_DIFFER",
        "checkpoints",
        "games.duckdb.checkpoint",
    )


@pytest.mark.parametrize("size", [-1, 0, 1, 10**9])
def test_a_checkpoint_that_is_kept_for_another_size_is_told_as_that(size: int, victim: Victim) -> None:
    alter(victim.path, "UPDATE log.checkpoints SET size = ? WHERE checkpoint_number = 1", size)
    (finding,) = run("audit", victim.path, "--format", "json").document["findings"]
    place = {"code": "COLUMNS_DIFFER", "table": "checkpoints", "column": "size", "number": 1}
    assert finding | place == finding
    assert "position" not in finding
