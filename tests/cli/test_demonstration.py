"""What the demonstration plays: the newest rules of each game, by as many players as they take."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET

from heptalog.cli.demonstration import recorded, started_by
from heptalog.replay.errors import Code, Refused
from heptalog.replay.events import GameStarted
from heptalog.replay.registry import NEWEST
from heptalog.replay.rules import AnyRules
from heptalog.service.store.memory import MemoryStore
from tests.cli.given import UP
from tests.support.play import EACH_GAME, seat_counts
from tests.support.serving import Service

ROOT = Path(__file__).resolve().parents[2]

# The registry is put together at import, so this is a program of its own.
PROGRAM = """
from types import MappingProxyType
import heptalog.replay.registry as registry
from heptalog.replay.errors import Code, Refused
from heptalog.replay.seven_up import SEVEN_UP

class SevenUpForTwo(type(SEVEN_UP)):
    version = 2

    def initial(self, started):
        if len(started.players) != 2:
            raise Refused(Code.PLAYERS_INVALID, rule="test", players=len(started.players))
        return super().initial(started)

registry.GAMES = (*registry.GAMES, SevenUpForTwo())
registry.REGISTRY = MappingProxyType({(rules.key, rules.version): rules for rules in registry.GAMES})
registry.NEWEST = MappingProxyType({rules.key: rules for rules in registry.GAMES})

from heptalog.cli.demonstration import recorded
from heptalog.service.store.memory import MemoryStore
from tests.support.play import EACH_GAME, seat_counts
from tests.support.serving import Service

with Service(MemoryStore()) as service:
    client = service.client()
    for game_id, fold in recorded(client, 7):
        assert client.game(game_id).head.sequence == fold.sequence
        print(game_id, fold.rules.version, len(fold.started.players), fold.state.over)
"""


def test_each_game_is_recorded_once_and_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    with Service(MemoryStore()) as service:
        client = service.client()
        folds = dict(recorded(client, 7))
        assert [entry.game_id for entry in client.games()] == list(folds)
        assert {fold.rules for fold in folds.values()} == set(NEWEST.values())
        assert all(fold.state.over and fold.started.rules_version is not UNSET for fold in folds.values())
        # Asked again, it records further games beside them.
        assert not set(dict(recorded(client, 7))) & set(folds)
    assert capsys.readouterr().out.count(", won by ") == 2 * len(NEWEST)


def test_a_newer_version_is_played_instead_and_by_as_many_as_it_takes() -> None:
    result = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    told = [line for line in result.stdout.splitlines() if "-7 " in line]
    assert told == ["seven_rocks-7 1 4 True", "seven_up-7 2 2 True", "seven_bridge-7 1 4 True"]


@pytest.mark.parametrize("seat_count", range(2, 8))
def test_any_number_of_players_can_sit_down(seat_count: int) -> None:
    def initial(started: GameStarted) -> None:
        if len(started.players) != seat_count:
            raise Refused(Code.PLAYERS_INVALID, rule="test", players=len(started.players))

    rules: Any = SimpleNamespace(initial=initial, options=UP.options, version=3)
    started = started_by(rules)
    assert len({player.id for player in started.players}) == seat_count
    assert started.rules_version == 3


@EACH_GAME
def test_four_sit_down_where_four_can(rules: AnyRules) -> None:
    if 4 in seat_counts(rules):
        assert len(started_by(rules).players) == 4
