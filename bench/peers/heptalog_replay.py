"""Ourselves, replaying: by the rules alone, and all that `heptalog verify` does to a database."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import metadata
from typing import ClassVar, Final

from bench.games import TABLES, recorded_games
from bench.peers.peer import answer
from bench.peers.replays import Replay, ReplayPeer
from bench.works import Material, rules, whole
from heptalog.replay.events import Body, GameStarted
from heptalog.replay.registry import rules_of

GAMES_EACH: Final = 12
_WORKS: Final[dict[str, Callable[[Material], None]]] = {"rules": rules, "verify": whole}


def recorded(name: str, work: str) -> Replay:
    """Games as a service records them, and what goes through all of them."""
    material = Material(recorded_games(name, count=GAMES_EACH))
    moves = sum(map(moves_of, material.bodies))
    return Replay(moves, material.events, partial(_WORKS[work], material))


def titled(name: str) -> str:
    """A game as it is called: Seven Up."""
    return name.replace("_", " ").title()


def moves_of(bodies: Sequence[Body]) -> int:
    """How many of a game's events somebody at the table decided: not its start, not what is dealt or drawn."""
    started, *others = bodies
    assert isinstance(started, GameStarted)
    game = rules_of(started)
    state = game.initial(started)
    moves = 0
    for body in others:
        moves += bool(state.to_act)
        state, _ = game.apply(state, body)
    return moves


class HeptalogReplay(ReplayPeer):
    """Every event checked against the rules before it is applied."""

    name = "Heptalog"
    note = (
        "rules: check and apply, with the outcomes; verify: besides, the bytes are decoded, the SHA-256 chain and all "
        "seals checked; a deal is one event"
    )
    version = metadata.version("heptalog")
    games: ClassVar = {f"{titled(name)}, {work}": partial(recorded, name, work) for name in TABLES for work in _WORKS}


if __name__ == "__main__":
    answer(HeptalogReplay)
