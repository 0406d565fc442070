"""`heptalog audit` of what the engine cannot read, and of tables that were altered: told, and the rest audited."""

from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from heptalog.replay.errors import Code, Corrupt
from heptalog.service.store.duck_kept import Kept, opened_kept
from tests.cli.audits import alter, in_many_processes
from tests.cli.given import copied
from tests.cli.running import run
from tests.trials.large import filled
from tests.trials.victims import Victim

_HEADERS = 3 * 4096
_BLOCK_SIZE = 262_144


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log whose records lie in many blocks."""
    path = tmp_path_factory.mktemp("large") / "games.duckdb"
    filled(path, 12_000, 1)
    return path


@pytest.fixture(scope="module")
def smaller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log whose tables lie in different blocks: where no record has a position, each game is looked for alone."""
    path = tmp_path_factory.mktemp("smaller") / "games.duckdb"
    filled(path, 5_000, 1)
    return path


def damaged(log: Path, folder: Path, table: str, column: str) -> Path:
    """A copy of it in which a bit has flipped in the first block of a column."""
    storage = f"SELECT block_id FROM pragma_storage_info('log.{table}') WHERE column_name = ? AND block_id >= 0"
    with duckdb.connect(log, read_only=True) as connection:
        block, *_ = (row[0] for row in connection.execute(storage, [column]).fetchall())
    content = bytearray(log.read_bytes())
    content[_HEADERS + block * _BLOCK_SIZE + 100] ^= 1
    path = folder / log.name
    path.write_bytes(content)
    path.with_name(f"{path.name}.head").write_bytes(log.with_name(f"{log.name}.head").read_bytes())
    return path


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_engine_cannot_read_is_told_and_all_around_it_audited(
    jobs: int, large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = copied(large, tmp_path / "games.duckdb")
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
    unread = whole["last"] - whole["position"] + 1
    assert 0 < unread < ended.document["events"]
    games = [finding["number"] for finding in ended.document["findings"] if finding.get("table") == "games"]
    assert 0 < len(games) < ended.document["games"] // 2
    assert games == list(range(games[0], games[-1] + 1))


@pytest.mark.parametrize(
    ("table", "column", "told"),
    [
        ("events", "position", {"events", "games", None}),
        ("games", "game_id", {"games"}),
        ("endings", "status", {"endings"}),
        ("tree", "hash", {"tree"}),
    ],
)
def test_a_damaged_block_of_any_table_is_told_and_what_can_be_read_is_audited(
    table: str,
    column: str,
    told: set[str | None],
    smaller: Path,
    tmp_path: Path,
) -> None:
    log = damaged(smaller, tmp_path, table, column)
    ended = run("audit", log, "--jobs", 1, "--format", "json")
    assert (ended.code, ended.document["ok"]) == (1, False)
    findings = ended.document["findings"]
    damages = [finding for finding in findings if finding["code"] == "RECORD_DAMAGED"]
    assert {finding.get("table") for finding in damages} == told
    with duckdb.connect(smaller, read_only=True) as connection:
        ((events, games),) = connection.execute(
            "SELECT (SELECT count(*) FROM log.events), (SELECT count(*) FROM log.games)"
        ).fetchall()
    if table == "events":
        assert (ended.document["root"], ended.document["games"]) == (None, games)
        assert "HEAD_DIFFERS" in ended.document["counts"]
        assert {(finding.get("position"), finding.get("last")) for finding in damages} >= {(1, events)}
    else:
        # Everything but that table was looked at, and is as it was.
        assert set(ended.document["counts"]) == {"RECORD_DAMAGED"}
        assert (ended.document["events"], ended.document["games"]) == (events, games)
        assert ended.document["root"] is not None


def test_what_cannot_be_read_is_looked_for_without_opening_the_log_again(
    smaller: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openings = 0

    def counted(path: Path) -> Kept:
        nonlocal openings
        openings += 1
        return opened_kept(path)

    monkeypatch.setattr("heptalog.cli.auditing.opened_kept", counted)
    assert run("audit", smaller, "--no-state", "--jobs", 1).code == 0
    whole, openings = openings, 0
    log = damaged(smaller, tmp_path, "events", "position")
    assert run("audit", log, "--no-state", "--jobs", 1).code == 1
    assert openings == whole


def test_after_a_question_that_failed_the_next_is_answered(smaller: Path, tmp_path: Path) -> None:
    with closing(opened_kept(damaged(smaller, tmp_path, "events", "position"))) as kept:
        names = kept.names()
        with pytest.raises(Corrupt):
            kept.spans(100)
        assert kept.begin_anew()
        assert kept.names() == names
    # Where the engine itself can do no more, somebody has to open it.
    assert not kept.begin_anew()


def test_a_question_about_all_that_cannot_be_answered_ends_nothing(
    victim: Victim, monkeypatch: pytest.MonkeyPatch
) -> None:
    alter(victim.path, "UPDATE log.checkpoints SET checkpoint_number = 9")

    def unreadable(self: Kept, *asked: object) -> object:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", path="games.duckdb")

    for question in ("spans", "buckets", "strays", "tree_shape", "without_number"):
        monkeypatch.setattr(Kept, question, unreadable)
    ended = run("audit", victim.path, "--no-state", "--jobs", "1", "--format", "json")
    events = len(victim.log.rows("events"))
    assert (ended.code, ended.document["events"], ended.document["games"]) == (1, events, 6)
    assert ended.document["counts"] == {"COLUMNS_DIFFER": 1, "RECORD_DAMAGED": 4}
    tables = [finding["table"] for finding in ended.document["findings"] if finding["code"] == "RECORD_DAMAGED"]
    assert sorted(tables) == ["endings", "events", "games", "tree"]


def test_a_checkpoint_over_what_cannot_be_read_is_told(victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(self: Kept, low: int, high: int) -> object:
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", path="games.duckdb")

    monkeypatch.setattr(Kept, "links", unreadable)
    ended = run("audit", victim.path, "--jobs", "1", "--format", "json")
    told = [finding for finding in ended.document["findings"] if finding["code"] == "CHECKPOINT_DIFFERS"]
    numbers = {row[0] for row in victim.log.rows("checkpoints")}
    assert {finding.get("number") for finding in told} == numbers | {None}
    assert ended.document["checkpoints"] == len(numbers)


# Tables that somebody has altered.


@pytest.mark.parametrize(
    ("statement", "table", "column"),
    [
        ("ALTER TABLE log.games ALTER COLUMN options TYPE JSON", "games", "options"),
        ("ALTER TABLE log.games ALTER COLUMN rules_version TYPE VARCHAR", "games", "rules_version"),
        ("ALTER TABLE log.games DROP COLUMN tags", "games", "tags"),
        ("ALTER TABLE log.games ALTER COLUMN ruleset DROP NOT NULL", "games", "ruleset"),
        ("ALTER TABLE log.games ADD COLUMN more BIGINT", "games", "more"),
        ("ALTER TABLE log.events DROP COLUMN event", "events", "event"),
        ("ALTER TABLE log.events ALTER COLUMN position TYPE VARCHAR", "events", "position"),
        ("ALTER TABLE log.events ALTER COLUMN event DROP NOT NULL", "events", "event"),
        ("ALTER TABLE log.endings RENAME COLUMN winners TO losers", "endings", "winners"),
        ("DROP TABLE log.events", "events", None),
        ("DROP TABLE log.games", "games", None),
        ("DROP TABLE log.endings", "endings", None),
        ("DROP TABLE log.refusals", "refusals", None),
        ("DROP TABLE log.tree", "tree", None),
        ("DROP TABLE log.checkpoints", "checkpoints", None),
        ("DROP TABLE log.incidents", "incidents", None),
        ("CREATE TABLE log.more (number BIGINT)", "more", None),
    ],
)
def test_a_table_that_was_altered_is_told_and_the_others_audited(
    statement: str, table: str, column: str | None, victim: Victim, key: Path
) -> None:
    alter(victim.path, statement)
    ended = run("audit", victim.path, "--key", key, "--format", "json")
    assert (ended.code, ended.err) == (1, "")
    findings = ended.document["findings"]
    assert (findings[0]["code"], findings[0]["table"], findings[0].get("column")) == ("COLUMNS_DIFFER", table, column)
    if table == "events" and "DROP NOT NULL" not in statement:
        assert (ended.document["events"], ended.document["root"]) == (0, None)
    else:
        assert ended.document["events"] == len(victim.log.rows("events"))
        assert ended.document["root"] is not None
        assert len({finding["table"] for finding in findings}) == 1


def test_an_altered_table_hides_nothing_in_the_others(victim: Victim) -> None:
    alter(victim.path, "DROP TABLE log.games")
    alter(victim.path, "UPDATE log.events SET seat = 9 WHERE position = 3")
    findings = run("audit", victim.path, "--format", "json").document["findings"]
    assert [(finding["table"], finding.get("position")) for finding in findings] == [("games", None), ("events", 3)]
