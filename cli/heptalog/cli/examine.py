"""Examining games: one verdict a game, few games in this process and many in parallel, never all in memory.

Results come in the order of the games. What is on its way is bounded: a few chunks of games for each process.
"""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from itertools import chain
from threading import Thread
from typing import Final, TypeAlias

from msgspec import Struct

from heptalog.cli.connections import Connections
from heptalog.cli.exits import Exit, exit_of_code
from heptalog.cli.files import Missing
from heptalog.cli.sources import Game
from heptalog.replay.errors import Code, HeptalogError, NotFound, Unavailable
from heptalog.replay.verify import Examiner, verify
from heptalog.replay.words import sentence

Chunk: TypeAlias = list[Game | Missing]

# Below this a second process would only be waited for: about half a second of work.
SMALL_SIZE: Final = 8_000_000
SMALL_COUNT: Final = 2_000
_CHUNK_SIZE: Final = 500_000
_CHUNK_COUNT: Final = 64
_CHUNKS_PER_PROCESS: Final = 4


class Verdict(Struct, frozen=True):
    """What `verify` says of one game; the last four are null where it is good."""

    source: str
    ok: bool
    events: int
    sequence: int | None = None
    rule: str | None = None
    code: Code | None = None
    message: str | None = None

    @property
    def exit(self) -> Exit:
        return Exit.FINE if self.code is None else exit_of_code(self.code)


def examined(games: Iterable[Game | Missing], connections: Connections, *, jobs: int = 0) -> Iterator[Verdict]:
    """A verdict on each game, in order. `jobs` is how many processes may work; 0 is one a core."""
    jobs = jobs or core_count()
    remaining = iter(games)
    first = _taken(remaining, size=SMALL_SIZE, count=SMALL_COUNT)
    following = next(remaining, None)
    if jobs == 1 or len(first) == 1 or (following is None and sum(map(_size_of, first)) < SMALL_SIZE):
        rest = chain(first, [] if following is None else [following], remaining)
        return (verdict_on(game, connections) for game in rest)
    return _in_parallel(chain(first, [] if following is None else [following], remaining), jobs)


def verdict_on(game: Game | Missing, connections: Connections) -> Verdict:
    """Examine one game: form, chain, seals, the rules at every event, and what is kept beside them."""
    if isinstance(game, Missing):
        return bad(game.name, 0, game.error)
    examiner = Examiner()
    report = verify(game.entries(connections), examiner)
    if report.error is not None:
        return bad(game.name, report.events, report.error, sequence=report.sequence, has_lines=game.has_lines)
    assert examiner.fold is not None, "a good game has a beginning"
    try:
        game.check_derived(examiner.fold, connections)
    except HeptalogError as error:
        sequence = error.facts.get("sequence")
        return bad(game.name, report.events, error, sequence=sequence if isinstance(sequence, int) else -1)
    return Verdict(game.name, ok=True, events=report.events)


def bad(source: str, events: int, error: HeptalogError, *, sequence: int = -1, has_lines: bool = False) -> Verdict:
    """The verdict on a game that is bad, or could not be read."""
    is_placed = sequence >= 0 and not isinstance(error, Unavailable | NotFound)
    # Between events there is no other line, so the one after those accepted is to blame unless it says so itself.
    line = error.facts.get("line", events + 1) if has_lines and is_placed else None
    return Verdict(
        source,
        ok=False,
        events=events,
        sequence=sequence if is_placed else None,
        rule=error.rule or None,
        code=error.code,
        message=f"line {line}: {sentence(error)}" if line else sentence(error),
    )


def core_count() -> int:
    """How many processes can work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_parallel(games: Iterator[Game | Missing], jobs: int) -> Iterator[Verdict]:
    # A fresh interpreter each: a forked one would share connections and half-held locks.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)
    waiting: deque[Future[list[Verdict]]] = deque()
    try:
        while chunk := _taken(games, size=_CHUNK_SIZE, count=_CHUNK_COUNT):
            waiting.append(pool.submit(_verdicts_on, chunk))
            if len(waiting) >= jobs * _CHUNKS_PER_PROCESS:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, problem="a process that examined games was killed") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _taken(games: Iterator[Game | Missing], *, size: int, count: int) -> Chunk:
    """The next games, at least one where there is one, up to about this much work."""
    taken: Chunk = []
    for game in games:
        taken.append(game)
        size -= _size_of(game)
        if size <= 0 or len(taken) == count:
            break
    return taken


def _size_of(game: Game | Missing) -> int:
    return 0 if isinstance(game, Missing) else game.size


# In the other processes.


def _begin() -> None:
    # Ctrl-C goes to all of them, and only the first tells of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only in a process that was started for this"
    parent.join()
    os._exit(0)


def _verdicts_on(chunk: Chunk) -> list[Verdict]:
    with closing(Connections()) as connections:
        return [verdict_on(game, connections) for game in chunk]
