"""OpenSpiel: its games of tricks in C++, driven from Python, and its dominoes in Python."""

import random
from functools import partial
from importlib import metadata
from typing import ClassVar, Final

import pyspiel  # pyright: ignore[reportMissingImports] - in the environment of the peers
from open_spiel.python import games  # pyright: ignore[reportMissingImports] - in the environment of the peers

from bench.peers.peer import answer
from bench.peers.replays import SEED, Replay, ReplayPeer

# By name: how many games are played, more of those that are over soon.
_CARDS: Final = {
    "hearts": 60,
    "spades": 60,
    "euchre": 120,
    "oh_hell": 120,
    # Else it ends with the auction.
    "bridge(use_double_dummy_result=false)": 60,
}
_DOMINOES: Final = "python_block_dominoes"
_DOMINOES_COUNT: Final = 60


def recorded(name: str, count: int) -> Replay:
    """Games played by seeded chance, played again with every action looked up among the legal ones."""
    game = pyspiel.load_game(name)
    chance = random.Random(SEED)
    histories: list[list[int]] = []
    moves = 0
    for _ in range(count):
        state = game.new_initial_state()
        while not state.is_terminal():
            moves += not state.is_chance_node()
            state.apply_action(chance.choice(state.legal_actions()))
        histories.append(state.history())

    def run() -> None:
        for history in histories:
            state = game.new_initial_state()
            for action in history:
                assert action in state.legal_actions()
                state.apply_action(action)
            assert state.is_terminal()
            state.returns()

    return Replay(moves, sum(map(len, histories)), run)


class OpenSpiel(ReplayPeer):
    """Legal actions, then the action, for each; a card dealt is an action as well."""

    name = "OpenSpiel"
    note = "legal_actions, then apply_action, and the returns at the end; no bytes are read, nothing is hashed"
    version = metadata.version("open-spiel")
    games: ClassVar = {
        **{f"{name.split('(')[0]} (C++)": partial(recorded, name, count) for name, count in _CARDS.items()},
        "block dominoes (Python)": partial(recorded, _DOMINOES, _DOMINOES_COUNT),
    }


if __name__ == "__main__":
    assert games, "importing it registers the games in Python"
    answer(OpenSpiel)
