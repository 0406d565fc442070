"""The tables that only grow: ratings, which depend on the order of all endings, and refusals, some of which must wait.

What a refusal says of a hand may be told once the game is in the export, or where there never was one. The others are
held back, and looked at again the next time.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from heptalog.analytics.keeping.segments import write
from heptalog.analytics.parquet.held import Holdings
from heptalog.analytics.projecting.arrow import arrow_table, refusal_row
from heptalog.analytics.rating import resume
from heptalog.analytics.sources import Source
from heptalog.analytics.tables import RATING_CHANGES, REFUSALS, Table

# So many rows are held at once.
_ROWS_AT_ONCE: Final = 50_000


class Held(Struct, frozen=True):
    """How many refusals have been looked at, and the number of the first that is held back; 0 where none is."""

    count: int
    first: int


class Waiting(Struct, frozen=True):
    """The games of which nothing is told, by their ids: those that are `running`, and those that cannot be read.

    Where the export `has_running` ones too, it has what was refused in them.
    """

    running: Collection[str]
    unread: Collection[str]
    has_running: bool


class Told(Struct, frozen=True):
    """What was made of refusals: files of those that may be told, of those in running games, and what is held back."""

    paths: tuple[str, ...]
    unfinished: tuple[str, ...]
    held: Held


def rated(
    folder: Path, holdings: Holdings, *, games: Sequence[str], seats: Sequence[str], changes: Sequence[str], since: int
) -> tuple[str, ...]:
    """Rate the games that ended at a position or later, after what was rated before it: files in the folder."""
    if not games:
        return ()
    ratings = resume(holdings.last_changes(changes, since))
    rows = (row for game in holdings.rated_games(games, seats, since) for row in ratings.rate(game))
    return _written(folder, RATING_CHANGES, rows)


def told(folder: Path, source: Source, *, known: Collection[int], held: Held, count: int, waiting: Waiting) -> Told:
    """Look at the refusals that are new or were held back, up to so many; of some it is `known` that they were told."""
    first = held.first or held.count + 1
    unfinished: list[tuple[Any, ...]] = []
    still_held: list[int] = []

    def rows() -> Iterator[tuple[Any, ...]]:
        refusals = islice(source.refusals(after=first - 1), max(count - first + 1, 0))
        for number, refused in enumerate(refusals, first):
            is_running = refused.game_id in waiting.running
            if is_running or refused.game_id in waiting.unread:
                still_held.append(number)
                if is_running and waiting.has_running:
                    unfinished.append(refusal_row(number, refused))
            elif number not in known:
                yield refusal_row(number, refused)

    paths = _written(folder / "told", REFUSALS, rows())
    of_running = _written(folder / "running", REFUSALS, unfinished)
    return Told(paths, of_running, Held(count, still_held[0] if still_held else 0))


def _written(folder: Path, table: Table, rows: Iterable[tuple[Any, ...]]) -> tuple[str, ...]:
    """The rows in files, so many in each."""
    paths: list[str] = []
    waiting = iter(rows)
    while some := list(islice(waiting, _ROWS_AT_ONCE)):
        files = write(folder, {table.name: arrow_table(table, some)}, len(paths) + 1)
        paths += [str(folder / file.path) for file in files]
    return tuple(paths)
