"""The first half of the work, in as many processes as there are: games into files of their rows, a few MB each."""

import atexit
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import pyarrow as pa
from msgspec import Struct

from heptalog.analytics.keeping.games import event_of, whole_games
from heptalog.analytics.keeping.segments import File, write
from heptalog.analytics.parquet.records import EVENTS, RUNNING, event_row, rows_in_arrow
from heptalog.analytics.projecting.arrow import arrow_tables
from heptalog.analytics.projecting.game import GameProjection
from heptalog.analytics.sources import Recorded, Source
from heptalog.replay.errors import Corrupt, HeptalogError

T = TypeVar("T")
R = TypeVar("R")

# So many events are rows of Python at once; as Arrow they are a tenth of it.
_EVENTS_AT_ONCE: Final = 10_000


class Opener(Protocol):
    """Opens a log, in any process; equal ones open the same."""

    def __call__(self) -> AbstractContextManager[Source]:
        """The log, until it is left."""
        ...

    def __hash__(self) -> int: ...


class AtOnce(Protocol):
    """Does work in as many processes as there are, and gives its results in order; `map` does it in this one."""

    def __call__(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]: ...


class Work(Struct, frozen=True):
    """Games to be exported as they stand at a position, into a folder of their own.

    Running ones are left out, unless it is theirs: `is_unfinished`.
    """

    opener: Opener
    position: int
    game_ids: tuple[str, ...]
    events: int
    folder: str
    is_unfinished: bool = False


class LeftOut(Struct, frozen=True, rename="camel"):
    """A game that is not in an export, and why: RUNNING, or a code."""

    game_number: int | None
    game_id: str
    reason: str


class Pieces(Struct, frozen=True):
    """What came of it: files in the folder, with their paths in it, and what is in none of them."""

    folder: str
    files: tuple[File, ...]
    left_out: tuple[LeftOut, ...]
    events: int

    def path(self, file: File) -> str:
        """Where one of the files lies."""
        return f"{self.folder}/{file.path}"

    def paths(self, table: str) -> list[str]:
        """Where those of a table lie."""
        return [self.path(file) for file in self.files if file.table == table]


def made(work: Work) -> Pieces:
    """Do the work. Raises Unavailable where the log cannot be read at all."""
    with _log(work.opener) as source:
        return _made(work, source)


def _made(work: Work, source: Source) -> Pieces:
    tables: dict[str, list[pa.Table]] = {}
    left_out: list[LeftOut] = []
    games: list[GameProjection] = []
    rows: list[tuple[Any, ...]] = []
    for game_id, records in _games(source, work.game_ids, work.position):
        try:
            if isinstance(records, HeptalogError):
                raise records
            game, more = _projected(records)
        except HeptalogError as error:
            number = None if isinstance(records, HeptalogError) else records[0].position
            left_out.append(LeftOut(number, game_id, error.code))
            continue
        if game.is_over or work.is_unfinished:
            games.append(game)
            rows += more
        else:
            left_out.append(LeftOut(game.game_number, game_id, RUNNING))
        if len(rows) >= _EVENTS_AT_ONCE:
            _add(tables, games, rows)
            games, rows = [], []
    _add(tables, games, rows)
    joined = {name: pa.concat_tables(parts) for name, parts in tables.items()}
    files = write(Path(work.folder), joined, 1)
    return Pieces(work.folder, files, tuple(left_out), work.events)


def _add(tables: dict[str, list[pa.Table]], games: Sequence[GameProjection], rows: Sequence[tuple[Any, ...]]) -> None:
    for name, table in (*arrow_tables(games).items(), (EVENTS.name, rows_in_arrow(EVENTS, rows))):
        tables.setdefault(name, []).append(table)


def _projected(records: Sequence[Recorded]) -> tuple[GameProjection, list[tuple[Any, ...]]]:
    """A game and the rows of its events. Raises what its events raise."""
    game: GameProjection | None = None
    rows = []
    for recorded in records:
        event = event_of(recorded)
        if game is None:
            game = GameProjection(event, recorded.position)
        else:
            game.advance(event, recorded.position)
        rows.append(event_row(recorded.position, game, event, recorded.record))
    assert game is not None, "a game has a first record"
    return game, rows


def _games(
    source: Source, game_ids: Sequence[str], position: int
) -> Iterator[tuple[str, list[Recorded] | HeptalogError]]:
    """The records of each game up to the position, or why they cannot be read."""
    try:
        games = list(whole_games(source, game_ids, until=position))
    except Corrupt as error:
        if len(game_ids) == 1:
            yield game_ids[0], error
            return
        # One of them hides the others: they are looked at one by one.
        for game_id in game_ids:
            yield from _games(source, [game_id], position)
        return
    yield from games


@contextmanager
def _log(opener: Opener) -> Iterator[Source]:
    """The log; in a process that only works it stays open, for the work that follows."""
    if parent_process() is not None:
        yield _opened(opener)
        return
    with opener() as source:
        yield source


@cache
def _opened(opener: Opener) -> Source:
    """What this process has opened: once, for all of its work."""
    # Rows are many small tuples without cycles: to look for cycles in them would cost a fifth of all time.
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    context = opener()
    source = context.__enter__()
    atexit.register(context.__exit__, None, None, None)
    return source
