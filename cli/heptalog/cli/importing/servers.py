"""Games into a running server, which checks them like those of any other client; many are sent at once.

The client carries those that are under way together on one stream, and sends alone what that does not answer.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from typing import Final

from heptalog.cli.connections import Connections, reachable
from heptalog.cli.importing.batches import Counts, other_game, recorded
from heptalog.cli.importing.preparing import Prepared
from heptalog.cli.servers import SCHEME
from heptalog.replay.codec import decode
from heptalog.replay.errors import Conflict, HeptalogError, NotFound
from heptalog.replay.events import Event
from heptalog.service.appends import Append, Receipt
from heptalog.service.store import NO_GAME

# Games on their way at once: enough for the writer to commit many together, few enough to hold.
GAMES_AT_ONCE: Final = 16


class ServerLog:
    """A running server."""

    def __init__(self, target: str, connections: Connections) -> None:
        self._target = target
        self._client = connections.client(target)
        self._senders = ThreadPoolExecutor(GAMES_AT_ONCE, thread_name_prefix="heptalog-import")
        self._sent: dict[str, Future[Counts]] = {}

    @property
    def waiting_max(self) -> int:
        """How many games may be on their way at once."""
        return 2 * GAMES_AT_ONCE

    def record(self, game: Prepared) -> "Future[Counts]":
        """Send a game, batch after batch."""
        return self.send(game.game_id, game.sent(), list(map(len, game.records)))

    def send(self, game_id: str, events: Sequence[Event], sizes: Sequence[int]) -> "Future[Counts]":
        """Send the events of a game, each of about so many bytes."""
        if game_id in self._sent:
            # Two sources of one game follow each other, so that it does not hang on chance which of them is right.
            wait([self._sent[game_id]])
        self._sent = {name: future for name, future in self._sent.items() if not future.done()}
        future = self._sent[game_id] = self._senders.submit(self._recorded, game_id, events, sizes)
        return future

    def flush(self) -> None:
        """Nothing waits for company."""

    def close(self) -> None:
        """Wait for what is being sent; the connection is closed by who opened it."""
        self._senders.shutdown()

    def _recorded(self, game_id: str, events: Sequence[Event], sizes: Sequence[int]) -> Counts:
        added = 0

        def append(append: Append) -> Receipt:
            nonlocal added
            receipt = self._client.append(append)
            added += 0 if receipt.is_deduplicated else len(append.events)
            return receipt

        try:
            try:
                # Most games are new, and one that is known whole is recognised: to ask first would cost each a call.
                recorded(events, sizes, NO_GAME, append)
            except Conflict:
                # The log has some of it, or contradicts it: what is known and what is new go apart.
                self._recorded_again(game_id, events, sizes, append)
        except HeptalogError as error:
            raise reachable(error, self._target) from error
        return Counts(added, len(events) - added)

    def _recorded_again(
        self, game_id: str, events: Sequence[Event], sizes: Sequence[int], append: Callable[[Append], Receipt]
    ) -> None:
        try:
            recorded(events, sizes, self._head(game_id), append)
        except Conflict as error:
            with closing(self._client.read(game_id)) as records:
                there = [decode(stored.record)[0] for stored in records]
            raise other_game(error, there, events, SCHEME + self._target) from error

    def _head(self, game_id: str) -> int:
        try:
            return self._client.game(game_id).head.sequence
        except NotFound:
            return NO_GAME
