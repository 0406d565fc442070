"""Recorded games of Seven Rocks, from outside: every standing after every event, and every refusal."""

from pathlib import Path

import pytest
from msgspec.json import decode

from heptalog.replay.errors import Malformed, Refused
from heptalog.replay.fold import Fold, Standing
from heptalog.replay.gamefile import decode_line, read_events

GAMES = Path(__file__).parents[3].parent / "shared" / "games"
PLAYED = sorted(path for path in GAMES.glob("**/seven_rocks*.jsonl") if path.with_suffix(".expected.jsonl").exists())
REFUSED = sorted(GAMES.glob("refused/seven_rocks*.jsonl"))

pytestmark = pytest.mark.skipif(not GAMES.is_dir(), reason="the recorded games are not here")


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", PLAYED, ids=name)
def test_every_standing(path: Path) -> None:
    expected = path.with_suffix(".expected.jsonl").read_bytes().splitlines()
    bodies = [event.body for event in read_events(path.read_bytes().splitlines())]
    fold = Fold(bodies[0])
    assert fold.standing() == decode(expected[0], type=Standing)
    for body, line in zip(bodies[1:], expected[1:], strict=True):
        fold.advance(body)
        assert fold.standing() == decode(line, type=Standing)


@pytest.mark.parametrize("path", REFUSED, ids=name)
def test_last_line_is_refused(path: Path) -> None:
    *accepted, last = path.read_bytes().splitlines()
    fold = None
    for line in accepted:
        fold = take(fold, line)
    with pytest.raises((Refused, Malformed)):
        take(fold, last)


def take(fold: Fold | None, line: bytes) -> Fold:
    body = decode_line(line).body
    if fold is None:
        return Fold(body)
    fold.advance(body)
    return fold
