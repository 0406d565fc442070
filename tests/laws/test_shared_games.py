"""The sample games that come with the contract of the game file: every report right, every fault found where it is."""

from pathlib import Path

import msgspec
import pytest

from heptalog.replay.codec import decode
from heptalog.replay.errors import HeptalogError, Refused
from heptalog.replay.events import Event
from heptalog.replay.evidence.seals import unsealed
from heptalog.replay.fold import scan
from heptalog.replay.gamefile import encode_line, read_events
from heptalog.replay.verify import Examiner, verify
from tests.support.evidence import recorded

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "games"
GAMES = sorted(path for path in FOLDER.rglob("*.jsonl") if not path.name.endswith(".expected.jsonl"))
ACCEPTED = [path for path in GAMES if path.parent.name != "refused"]
REFUSED = [path for path in GAMES if path.parent.name == "refused"]

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the sample games are not here")


def name_of(path: Path) -> str:
    """The path below the folder of games."""
    return str(path.relative_to(FOLDER).with_suffix(""))


def read(path: Path) -> list[Event]:
    """The events of one file."""
    with path.open("rb") as lines:
        return list(read_events(lines))


def expected_lines(path: Path) -> list[bytes]:
    """What must be reported after each event."""
    return path.with_suffix(".expected.jsonl").read_bytes().splitlines()


@pytest.mark.parametrize("path", ACCEPTED, ids=name_of)
def test_every_report_is_as_expected(path: Path) -> None:
    events = read(path)
    assert verify((event, None) for event in events).ok
    assert _reports(events) == [msgspec.json.decode(line) for line in expected_lines(path)]


@pytest.mark.parametrize("path", ACCEPTED, ids=name_of)
def test_a_sealed_record_and_its_file_come_to_the_same(path: Path) -> None:
    events = read(path)
    records = recorded((event.body for event in events), game_id=path.stem)
    entries = [decode(record) for _, record in records]
    assert [event for event, _ in entries] == [event for event, _ in records]
    assert verify(entries).ok
    lines = [encode_line(event) for event, _ in entries]
    again = list(read_events(lines))
    assert again == [event for event, _ in entries]
    assert verify((event, None) for event in again).ok
    assert _reports(again) == [msgspec.json.decode(line) for line in expected_lines(path)]
    assert [unsealed(event.body) for event in again] == [event.body for event in events]


@pytest.mark.parametrize("path", REFUSED, ids=name_of)
def test_a_fault_is_found_in_the_last_line_and_nowhere_earlier(path: Path) -> None:
    lines = path.read_bytes().splitlines()
    with pytest.raises(HeptalogError) as refused:
        _examine(lines)
    error = refused.value
    # What the reader finds says so itself; what the rules find is the last event that was read.
    assert error.facts.get("line", len(lines)) == len(lines)
    assert error.facts.get("sequence", len(lines) - 1) == len(lines) - 1
    assert error.rule
    if len(lines) > 1:
        _examine(lines[:-1])
    report = verify((event, None) for event in read_events(lines)) if isinstance(error, Refused) else None
    assert report is None or (report.events, report.sequence) == (len(lines) - 1, len(lines) - 1)


def test_there_are_games_of_every_kind() -> None:
    assert len(ACCEPTED) >= 80
    assert len(REFUSED) >= 120


def _examine(lines: list[bytes]) -> None:
    examiner = Examiner()
    for event in read_events(lines):
        examiner.advance(event)


def _reports(events: list[Event]) -> list[object]:
    return [
        msgspec.json.decode(msgspec.json.encode(fold.standing())) for fold, _ in scan(event.body for event in events)
    ]
