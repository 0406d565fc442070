"""RLCard: card games in Python, made for learning programs."""

import random
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any, ClassVar, Final, NamedTuple

import rlcard  # pyright: ignore[reportMissingImports] - in the environment of the peers

from bench.peers.peer import answer
from bench.peers.replays import Replay, ReplayPeer


class _Game(NamedTuple):
    times: int
    # What it allows, where its game or its last state says so.
    legal: Callable[[Any, Any], Any]


_GAMES: Final = {
    "uno": _Game(40, lambda game, state: state["legal_actions"]),
    "limit-holdem": _Game(150, lambda game, state: state["legal_actions"]),
    "gin-rummy": _Game(15, lambda game, state: game.judge.get_legal_actions()),
    "doudizhu": _Game(4, lambda game, state: state["actions"]),
}


def recorded(name: str) -> Replay:
    """Games played by seeded chance, and played again, every action looked up among the legal ones."""
    kind = _GAMES[name]
    chance = random.Random(name)
    environment = rlcard.make(name)
    game = environment.game
    lines: list[list[object]] = []
    for number in range(kind.times):
        environment.seed(number)
        state, _ = game.init_game()
        line: list[object] = []
        while not game.is_over():
            action = chance.choice(list(kind.legal(game, state)))
            line.append(action)
            state, _ = game.step(action)
        lines.append(line)

    def run() -> None:
        for number, line in enumerate(lines):
            environment.seed(number)
            state, _ = game.init_game()
            for action in line:
                assert action in kind.legal(game, state)
                state, _ = game.step(action)
            assert game.is_over()

    moves = sum(map(len, lines))
    return Replay(moves, moves, run)


class RLCard(ReplayPeer):
    """Its games without the observations that its environments add for learning programs."""

    name = "RLCard"
    note = (
        "the action looked up among the legal ones, then step, which makes the next player's state; nothing is hashed"
    )
    version = metadata.version("rlcard")
    games: ClassVar = {name: partial(recorded, name) for name in _GAMES}


if __name__ == "__main__":
    answer(RLCard)
