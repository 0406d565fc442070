"""A game made ready: the quick way, for files that are plain, gives what the exact way gives."""

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import NoReturn

import pytest
from msgspec.structs import replace

from heptalog.cli import files
from heptalog.cli.connections import Connections
from heptalog.cli.files import FileGame
from heptalog.cli.importing import preparing
from heptalog.cli.importing.preparing import Prepared, prepared
from heptalog.cli.verdicts import Found
from heptalog.replay.bodies import NotPlain
from heptalog.replay.codec import chained
from heptalog.replay.events import Event
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.gamefile import read_events
from heptalog.replay.rules import AnyRules
from heptalog.service.config import Surroundings
from tests.cli.given import BRIDGE, ROCKS, UP, bad, bare, whole, without_secrets, write
from tests.support.evidence import counted_salts, lines_of
from tests.support.play import EACH_GAME

BEGIN = 1_790_000_000_000_000_001


def surroundings() -> Surroundings:
    """Time and chance that are the same again."""
    return Surroundings(clock=count(BEGIN, 1_234_567_891).__next__, salts=counted_salts("import"))


@pytest.fixture
def connections() -> Iterator[Connections]:
    with Connections() as opened:
        yield opened


def exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on every file is read event by event, and every record is made from its event."""

    def none(*_: object) -> NoReturn:
        raise NotPlain

    monkeypatch.setattr(FileGame, "plain", lambda game: None)
    monkeypatch.setattr(preparing, "_completed_forms", none)


def lines_in_parts(rules: AnyRules) -> Iterator[tuple[str, list[bytes]]]:
    """Games of which some parts are there and others are not."""
    yield "bare", bare(rules, length=150, with_rulings=True)
    yield "whole", whole(rules, length=150)
    events = list(read_events(whole(rules, length=150)))
    unchained = [replace(event, previous_hash=b"", hash=b"") for event in events]
    yield "without a chain", lines_of(unchained)
    yield "without times", lines_of(replace(event, recorded_at=0) for event in unchained)
    yield "without a game id", lines_of(replace(event, game_id="") for event in unchained)
    yield "without event ids", lines_of(replace(event, event_id="") for event in unchained)
    some = [replace(event, event_id="" if event.sequence % 3 else event.event_id) for event in unchained]
    yield "with some event ids", lines_of(some)
    yield "without ids", lines_of(replace(event, game_id="", event_id="") for event in unchained)
    late = [replace(event, recorded_at=BEGIN if event.sequence % 2 else 0, occurred_at=0) for event in unchained]
    yield "with some times", lines_of(replace(event, game_id="", event_id="") for event in late)
    # Of the year 1971: such a time takes fewer bytes than the quick way looks at.
    early = [replace(event, recorded_at=40_000_000_000_000_000 + event.sequence) for event in unchained]
    yield "long ago", lines_of(replace(event, game_id="", event_id="") for event in early)
    previous, lacking = GENESIS, []
    for event in unchained:
        event, _ = chained(replace(event, recorded_at=0), previous)
        previous = event.hash
        lacking.append(event)
    yield "a chain without times", lines_of(lacking)


@EACH_GAME
def test_both_ways_give_the_same(
    rules: AnyRules, connections: Connections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {name: FileGame(write(tmp_path / f"{name}.jsonl", lines)) for name, lines in lines_in_parts(rules)}
    assert all(file.plain() for file in made.values())
    quick = {name: prepared(file, connections, surroundings()) for name, file in made.items()}
    exactly(monkeypatch)
    for name, file in made.items():
        assert prepared(file, connections, surroundings()) == quick[name], name
    assert {game.game_id for name, game in quick.items() if "ids" not in name and name != "bare"} >= {"game"}


@pytest.mark.parametrize(
    "lines",
    [
        lambda: bad(bare(BRIDGE, 8)),
        lambda: bad(whole(ROCKS)),
        lambda: without_secrets(UP),
        lambda: whole(UP)[1:],
        lambda: [*whole(UP)[:7], b"", *whole(UP)[7:]],
        lambda: [line.replace(b'"game-4"', b'"game-3"') for line in whole(UP)],
        lambda: [line.replace(b'"game-4"', b'"a b"') for line in lines_of(unchained())],
        lambda: [line.replace(b'"game-4"', b'"' + b"x" * 200 + b'"') for line in lines_of(unchained())],
        list,
    ],
    ids=["foul", "foul in a chain", "redacted", "torn", "blank", "an id again", "an odd id", "a long id", "empty"],
)
def test_both_ways_say_the_same_of_a_bad_game(
    lines: Callable[[], list[bytes]], connections: Connections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = FileGame(write(tmp_path / "game.jsonl", lines()))
    quick = outcome(file, connections)
    exactly(monkeypatch)
    assert quick == outcome(file, connections)


def unchained() -> list[Event]:
    return [replace(event, previous_hash=b"", hash=b"") for event in read_events(whole(UP))]


def outcome(file: FileGame, connections: Connections) -> object:
    try:
        return prepared(file, connections, surroundings())
    except Found as found:
        return found.verdict


@pytest.mark.parametrize("ending", [b"", b"\n", b"\n\n", b"\r\n"])
def test_a_file_ends_with_or_without_a_line_break(ending: bytes, connections: Connections, tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_bytes(b"\n".join(bare()) + ending)
    made = prepared(FileGame(path), connections, surroundings())
    assert isinstance(made, Prepared)
    assert made.whole.count == len(bare())
    assert (FileGame(path).plain() is not None) is (ending in (b"", b"\n"))


def test_a_large_file_is_read_line_by_line(
    connections: Connections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = FileGame(write(tmp_path / "game.jsonl", bare()))
    size = file.path.stat().st_size
    for limit, is_taken in ((size, True), (size - 1, False)):
        monkeypatch.setattr(files, "_TOGETHER_MAX", limit)
        assert (file.plain() is not None) is is_taken
        assert prepared(file, connections, surroundings()).whole.count == len(bare())


def test_a_pipe_is_not_looked_into(tmp_path: Path) -> None:
    pipe = tmp_path / "game.jsonl"
    os.mkfifo(pipe)
    assert FileGame(pipe).plain() is None
    assert FileGame(tmp_path / "missing.jsonl").plain() is None
