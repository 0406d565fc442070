"""A writer to be killed: it appends until somebody stops it, and prints every head that it was given.

    python -m tests.contract.writing <database> <commits>

After so many commits it only keeps the database open; 0 is never.
"""

import sys
from itertools import count

from heptalog.service.store.duck import DuckStore
from tests.contract.given import appended, game
from tests.support.recording import batch_of

GAME_COUNT = 5
LENGTH = 40


def main(path: str, commit_count: int) -> None:
    """Append pieces of games, five games a commit, several pieces each."""
    store = DuckStore(path)
    written = 0
    for generation in count():
        numbers = range(generation * GAME_COUNT, (generation + 1) * GAME_COUNT)
        for start in range(0, LENGTH, 4):
            if commit_count and written == commit_count:
                sys.stdin.read()
                return
            pieces = [game(number, length=LENGTH)[start : start + 4] for number in numbers]
            batches = [batch_of(piece) for piece in pieces if piece]
            if batches:
                for batch, head in zip(batches, appended(store, *batches), strict=True):
                    print(batch.game_id, head.sequence, head.position, head.hash.hex())
                print("commit", flush=True)
                written += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
