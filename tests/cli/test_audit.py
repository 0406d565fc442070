"""`heptalog audit`: a whole log, in a database or on a server, told place by place, and gone on with after a stop."""

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count, islice
from pathlib import Path
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from heptalog.cli.auditing import Auditor, Database, Server
from heptalog.replay.errors import Code, Corrupt
from heptalog.service.auditing.findings import Finding
from heptalog.service.evidence.keys import SigningKey
from heptalog.service.store import Stored
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_kept import Kept
from heptalog.service.store.heads import head_path
from heptalog.service.store.memory import MemoryStore
from tests.cli.given import folder_of_games
from tests.cli.running import run, serving
from tests.contract.given import fill, game
from tests.support.serving import Service
from tests.trials.large import filled
from tests.trials.victims import KEYS, Victim, made


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    """A log with something of everything, and checkpoints."""
    return made(tmp_path / "games.duckdb", length=50, games_each=2)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """The public key of its checkpoints."""
    path = tmp_path / "log.pub"
    path.write_text("".join(f"{key.format()}\n" for key in KEYS))
    return path


@pytest.fixture
def outside(tmp_path: Path, victim: Victim) -> Path:
    """A checkpoint that somebody has kept."""
    path = tmp_path / "kept.checkpoint"
    path.write_text(victim.outside)
    return path


@pytest.fixture
def small_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pieces of work, where a small log would be one."""
    monkeypatch.setattr("heptalog.service.auditing.audit.GAMES_EVENTS", 1)
    for module in ("auditing.audit", "auditing.servers", "store.duck_kept"):
        monkeypatch.setattr(f"heptalog.service.{module}.BUCKET_WIDTH", 1)


def alter(path: Path, statement: str, *parameters: object) -> None:
    """Change a database behind our back."""
    with duckdb.connect(path) as connection:
        connection.execute(statement, parameters)


def test_a_whole_log_is_told_in_three_lines(victim: Victim, outside: Path, key: Path) -> None:
    ended = run("audit", victim.path, "--checkpoint", outside, "--key", key)
    assert (ended.code, ended.err) == (0, "")
    told, root, latest = ended.out.splitlines()
    size = len(victim.log.rows("events"))
    assert told.startswith(f"ok   {victim.path}  {size} events, 6 games, ")
    # As the third line of a checkpoint has it, so that it can be compared by eye.
    assert root == f"root {victim.outside.splitlines()[2]}  size {size}"
    assert latest == f"latest checkpoint that holds: over {size} events"
    assert not victim.path.with_name("games.duckdb.audit").exists()


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
        "game": "seven_rocks-0",
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


def in_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heptalog.cli.auditing.SMALL_COUNT", 0)


def test_many_processes_find_what_one_finds(tmp_path: Path, small_works: None, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "games.duckdb"
    assert run("import", folder_of_games(tmp_path / "games"), "--into", log, "--quiet").code == 0
    alter(log, "UPDATE log.events SET kind = 'x' WHERE position % 50 = 0")
    alone = run("audit", log, "--jobs", 1, "--format", "jsonl")
    in_many_processes(monkeypatch)
    together = run("audit", log, "--jobs", 2, "--format", "jsonl")
    assert together == alone
    assert alone.code == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_engine_cannot_read_is_told_and_all_around_it_audited(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "games.duckdb"
    events = filled(log, 12_000, 1)
    content = bytearray(log.read_bytes())
    # Past the middle lie the records, which are by far the most.
    content[len(content) * 3 // 5] ^= 1
    log.write_bytes(content)
    in_many_processes(monkeypatch)
    ended = run("audit", log, "--jobs", jobs, "--format", "json")
    assert ended.code == 1
    counts = ended.document["counts"]
    assert set(counts) == {"RECORD_DAMAGED", "HEAD_DIFFERS"}
    (whole,) = [finding for finding in ended.document["findings"] if finding.get("position")]
    assert 0 < whole["last"] - whole["position"] < events // 2
    games = [finding["number"] for finding in ended.document["findings"] if finding.get("table") == "games"]
    assert 0 < len(games) < ended.document["games"] // 2
    assert games == list(range(games[0], games[-1] + 1))


# Stopping, and going on.


def auditor(victim: Victim, state: Path | None) -> Auditor:
    seconds = count()
    return Auditor(Database(victim.path), (), KEYS, state=state, clock=lambda: 10.0 * next(seconds))


def everything(found: Iterator[Finding | None]) -> list[Finding]:
    return [finding for finding in found if finding is not None]


def test_an_audit_that_was_stopped_goes_on_where_it_was(victim: Victim, tmp_path: Path, small_works: None) -> None:
    alter(victim.path, "UPDATE log.events SET seat = 9 WHERE position % 10 = 0")
    state = tmp_path / "state"
    with auditor(victim, None) as whole:
        findings, summary = everything(whole.findings(jobs=1)), whole.summary()
    assert len(findings) > 10
    stops = 0
    while True:
        with auditor(victim, state) as part:
            assert part.is_resumed == bool(stops)
            before = part.events_done
            found = part.findings(jobs=1)
            # So far, and then one piece of work more.
            for finding in found:
                if finding is None and part.events_done > before:
                    break
            else:
                break
            found.close()
            assert state.exists()
            stops += 1
    assert stops > 3
    assert not state.exists()
    with auditor(victim, state) as again:
        assert not again.is_resumed
    assert part.summary() == summary
    assert sorted(map(repr, part._progress.findings)) == sorted(map(repr, findings))


def test_a_log_that_has_changed_meanwhile_is_begun_anew(victim: Victim, tmp_path: Path, small_works: None) -> None:
    state = tmp_path / "state"
    with auditor(victim, state) as first:
        next(first.findings(jobs=1))
    assert state.exists()
    alter(victim.path, "UPDATE log.events SET seat = 9 WHERE position = 10")
    ended = run("audit", victim.path, "--state", state)
    assert ended.code == 1
    assert "it begins anew" in ended.err
    assert not state.exists()


def test_a_state_that_cannot_be_used_is_written_over(victim: Victim, tmp_path: Path) -> None:
    for content in (b"", b'{"bound":', b'{"bound":{},"version":7}'):
        state = tmp_path / "state"
        state.write_bytes(content)
        assert run("audit", victim.path, "--state", state).code == 0
        assert not state.exists()


def test_what_is_no_state_is_never_written_over(victim: Victim, tmp_path: Path) -> None:
    other = tmp_path / "season.key"
    other.write_bytes(b"PRIVATE+KEY+example.org/season+00000000+AAAA\n")
    for path in (victim.path, other):
        content = path.read_bytes()
        ended = run("audit", victim.path, "--state", path)
        assert ended.code == 3
        assert "[SOURCE_UNREADABLE]" in ended.err
        assert path.read_bytes() == content


def test_where_no_state_can_be_kept_it_is_said(victim: Victim, tmp_path: Path) -> None:
    # Not even root can write into a folder that is not there.
    ended = run("audit", victim.path, "--state", tmp_path / "missing" / "state")
    assert (ended.code, ended.out) == (3, "")
    victim.path.with_name(".games.duckdb.audit.new").mkdir()
    ended = run("audit", victim.path)
    assert ended.code == 0
    assert "games.duckdb.audit cannot be written" in ended.err


# Servers.


@pytest.fixture(params=[MemoryStore, None], ids=["memory", "duck"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """A server with some games."""
    store = request.param() if request.param else DuckStore(tmp_path / "served.duckdb")
    with Service(store) as service:
        folder = folder_of_games(tmp_path / "games")
        assert run("import", folder, "--into", f"grpc://{service.target}", "--quiet").code == 0
        yield service
    store.close()


def test_a_server_is_audited_through_what_it_serves(service: Service) -> None:
    ended = run("audit", f"grpc://{service.target}", "--format", "json")
    assert ended.code == 0
    head = service.store.tree_head()
    assert (ended.document["size"], ended.document["games"]) == (head.size, 9)
    assert ended.document["events"] == head.size


def _flipped(stored: Stored) -> Stored:
    record = stored.record
    return replace(stored, record=record[:40] + bytes([record[40] ^ 1]) + record[41:])


def _everywhere(stored: Stored) -> Stored:
    return _flipped(stored) if stored.position == 7 else stored


def _once() -> Callable[[Stored], Stored]:
    """One who asks by position is told something else than one who asks for a game, later."""
    times = count()
    return lambda stored: _flipped(stored) if stored.position == 7 and not next(times) else stored


@pytest.mark.parametrize("name", ["everywhere", "by position"])
def test_a_server_that_serves_something_else_is_found_out(name: str, service: Service) -> None:
    service.store.damage = _everywhere if name == "everywhere" else _once()
    ended = run("audit", f"grpc://{service.target}", "--format", "json")
    assert ended.code == 1
    assert ended.document["counts"] == {"CHAIN_BROKEN" if name == "everywhere" else "POSITION_DAMAGED": 1}


def test_a_log_that_grows_is_audited_as_it_was(service: Service, tmp_path: Path, small_works: None) -> None:
    place = Server(service.target)
    with Auditor(place, (), (), state=tmp_path / "state") as auditor:
        size = auditor.events // 2
        more = folder_of_games(tmp_path / "more", count=5)
        found: list[Any] = list(islice(auditor.findings(jobs=1), 1))
        assert run("import", more, "--into", f"grpc://{service.target}", "--quiet").code == 0
        found += auditor.findings(jobs=1)
        assert [finding for finding in found if finding is not None] == []
        assert auditor.summary().size == size
    assert service.store.tree_head().size > size


def test_the_checkpoints_of_a_server_are_held_against_what_it_serves(victim: Victim, key: Path, outside: Path) -> None:
    with serving(victim.path) as server:
        ended = run("audit", server.url, "--key", key, "--checkpoint", outside, "--format", "json")
        assert ended.code == 0
        assert ended.document["checkpointSize"] == len(victim.log.rows("events"))
        assert ended.document["checkpoints"] == len({row[1] for row in victim.log.rows("checkpoints")})


def test_a_log_without_any_checkpoint_is_not_one_that_a_key_has_signed(tmp_path: Path, key: Path) -> None:
    path = tmp_path / "log.duckdb"
    with closing(DuckStore(path)) as store:
        fill(store, [game(1)])
    assert run("audit", path).code == 0
    ended = run("audit", path, "--key", key, "--format", "json")
    assert (ended.code, ended.document["counts"]) == (1, {"SIGNATURE_MISSING": 1})


def test_where_the_engine_can_read_no_further_what_was_found_is_told(
    victim: Victim, monkeypatch: pytest.MonkeyPatch
) -> None:
    alter(victim.path, "UPDATE log.checkpoints SET checkpoint_number = 9")

    def damaged(self: Kept, width: int) -> object:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", path="games.duckdb")

    monkeypatch.setattr(Kept, "spans", damaged)
    ended = run("audit", victim.path, "--no-state", "--jobs", "1", "--format", "json")
    assert (ended.code, ended.document["ok"], ended.document["root"]) == (1, False, None)
    assert ended.document["counts"] == {"COLUMNS_DIFFER": 1, "RECORD_DAMAGED": 1}
