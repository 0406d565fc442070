"""Seven Bridge: the recorded games that come beside this repository are told as they were reported."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import json

from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold, Standing, scan
from heptalog.replay.gamefile import read_events

GAMES = Path(__file__).parents[3].parent / "shared" / "games"

REPORTED = sorted(path for path in GAMES.glob("**/seven_bridge*.expected.jsonl"))
REFUSED = sorted(GAMES.glob("refused/seven_bridge*.jsonl"))

pytestmark = pytest.mark.skipif(not GAMES.is_dir(), reason="the recorded games are not here")


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.name.partition('.')[0]}"


@pytest.mark.parametrize("report", REPORTED, ids=name_of)
def test_a_recorded_game_is_reported_line_for_line(report: Path) -> None:
    expected = [json.decode(line, type=Standing) for line in report.read_bytes().splitlines()]
    with report.with_name(report.name.replace(".expected", "")).open("rb") as lines:
        bodies = [event.body for event in read_events(lines)]
    for line, (fold, _) in zip(expected, scan(bodies), strict=True):
        assert fold.standing() == line


@pytest.mark.parametrize("path", REFUSED, ids=name_of)
def test_a_refused_game_is_refused_at_its_last_line_only(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    events = read_events(lines)
    fold = None
    for _ in lines[:-1]:
        body = next(events).body
        if fold is None:
            fold = Fold(body)
        else:
            fold.advance(body)
    with pytest.raises(HeptalogError):
        take(fold, events)


def take(fold: Fold | None, events: Iterator[Event]) -> None:
    """Read one more event and fold it."""
    body = next(events).body
    if fold is None:
        Fold(body)
    else:
        fold.check(body)
