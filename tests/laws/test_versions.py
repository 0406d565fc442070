"""A second version of a game's rules beside the first: old records keep their meaning, new ones have their own."""

import subprocess
import sys
from pathlib import Path

from heptalog.replay.registry import GAMES, NEWEST

ROOT = Path(__file__).parent.parent.parent

# The registry is put together at import, so this is a program of its own.
PROGRAM = """
from types import MappingProxyType
import heptalog.replay.registry as registry
from heptalog.replay.seven_up import SEVEN_UP
from heptalog.replay.seven_up.outcomes import GiftScored

class SevenUpOfVersionTwo(type(SEVEN_UP)):
    version = 2
    outcomes = (*SEVEN_UP.outcomes, GiftScored)

TWO = SevenUpOfVersionTwo()
registry.GAMES = (*registry.GAMES, TWO)
registry.REGISTRY = MappingProxyType({(rules.key, rules.version): rules for rules in registry.GAMES})
registry.NEWEST = MappingProxyType({rules.key: rules for rules in registry.GAMES})

from random import Random
from heptalog.replay import codec, gamefile
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.errors import Refused
from heptalog.replay.events import UNSET, Event, GameStarted, Player
from heptalog.replay.fold import Fold, fold_all
from heptalog.replay.playout import play
from heptalog.replay.seven_up.events import SevenUp

players = tuple(Player(name) for name in "abc")
for version, expected in ((UNSET, 1), (1, 1), (2, 2)):
    bodies = list(play(GameStarted(players, SevenUp(), rules_version=version), Random(7).randrange))
    lines = [gamefile.encode_line(Event(sequence, body)) for sequence, body in enumerate(bodies)]
    events = list(gamefile.read_events(lines))
    assert [event.body for event in events] == bodies
    assert [codec.decode(codec.chained(event, GENESIS)[1])[0].body for event in events] == bodies
    assert fold_all(bodies).rules.version == expected
try:
    Fold(GameStarted(players, SevenUp(), rules_version=3))
except Refused as error:
    assert error.code == "RULESET_UNKNOWN"
    print("ok")
"""


def test_two_versions_of_a_game_stand_side_by_side() -> None:
    result = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("ok\n", "")


def test_all_versions_of_a_game_agree_in_what_standings_and_ratings_go_by() -> None:
    # They are by game, whatever the version.
    assert all(rules.is_lowest_best is NEWEST[rules.key].is_lowest_best for rules in GAMES)
