"""Work on many games: few are done in this process and many in parallel, in order, never all in memory."""

import atexit
import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from heptalog.analytics.processes import core_count, in_order
from heptalog.cli.bundles import BundleGame
from heptalog.cli.connections import Connections
from heptalog.cli.databases import DatabaseGame, reading
from heptalog.cli.files import FileGame, Missing
from heptalog.cli.sources import Game
from heptalog.replay.errors import HeptalogError

R = TypeVar("R")

# What is made of some games, one result each; a function of a module, since other processes have to find it.
Work: TypeAlias = Callable[[Sequence[Game | Missing], Connections], list[R]]
# How what the work needs of games of one database is read at once.
Ahead: TypeAlias = Callable[[Connections, Path, Sequence[str]], None]

# Below this a second process would only be waited for: about half a second of work.
SMALL_SIZE: Final = 6_000_000
SMALL_COUNT: Final = 1_000
# By events, not by games: where the results are records a few thousand, where they are little some ten thousand.
CHUNK_SIZE: Final = 400_000
CHUNK_SIZE_WIDE: Final = 2_000_000
_CHUNK_COUNT: Final = 256
# Games are many small objects without cycles, among which the collector would look for some again and again.
_LOOKED_THROUGH_AFTER: Final = 200_000


def spread(
    work: Work[R],
    games: Iterable[Game | Missing],
    connections: Connections,
    *,
    jobs: int = 0,
    ahead: Ahead = Connections.read_records_ahead,
    chunk_size: int = CHUNK_SIZE,
) -> Iterator[tuple[Game | Missing, R]]:
    """Each game with what the work makes of it, in order. `jobs` is how many processes may work; 0 is one a core."""
    jobs = jobs or core_count()
    # Also alone: the engine of a database keeps all that it has read, as long as there is memory.
    connections.share()
    remaining = iter(games)
    first = _taken(remaining, size=SMALL_SIZE, count=SMALL_COUNT)
    following = next(remaining, None)
    every = chain(first, [] if following is None else [following], remaining)
    chunks = iter(lambda: _taken(every, size=chunk_size, count=_CHUNK_COUNT), [])
    if jobs == 1 or len(first) == 1 or (following is None and sum(map(_size_of, first)) < SMALL_SIZE):
        return _here(work, ahead, chunks, connections)
    return _in_parallel(work, ahead, chunks, connections, jobs)


def _here(
    work: Work[R], ahead: Ahead, chunks: Iterator[list[Game | Missing]], connections: Connections
) -> Iterator[tuple[Game | Missing, R]]:
    for chunk in chunks:
        yield from zip(chunk, _worked_on(work, ahead, chunk, connections), strict=True)


def _in_parallel(
    work: Work[R], ahead: Ahead, chunks: Iterator[list[Game | Missing]], connections: Connections, jobs: int
) -> Iterator[tuple[Game | Missing, R]]:
    sent: deque[tuple[list[Game | Missing], dict[int, R]]] = deque()

    def others_of() -> Iterator[list[Game | Missing]]:
        for chunk in chunks:
            # What comes through a pipe is there in this process only.
            here = {place: work([game], connections)[0] for place, game in enumerate(chunk) if _is_pipe(game)}
            sent.append((chunk, here))
            yield [game for place, game in enumerate(chunk) if place not in here]

    for results in in_order(partial(_elsewhere, work, ahead), others_of(), jobs=jobs, work="read games"):
        chunk, here = sent.popleft()
        others = iter(results)
        for place, game in enumerate(chunk):
            yield game, here[place] if place in here else next(others)


def _taken(games: Iterator[Game | Missing], *, size: int, count: int) -> list[Game | Missing]:
    """The next games, at least one where there is one, up to about this much work."""
    taken: list[Game | Missing] = []
    for game in games:
        taken.append(game)
        size -= _size_of(game)
        if size <= 0 or len(taken) == count:
            break
    return taken


def _size_of(game: Game | Missing) -> int:
    return 0 if isinstance(game, Missing) else game.size


def _is_pipe(game: Game | Missing) -> bool:
    return isinstance(game, FileGame | BundleGame) and not game.path.is_file()


def _worked_on(work: Work[R], ahead: Ahead, chunk: Sequence[Game | Missing], connections: Connections) -> list[R]:
    """The work done, with what is kept of games of one database read together: many times faster than one by one."""
    games: dict[Path, list[str]] = {}
    for game in chunk:
        if isinstance(game, DatabaseGame):
            games.setdefault(game.path, []).append(game.game_id)
    for path, game_ids in games.items():
        # Where it fails, each game is read by itself, and the bad one tells what is wrong with it.
        if len(game_ids) > 1:
            with suppress(HeptalogError), reading(path):
                ahead(connections, path, game_ids)
    return work(chunk, connections)


# In the other processes.


def _elsewhere(work: Work[R], ahead: Ahead, chunk: Sequence[Game | Missing]) -> list[R]:
    return _worked_on(work, ahead, chunk, _own_connections())


@cache
def _own_connections() -> Connections:
    """What this process has opened: once, for all of its chunks."""
    gc.set_threshold(_LOOKED_THROUGH_AFTER)
    connections = Connections()
    connections.share()
    atexit.register(connections.close)
    return connections
