"""Simulated games into a running server, several on their way at once, like those of any other client."""

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Final, Self

from heptalog.cli.connections import Connections
from heptalog.cli.importing.batches import Counts as Imported
from heptalog.cli.importing.servers import GAMES_AT_ONCE, ServerLog
from heptalog.cli.simulating.recording import Simulated
from heptalog.cli.simulating.running import Counts
from heptalog.replay.errors import NotFound

_WAITING_MAX: Final = 4 * GAMES_AT_ONCE


class ServerDestination:
    """A server, which checks every event of the games that it is sent as it checks all others."""

    def __init__(self, target: str, connections: Connections) -> None:
        self._client = connections.client(target)
        self._log = ServerLog(target, connections)
        self._waiting: deque[Future[Imported]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for future in self._waiting:
            future.cancel()
        self._log.close()

    def has(self, game_id: str) -> bool:
        """Whether this game is there, whole or not."""
        try:
            self._client.game(game_id)
        except NotFound:
            return False
        return True

    def record(self, games: Sequence[Simulated], *, are_new: bool) -> Counts:
        """Send these games, and take the answers to earlier ones."""
        del are_new  # it is asked all the same: others may write to a server
        counts = Counts()
        for game in games:
            events = [entry.event for entry in game.entries]
            self._waiting.append(self._log.send(game.game_id, events, [len(entry.record) for entry in game.entries]))
            if len(self._waiting) >= _WAITING_MAX:
                counts += self._next()
        return counts

    def finish(self) -> Counts:
        """Take all answers."""
        counts = Counts()
        while self._waiting:
            counts += self._next()
        return counts

    def _next(self) -> Counts:
        came = self._waiting.popleft().result()
        return Counts(int(came.added > 0 and came.known == 0), came.added, came.known)
