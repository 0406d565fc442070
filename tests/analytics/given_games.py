"""The games that projections are tried on, each as its events with their positions in a log that holds others too."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Final

from heptalog.replay.events import Body, Event
from heptalog.replay.gamefile import read_events
from heptalog.replay.registry import GAMES
from heptalog.service.store import Entry
from tests.support.play import play
from tests.support.recording import entries_of, recorded_game

Game = list[tuple[int, Event]]

ROOT: Final = Path(__file__).parents[2]
GOLDEN: Final = ROOT / "tests" / "golden"
SHARED: Final = ROOT.parent / "shared" / "games"


def placed(events: Iterable[Event], seed: int = 1) -> Game:
    """Events with positions that grow, with gaps where others were recorded."""
    random = Random(seed)
    position = random.randrange(1, 1_000)
    game = []
    for event in events:
        game.append((position, event))
        position += random.choice((1, 1, 1, 2, 7))
    return game


def of_bodies(bodies: Iterable[Body], game_id: str = "a-game") -> Game:
    """Bodies as they would be recorded."""
    return of_entries(entries_of(bodies, game_id, Random(game_id)))


def of_entries(entries: Iterable[Entry]) -> Game:
    """A recorded game."""
    return placed(entry.event for entry in entries)


@cache
def golden() -> list[Game]:
    """The games that were recorded once and for ever."""
    files = [file for rules in GAMES for file in sorted((GOLDEN / rules.key).glob("*.jsonl"))]
    assert files
    return [placed(read_events(file.read_bytes().splitlines(keepends=True)), n) for n, file in enumerate(files)]


@cache
def recorded() -> list[Game]:
    """Games that are running, won, closed and reopened."""
    return [
        of_entries(
            recorded_game(
                rules,
                seed,
                tournament=("", "Seven Days")[seed % 2],
                table=("", "one", "two")[seed % 3],
                event_count_max=(2_000, 2_000, 40)[seed % 3],
                ruling_rate=(0.0, 0.02, 0.1)[seed // 3 % 3],
            )
        )
        for rules in GAMES
        for seed in range(18)
    ]


@cache
def played() -> list[Game]:
    """Games with every option and many takebacks, in which what is rare is common."""
    return [of_bodies(play(rules, seed).bodies, f"{rules.key}-{seed}") for rules in GAMES for seed in range(40)]


@cache
def shared() -> list[Game]:
    """The recorded games that lie beside the project, where they do."""
    files = sorted(file for folder in ("", "rulings", "rare") for file in (SHARED / folder).glob("*.jsonl"))
    return [
        of_bodies([event.body for event in read_events(file.read_bytes().splitlines(keepends=True))], file.stem)
        for file in files
        if not file.name.endswith(".expected.jsonl")
    ]


SOURCES: Final[Mapping[str, Callable[[], list[Game]]]] = MappingProxyType(
    {"golden": golden, "recorded": recorded, "played": played, "shared": shared}
)
