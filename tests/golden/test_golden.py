"""Games recorded once and for ever: what each came to, as text that a person has read.

A `.jsonl` is never changed. The `.txt` beside it is written by `pytest tests/golden --bless`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heptalog.replay import codec
from heptalog.replay.events import Event, GameStarted
from heptalog.replay.fold import Closed, Fold, Outcomes
from heptalog.replay.gamefile import encode_line, read_events
from heptalog.replay.registry import GAMES
from heptalog.replay.verify import Examiner, verify

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*/*.jsonl"))


def read(path: Path) -> list[Event]:
    """The events of one file."""
    with path.open("rb") as lines:
        return list(read_events(lines))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_game_comes_to_what_it_came_to(path: Path, *, is_blessing: bool) -> None:
    text = "\n".join(told(read(path))) + "\n"
    expected = path.with_suffix(".txt")
    if is_blessing:
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_game_has_the_bytes_it_had(path: Path) -> None:
    lines = path.read_bytes().splitlines()
    events = read(path)
    assert [encode_line(event) for event in events] == lines
    assert verify((event, None) for event in events).ok
    assert all(event.hash for event in events)
    records = [codec.encode(event) for event in events]
    assert [codec.decode(record)[0] for record in records] == events
    assert verify([codec.decode(record) for record in records]).ok


def test_every_game_has_some() -> None:
    assert all(len(list((FOLDER / rules.key).glob("*.jsonl"))) >= 2 for rules in GAMES)


def told(events: list[Event]) -> Iterator[str]:
    """What happened, what followed and how it stood, event by event."""
    examiner = Examiner()
    for event in events:
        outcomes = examiner.advance(event)
        fold = examiner.fold
        assert fold is not None
        names = [player.name or player.id for player in fold.started.players]
        yield from _event(fold, event, names)
        yield from _outcomes(fold, outcomes, names)
        yield from _state(fold, names)
        yield ""


def _event(fold: Fold, event: Event, names: list[str]) -> Iterator[str]:
    body = event.body
    words = fold.rules.words.event(body, names) if type(body) in fold.rules.bodies else str(_plain(body))
    yield f"{event.sequence}  {words}"


def _plain(body: Any) -> str:
    if isinstance(body, GameStarted):
        return f"{type(body.rules).__name__} begins: {', '.join(player.name for player in body.players)}"
    values = ", ".join(f"{name} {getattr(body, name)!r}" for name in body.__struct_fields__)
    return f"{type(body).__name__}: {values}"


def _outcomes(fold: Fold, outcomes: Outcomes, names: list[str]) -> Iterator[str]:
    for outcome in outcomes:
        known = type(outcome) in fold.rules.outcomes
        yield f"    → {fold.rules.words.outcome(outcome, names) if known else outcome}"


def _state(fold: Fold, names: list[str]) -> Iterator[str]:
    standing = fold.standing()
    yield (
        f"    scores {_listed(standing.scores)}; round {standing.round}; to act {_listed(standing.to_act)}"
        + (f"; over, winners {_listed(standing.winners)}" if standing.over else "")
    )
    state: Any = fold.state.state if isinstance(fold.state, Closed) else fold.state
    yield from (f"    | {line}".rstrip() for line in fold.rules.words.table(state, names))


def _listed(values: tuple[int, ...]) -> str:
    return " ".join(map(str, values)) or "nobody"
