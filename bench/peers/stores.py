"""How a store that blocks its caller is measured: callers on threads, each with a connection of its own."""

import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import count
from typing import ClassVar, Final, Protocol, TypeAlias

from bench.peers.peer import Figures, Settings, quantile
from bench.peers.shapes import GAMES_READ, READ_ALL, READS, SHAPES, WAITING, Batch, Fact, Shape, games_in

# What of the time goes by before anything counts.
WARMING: Final = 0.2
# Events in one append where a store is filled to be read.
_FILLING_SIZE: Final = 500

Append: TypeAlias = Callable[[Batch], int]


class Store(Protocol):
    """A new store that is being measured."""

    def connected(self) -> Append:
        """What appends over a connection of its own, and gives what the next append of the stream comes after."""
        ...

    def settle(self) -> None:
        """Do what it does by itself in time once much has been written, such as statistics."""
        ...

    def read_all(self) -> int:
        """Read every event, and count them."""
        ...

    def read_one(self, stream: uuid.UUID) -> int:
        """Read every event of one stream, and count them."""
        ...


class AppendsOnly:
    """What of a store a floor has no need of."""

    def settle(self) -> None:
        """Nothing: it is not read."""

    def read_all(self) -> int:
        """Never asked for."""
        raise NotImplementedError

    def read_one(self, stream: uuid.UUID) -> int:
        """Never asked for."""
        raise NotImplementedError


class StorePeer(ABC):
    """A peer that is a store: every measurement has a new one."""

    name: ClassVar[str]
    note: ClassVar[str]
    version: str
    works = (*WAITING, *READS)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.games = games_in(settings.material)

    @abstractmethod
    def opened(self) -> AbstractContextManager[Store]:
        """A new store, until it is no longer needed."""

    def measure(self, work: str) -> Figures:
        """One shape, or one way to read."""
        seconds = self.settings.seconds
        with self.opened() as store:
            if work in SHAPES:
                return load(SHAPES[work], self.games, seconds, store.connected)
            append = store.connected()
            games = self.games[:GAMES_READ]
            streams = [uuid.uuid4() for _ in games]
            for stream, game in zip(streams, games, strict=True):
                after = -1
                for first in range(0, len(game), _FILLING_SIZE):
                    after = append(Batch(stream, first, after, game[first : first + _FILLING_SIZE]))
            store.settle()
            if work == READ_ALL:
                return repeated(seconds, lambda _: store.read_all())
            return repeated(seconds, lambda number: store.read_one(streams[number % len(streams)]))


def load(shape: Shape, games: Sequence[Sequence[Fact]], seconds: float, connected: Callable[[], Append]) -> Figures:
    """Append from so many threads for so long, every game once and then again as another one."""
    numbers = count()
    appends: list[tuple[float, float]] = []  # when each began and ended
    failures: list[BaseException] = []
    # All are connected, then all are told when it ends.
    ready = threading.Barrier(shape.callers + 1)
    ends: list[float] = []
    long_enough = [game for game in games if len(game) >= shape.size]

    def call() -> None:
        try:
            append = connected()
            # The first of all takes longer, and is not what is asked about.
            append(Batch(uuid.uuid4(), 0, -1, long_enough[0][: shape.size]))
            ready.wait()
            ready.wait()
            while True:
                game = long_enough[next(numbers) % len(long_enough)]
                stream, after = uuid.uuid4(), -1
                for first in range(0, len(game) - shape.size + 1, shape.size):
                    batch = Batch(stream, first, after, game[first : first + shape.size])
                    begin = time.perf_counter()
                    if begin >= ends[0]:
                        return
                    after = append(batch)
                    appends.append((begin, time.perf_counter()))
        except BaseException as error:  # noqa: BLE001 - told to the thread that waits
            failures.append(error)
            ready.abort()

    threads = [threading.Thread(target=call) for _ in range(shape.callers)]
    for thread in threads:
        thread.start()
    with suppress(threading.BrokenBarrierError):
        ready.wait()
        ends.append(time.perf_counter() + seconds)
        ready.wait()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return figures_of(appends, shape.size, ends[0] - seconds * (1 - WARMING))


def figures_of(appends: Sequence[tuple[float, float]], size: int, counts_from: float) -> Figures:
    """Events a second, and milliseconds an append, of those that ended once it counts."""
    ended = [(begin, end) for begin, end in appends if end >= counts_from]
    times = sorted(end - begin for begin, end in ended)
    seconds = max(end for _, end in ended) - counts_from
    return Figures(size * len(times) / seconds, quantile(times, 0.5) * 1e3, quantile(times, 0.99) * 1e3)


def repeated(seconds: float, read: Callable[[int], int]) -> Figures:
    """Read again and again for so long: how many a second, and milliseconds of each reading."""
    times: list[float] = []
    total = 0
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        total += read(len(times))
        times.append(time.perf_counter() - begin)
    spent = sum(times)
    times.sort()
    return Figures(total / spent, quantile(times, 0.5) * 1e3, quantile(times, 0.99) * 1e3)
