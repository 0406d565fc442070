"""How a peer that knows rules is measured: recorded games played again, every move looked at before it is made."""

import time
from collections.abc import Callable, Mapping
from typing import ClassVar, Final, NamedTuple

from bench.peers.peer import Figures, Settings

SEED: Final = 7


class Replay(NamedTuple):
    """Recorded games of one kind, and what plays all of them again."""

    moves: int  # what players decided
    actions: int  # and what chance did, as this peer counts it
    run: Callable[[], object]


class ReplayPeer:
    """A peer that plays games again; each of its games is a work."""

    name: ClassVar[str]
    note: ClassVar[str]
    version: str
    games: ClassVar[Mapping[str, Callable[[], Replay]]]

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.seconds
        self._recorded = {name: record() for name, record in self.games.items()}

    @property
    def works(self) -> tuple[str, ...]:
        """Its games."""
        return tuple(self._recorded)

    def measure(self, work: str) -> Figures:
        """Play them again and again for so long: moves a second of one core, and actions."""
        replay = self._recorded[work]
        begin = time.process_time()
        times = 0
        while not times or time.process_time() - begin < self._seconds:
            replay.run()
            times += 1
        spent = time.process_time() - begin
        return Figures(replay.moves * times / spent, others={"actions": replay.actions * times / spent})
