"""python-chess: chess in Python, its positions as bit boards."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final

import chess  # pyright: ignore[reportMissingImports] - in the environment of the peers

from bench.peers.peer import answer
from bench.peers.replays import SEED, Replay, ReplayPeer

_GAMES: Final = 12
_PLIES_MAX: Final = 120


def recorded(written: Callable[[Any, Any], str], push: Callable[[Any, str], object]) -> Replay:
    """Games played by seeded chance, in one notation, and played again from it."""
    chance = random.Random(SEED)
    lines: list[list[str]] = []
    for _ in range(_GAMES):
        board = chess.Board()
        line: list[str] = []
        while len(line) < _PLIES_MAX and not board.is_game_over():
            move = chance.choice(list(board.legal_moves))
            line.append(written(board, move))
            board.push(move)
        lines.append(line)

    def run() -> None:
        for line in lines:
            board = chess.Board()
            for text in line:
                push(board, text)
            board.outcome()

    moves = sum(map(len, lines))
    return Replay(moves, moves, run)


class PythonChess(ReplayPeer):
    """Moves as text, each looked at by `parse_uci` or `parse_san`, which refuse what is not legal."""

    name = "python-chess"
    note = "push_uci and push_san refuse what is not legal; the outcome at the end; nothing is hashed"
    version = chess.__version__
    games: ClassVar = {
        "chess, UCI": partial(recorded, lambda board, move: move.uci(), lambda board, text: board.push_uci(text)),
        "chess, SAN": partial(recorded, lambda board, move: board.san(move), lambda board, text: board.push_san(text)),
    }


if __name__ == "__main__":
    answer(PythonChess)
