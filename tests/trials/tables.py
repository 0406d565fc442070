"""Tables that play against a server: random legal games, event by event or in batches, each event with its own id.

A table that is not answered sends the very same again when there is a server again, and only then goes on. Some have
one append on its way at a time, some have many, on a stream.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from random import Random
from threading import Event as Flag
from threading import Thread
from typing import Final

from heptalog.replay.errors import Code, HeptalogError, Refused, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.registry import GAMES
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import AppendStream, Client
from heptalog.service.client.calls import Retries
from tests.support.play import play
from tests.trials.ledger import Ledger

GAMES_AT_ONCE: Final = 3
CALL_SECONDS: Final = 30.0
_FOUL_CHANCE: Final = 0.03
_ON_THEIR_WAY_MAX: Final = 40  # appends of one stream
_LENGTH_MAX: Final = 400
# Without an answer nothing is known: not whether it is recorded, and not that it is not.
_UNANSWERED: Final = frozenset(
    {
        Code.SERVER_UNREACHABLE,
        Code.DRAINING,
        Code.DEADLINE_PASSED,
        Code.WRITE_FAILED,
        Code.OVERLOADED,
        Code.DISK_RESERVE,
        Code.SOURCE_UNREADABLE,  # a log that must be opened anew
    }
)


class Table:
    """One client with a few games of its own; it outlives the servers that it plays on."""

    def __init__(
        self, name: str, ledger: Ledger, *, seed: int, batch_max: int = 60, single_chance: float = 0.5
    ) -> None:
        self._name = name
        self._ledger = ledger
        self._random = Random(f"{name} {seed}")
        self._batch_max = batch_max
        self.single_chance = single_chance
        self._games: list[tuple[str, list[Event]]] = []
        self._game_count = 0
        self._pending: Append | None = None
        self.is_streamed = False
        self._unanswered: list[Append] = []  # of a stream
        self._expected: dict[str, int] = {}
        self.refused_by: Unavailable | None = None  # what the server said when it took nothing more
        self.answered: Callable[[], None] = lambda: None
        self.seconds: list[float] = []  # from each append to its receipt

    def play(self, client: Client, stopping: Flag) -> None:
        """Play until told to stop, or until no answer comes any more."""
        while not stopping.is_set():
            append = self._pending or self._next()
            self._pending = append
            self._ledger.sends(append)
            try:
                if self._random.random() < _FOUL_CHANCE:
                    self._play_foul(client, append)
                sent_at = time.perf_counter()
                receipt = client.append(append)
                self.seconds.append(time.perf_counter() - sent_at)
            except Unavailable as error:
                self.refused_by = error
                if error.code not in _UNANSWERED:
                    self._ledger.wrong("contradicted", f"{self._name}: {error}")
                return
            except HeptalogError as error:
                kind = "partial" if error.code is Code.BATCH_PARTLY_KNOWN else "contradicted"
                self._ledger.wrong(kind, f"{self._name}: {append.game_id} {append.expected + 1}: {error}")
                return
            self._ledger.acknowledges(append, receipt)
            self._expected[append.game_id] = receipt.head.sequence
            self._pending = None
            self.answered()

    def play_streamed(self, client: Client, stopping: Flag) -> None:
        """The same on a stream: what has no answer at its end is sent again, in order, on the next one."""
        again, self._unanswered = self._unanswered, []
        waiting: deque[tuple[Append, Future[Receipt]]] = deque()
        try:
            with client.stream() as stream:
                while not stopping.is_set() or again:
                    append = again.pop(0) if again else self._next()
                    self._ledger.sends(append)
                    self._expected[append.game_id] = append.expected + len(append.events)
                    # Kept before it is on its way: whatever happens then, it is sent again.
                    self._unanswered.append(append)
                    if append.expected >= 0 and self._random.random() < _FOUL_CHANCE:
                        self._stream_foul(stream, append)
                    waiting.append((append, stream.append(append)))
                    while waiting and (waiting[0][1].done() or len(waiting) >= _ON_THEIR_WAY_MAX):
                        self._hear(*waiting.popleft())
            while waiting:
                self._hear(*waiting.popleft())
        except Unavailable as error:
            self.refused_by = error
            if error.code not in _UNANSWERED:
                self._ledger.wrong("contradicted", f"{self._name}: {error}")
        except HeptalogError as error:
            self._ledger.wrong("contradicted", f"{self._name}: {error}")
        finally:
            # What was answered before the stream ended has been answered, whoever was heard first.
            for append, future in waiting:
                if future.done() and future.exception() is None:
                    self._hear(append, future)
            # Those that were not even tried again are to be sent behind them.
            self._unanswered += again

    def _hear(self, append: Append, future: "Future[Receipt]") -> None:
        receipt = future.result(CALL_SECONDS * 2)
        self._ledger.acknowledges(append, receipt)
        self._unanswered.remove(append)
        self.answered()

    def _stream_foul(self, stream: AppendStream, append: Append) -> None:
        event_id = f"foul-{append.game_id}-{append.expected + 1}-{self._random.randrange(10**9)}"
        event = Event(0, self._ledger.games[append.game_id].events[0].body, event_id=event_id)
        foul = stream.append(Append(append.game_id, append.expected, (event,)))

        def hear(told: "Future[Receipt]") -> None:
            if isinstance(told.exception(), Refused):
                self._ledger.refuses(event_id)

        foul.add_done_callback(hear)

    def _next(self) -> Append:
        """The next batch of one of the games; most are of one event, as at a table."""
        if len(self._games) < GAMES_AT_ONCE:
            self._games.append(self._new_game())
        game_id, events = self._random.choice(self._games)
        expected = self._expected.get(game_id, -1)
        is_single = self._random.random() < self.single_chance
        size = 1 if is_single else self._random.randrange(2, self._batch_max + 1)
        batch = tuple(events[expected + 1 : expected + 1 + size])
        if expected + len(batch) + 1 >= len(events):
            self._games.remove((game_id, events))
        return Append(game_id, expected, batch)

    def _new_game(self) -> tuple[str, list[Event]]:
        self._game_count += 1
        game_id = f"{self._name}-{self._game_count}"
        rules = GAMES[self._game_count % len(GAMES)]
        bodies = play(rules, self._random.randrange(2**32), events_max=_LENGTH_MAX).bodies
        return game_id, [
            Event(0, body, event_id=f"{game_id}-{sequence}", recorded_by=self._name)
            for sequence, body in enumerate(bodies)
        ]

    def _play_foul(self, client: Client, append: Append) -> None:
        """A game starts only once, so a second start is refused wherever the game stands."""
        if append.expected < 0:
            return
        event = Event(0, self._ledger.games[append.game_id].events[0].body)
        event_id = f"foul-{append.game_id}-{append.expected + 1}-{self._random.randrange(10**9)}"
        try:
            client.append(Append(append.game_id, append.expected, (Event(0, event.body, event_id=event_id),)))
        except Refused:
            self._ledger.refuses(event_id)
        except HeptalogError as error:
            # The batch that waits for its answer may be recorded, and then this comes too late.
            if error.code is not Code.SEQUENCE_MISMATCH:
                raise


class Playing:
    """Tables in threads of their own, all on one server."""

    def __init__(self, tables: Sequence[Table], target: str) -> None:
        self.stopping = Flag()
        self._clients = [Client(target, timeout=CALL_SECONDS, retries=Retries(attempts=1)) for _ in tables]
        self._threads = [
            Thread(
                target=table.play_streamed if table.is_streamed else table.play,
                args=(client, self.stopping),
                name="table",
                daemon=True,
            )
            for table, client in zip(tables, self._clients, strict=True)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def is_over(self) -> bool:
        """Whether every table has stopped by itself."""
        return not any(thread.is_alive() for thread in self._threads)

    def join(self) -> None:
        """Wait until every table has stopped."""
        self.stopping.set()
        for thread in self._threads:
            thread.join(CALL_SECONDS * 2)
            assert not thread.is_alive(), "a table waits for ever"
        for client in self._clients:
            client.close()
