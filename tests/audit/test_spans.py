"""A log by position: many spans, many levels of the tree, with tiles so small that a short log has all of them."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from msgspec.json import decode, encode
from msgspec.structs import replace

from heptalog.replay.errors import Code
from heptalog.replay.evidence.merkle import Frontier, leaf_hash
from heptalog.service.auditing.audit import Audit, Summary, done
from heptalog.service.auditing.findings import Finding
from heptalog.service.auditing.progress import Bound, Progress
from heptalog.service.auditing.sources import Claim, Given
from heptalog.service.auditing.tiles import Tiles
from tests.trials.forgeries import with_tree
from tests.trials.tampered import Log, Rows, read
from tests.trials.tampers import POSITION, RECORD
from tests.trials.victims import made

WIDTH = 4
SPAN = WIDTH * WIDTH


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of four entries, and spans of sixteen events."""
    for module in ("tiles", "spans", "audit", "beginning", "reading"):
        monkeypatch.setattr(f"heptalog.service.auditing.{module}.TILE_WIDTH", WIDTH)
    for module in ("tiles", "spans", "audit", "reading"):
        monkeypatch.setattr(f"heptalog.service.auditing.{module}.SPAN_WIDTH", SPAN)
    monkeypatch.setattr("tests.trials.forgeries.TILE_WIDTH", WIDTH)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Log:
    """A log as it was written, with tiles of the real size."""
    return read(made(tmp_path_factory.mktemp("spans") / "games.duckdb", length=60, games_each=2).path)


@pytest.fixture
def log(written: Log) -> Log:
    """The same with small tiles, all of them stored."""
    return with_tree(written.with_rows(tree=[(1, 0, b"")]))


def size_of(log: Log) -> int:
    return len(log.rows("events"))


def roots_of(log: Log) -> list[bytes]:
    """The root at every size."""
    frontier = Frontier()
    roots = [frontier.root()]
    for row in sorted(log.rows("events"), key=lambda row: row[POSITION]):
        frontier.append(leaf_hash(row[RECORD][36:68]))
        roots.append(frontier.root())
    return roots


def audited(log: Log, claims: Sequence[Claim] = (), *, is_stopped_often: bool = False) -> tuple[list[Finding], Summary]:
    """What an audit finds, in one go, or begun anew from what was written down after every piece of work."""
    source = Rows(log)
    last, count = source.extent()
    given = Given(tuple(claims))
    audit = Audit(lambda: source, given, Progress(Bound("", count, last, b"", (), b"")))
    audit.begin()
    while (work := next(audit.works(), None)) is not None:
        audit.take(done(source, work, ()))
        if is_stopped_often:
            audit = Audit(lambda: source, given, decode(encode(audit.progress), type=Progress))
            assert audit.begin() == []
    audit.end()
    return audit.progress.findings, audit.summary()


def test_the_tree_is_made_anew_whatever_the_size(log: Log) -> None:
    roots = roots_of(log)
    assert size_of(log) > 3 * WIDTH**3
    for size in [*range(1, 2 * SPAN + 2), WIDTH**3 - 1, WIDTH**3, WIDTH**3 + 1, size_of(log)]:
        events = [row for row in log.rows("events") if row[POSITION] <= size]
        part = with_tree(log.with_rows(events=events, checkpoints=()))
        findings, summary = audited(part)
        assert summary.root == roots[size]
        assert not [finding for finding in findings if finding.code is Code.TREE_DIFFERS], size


def test_it_makes_no_difference_where_an_audit_stops(log: Log) -> None:
    bad = log.with_value("events", 40, "seat", 9).with_row("events", 70).with_value("tree", 30, "hash", b"")
    claims = [Claim(size, bytes(32), Code.CHECKPOINT_DIFFERS) for size in (1, 16, 17, 50, size_of(log), 1000)]
    for one, brought in ((bad, claims), (log, ())):
        findings, summary = audited(one, brought)
        again, stopped = audited(one, brought, is_stopped_often=True)
        assert again == findings
        assert (stopped.from_state, replace(stopped, from_state=0)) == (stopped.readings, summary)
    assert audited(log)[1].ok


def test_a_claim_is_judged_at_every_size(log: Log) -> None:
    roots = roots_of(log)
    true = [Claim(size, root, Code.CHECKPOINT_DIFFERS) for size, root in enumerate(roots)]
    findings, summary = audited(log, true)
    assert (findings, summary.checkpoints) == ([], len(log.rows("checkpoints")))
    assert summary.checkpoint_size == len(roots) - 1
    false = [replace(claim, root=bytes(32), path=f"{claim.size}") for claim in true]
    findings, _ = audited(log, false)
    assert [finding.path for finding in findings] == [f"{size}" for size in range(len(roots))]


def test_every_entry_of_every_level_is_held_against_the_events(log: Log) -> None:
    rows = log.rows("tree")
    assert {row[0] for row in rows} == {1, 2, 3}
    for place, (level, index, digest) in enumerate(rows):
        findings, _ = audited(log.with_row("tree", place, (level, index, digest[::-1])))
        (finding,) = findings
        assert (finding.code, finding.number) == (Code.TREE_DIFFERS, index)
        width = WIDTH**level
        assert (finding.position, finding.last) == (index * width + 1, (index + 1) * width)
        assert f"level {level}" in finding.message


def test_an_entry_that_is_missing_is_told(log: Log) -> None:
    for place in range(len(log.rows("tree"))):
        findings, _ = audited(log.with_row("tree", place))
        assert {finding.code for finding in findings} == {Code.TREE_DIFFERS}


def test_what_is_stored_late_need_not_be_there_yet(log: Log) -> None:
    for count in range(size_of(log) // WIDTH + 1):
        levels = {level: count // WIDTH ** (level - 1) for level in (1, 2, 3)}
        rows = [row for row in log.rows("tree") if row[1] < levels[row[0]]]
        assert audited(log.with_rows(tree=rows))[0] == [], count


def test_many_missing_events_are_one_finding(log: Log) -> None:
    head = Claim(size_of(log), roots_of(log)[-1], Code.HEAD_DIFFERS)
    for first, last in [(17, 32), (17, 64), (10, 40), (1, 16), (1, 1), (33, 34)]:
        events = [row for row in log.rows("events") if not first <= row[POSITION] <= last]
        findings, summary = audited(log.with_rows(events=events, checkpoints=()), [head])
        places = sorted(
            (finding.position, finding.last or finding.position)
            for finding in findings
            if finding.code is Code.POSITION_DAMAGED and finding.position is not None and finding.position <= last
        )
        # Two spans that are cut each tell of their own.
        assert (places[0][0], places[-1][1]) == (first, last)
        assert all(one[1] == other[0] - 1 for one, other in pairwise(places))
        assert summary.root is None
        assert Code.HEAD_DIFFERS in summary.counts


def test_an_event_far_away_is_told_and_hides_nothing(log: Log) -> None:
    row = log.rows("events")[5]
    last = size_of(log)
    findings, summary = audited(log.with_row("events", 5, row, (10**15, *row[1:])))
    assert (last + 1, 10**15 - 1) in {
        (min(finding.position, last + 1), finding.last)
        for finding in findings
        if finding.position is not None and finding.last is not None
    }
    assert 10**15 in {finding.position for finding in findings}
    assert summary.root is None


def test_tiles_go_on_from_their_edges() -> None:
    whole, frontier = Tiles(0), Frontier()
    for number in range(3 * WIDTH**3 + 7):
        leaf = leaf_hash(bytes([number]))
        frontier.append(leaf)
        again = Tiles(0, whole.edges)
        assert list(again.add(leaf)) == list(whole.add(leaf))
        assert again.edge == whole.edge
        assert whole.edge == frontier.hashes
