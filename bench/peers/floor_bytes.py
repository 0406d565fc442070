"""The floor of a replay: the same records read, five fields looked at, and hashed; no rule is asked."""

from functools import partial
from importlib import metadata
from typing import ClassVar

from bench.games import TABLES, recorded_games
from bench.peers.heptalog_replay import GAMES_EACH, moves_of, titled
from bench.peers.peer import answer
from bench.peers.replays import Replay, ReplayPeer
from bench.works import Material, floor


def recorded(name: str) -> Replay:
    """The same games as ours."""
    material = Material(recorded_games(name, count=GAMES_EACH))
    return Replay(sum(map(moves_of, material.bodies)), material.events, partial(floor, material))


class BytesFloor(ReplayPeer):
    """What any verification of these bytes in this language has to do."""

    name = "the bytes alone"
    note = "protobuf parsed by its C code, five fields read, SHA-256 over the chain; no rules"
    version = f"protobuf {metadata.version('protobuf')}"
    games: ClassVar = {f"{titled(name)}, floor": partial(recorded, name) for name in TABLES}


if __name__ == "__main__":
    answer(BytesFloor)
