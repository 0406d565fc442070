"""Which games are certainly not there: most that are asked for by who writes are new, and that should cost no question.

Eight bytes of the MD5 of every name are kept. What is not among them is not there; what is among them is asked for, so
that nothing rests on the hash but time. It holds because a database has one writer: a name comes in before its game is
committed, and none ever goes out.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ask: TypeAlias = Callable[[str, object], list[tuple[Any, ...]]]

# Names are read in some at a time, one lot a question that needs them, so that nobody waits for a million.
PIECE_SIZE: Final = 16_384
# So many new ones are held apart from the others, which are in order.
NEW_MAX: Final = 65_536

_NAMES: Final = "SELECT md5_number_lower(game_id) FROM log.games WHERE game_number BETWEEN ? AND ?"


class Names:
    """The names of the games of one database, in the hands of its writer. Others may ask; one at a time reads on."""

    def __init__(self, last: int) -> None:
        """Those up to the game with the number `last` are in the database, and are still to be read."""
        self._last: Final = last
        self._next = 1
        self._pieces: list[NDArray[np.uint64]] = []
        self._known = np.empty(0, np.uint64)
        self._new: set[int] = set()

    def read_on(self, ask: Ask) -> None:
        """Read some more of those that were there; nothing once all are read."""
        if self._next > self._last:
            return
        rows = ask(_NAMES, [self._next, self._next + PIECE_SIZE - 1])
        self._pieces.append(np.fromiter((number for (number,) in rows), np.uint64, len(rows)))
        if self._next + PIECE_SIZE > self._last:
            self._known = np.concatenate(self._pieces)
            self._pieces = []
            self._known.sort()
        # Only now, for from here on whoever adds may put these in another order.
        self._next += PIECE_SIZE

    def add(self, game_ids: Iterable[str]) -> None:
        """Take these in. Before they are committed: a name that comes to nothing only costs a question."""
        self._new.update(map(_number, game_ids))
        if len(self._new) > NEW_MAX and self._next > self._last:
            new = np.fromiter(self._new, np.uint64, len(self._new))
            new.sort()
            # Two that are the same do no harm; looking for them costs a hundred times what this does.
            self._known = np.insert(self._known, self._known.searchsorted(new), new)
            # In this order: who has seen no new ones any more sees them among the others.
            self._new = set()

    def may_have(self, game_id: str) -> bool:
        """Whether there may be such a game; where not, there certainly is none."""
        if self._next <= self._last:
            return True
        number = _number(game_id)
        if number in self._new:
            return True
        known = self._known
        place = int(known.searchsorted(np.uint64(number)))
        return place < len(known) and int(known[place]) == number


def _number(game_id: str) -> int:
    return int.from_bytes(hashlib.md5(game_id.encode(), usedforsecurity=False).digest()[8:], "little")
