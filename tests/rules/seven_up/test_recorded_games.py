"""The recorded games shared with this project, where they are at hand: every report after every event comes out."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Body
from heptalog.replay.fold import Standing, fold_all, scan
from heptalog.replay.gamefile import read_events

GAMES = Path(__file__).parents[4] / "shared" / "games"
RECORDED = sorted(path for path in GAMES.glob("**/seven_up-*.jsonl") if not path.stem.endswith(".expected"))
ACCEPTED = [path for path in RECORDED if path.parent.name != "refused"]
REFUSED = [path for path in RECORDED if path.parent.name == "refused"]


def name_of(path: Path) -> str:
    return str(path.relative_to(GAMES).with_suffix(""))


def bodies(lines: list[bytes]) -> Iterator[Body]:
    return (event.body for event in read_events(lines))


@pytest.mark.skipif(not ACCEPTED, reason="the shared games are not at hand")
@pytest.mark.parametrize("path", ACCEPTED, ids=name_of)
def test_a_recorded_game_comes_out_as_reported(path: Path) -> None:
    lines = path.with_suffix(".expected.jsonl").read_bytes().splitlines()
    expected = [msgspec.json.decode(line, type=Standing) for line in lines]
    reported = [fold.standing() for fold, _ in scan(bodies(path.read_bytes().splitlines()))]
    assert reported == expected


@pytest.mark.skipif(not REFUSED, reason="the shared games are not at hand")
@pytest.mark.parametrize("path", REFUSED, ids=name_of)
def test_a_refused_game_is_refused_at_its_last_line(path: Path) -> None:
    lines = path.read_bytes().splitlines()
    if len(lines) > 1:
        assert fold_all(bodies(lines[:-1])).sequence == len(lines) - 2
    with pytest.raises(HeptalogError):
        fold_all(bodies(lines))
