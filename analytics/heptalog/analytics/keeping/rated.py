"""The changes of ratings as games end; made anew from where an earlier end has become another."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

import duckdb

from heptalog.analytics.keeping.place import SPILL
from heptalog.analytics.keeping.segments import Damaged
from heptalog.analytics.keeping.series import Series
from heptalog.analytics.projecting.arrow import arrow_table
from heptalog.analytics.projecting.rows import Row
from heptalog.analytics.rating import RatedGame, Ratings, resume
from heptalog.analytics.snapshots import Snapshot, attach
from heptalog.analytics.tables import RATING_CHANGES

# Games that are rated before their rows are written.
_GAMES_AT_ONCE: Final = 50_000
_ROWS_AT_ONCE: Final = 1_000
# Those that `heptalog.analytics.rating.result_of` rates, in the order in which they ended.
_ENDED = """
    SELECT game_number, game_id, ruleset, ended_position, scores, winners, players, sides FROM games
    JOIN (
        SELECT game_number, list(player_id ORDER BY seat) AS players, list(side ORDER BY seat) AS sides FROM seats
        GROUP BY game_number
    ) USING (game_number)
    WHERE ended_position >= ? AND len(winners) > 0 AND turns > 0
    ORDER BY ended_position
"""
_LAST = """
    FROM rating_changes QUALIFY row_number() OVER (PARTITION BY ruleset, player_id ORDER BY ended_position DESC) = 1
"""


class Rated:
    """The rows of rating_changes, and where everybody stands after them."""

    def __init__(self, series: Series) -> None:
        self.series = series
        # Read when a game has ended: it is not needed before.
        self._ratings: Ratings | None = None

    def change(
        self, games: Iterable[tuple[RatedGame | None, RatedGame | None]], snapshot: Callable[[], Snapshot]
    ) -> None:
        """Take games by what they were rated and by what they are; `snapshot` has the tables of games as they are now.

        Raises OSError, Damaged.
        """
        pairs = [(old, new) for old, new in games if old != new]
        if not pairs:
            return
        ended = sorted((new for _, new in pairs if new is not None), key=_ended_position)
        places = [old.ended_position for old, _ in pairs if old is not None]
        places += [new.ended_position for new in ended if new.ended_position <= self.series.last]
        if not places:
            self._rate(ended, snapshot)
            return
        self.renew(min(places), snapshot)

    def renew(self, start: int, snapshot: Callable[[], Snapshot]) -> None:
        """Rate everything anew that ended at a position or after it. Raises OSError, Damaged."""
        self.series.cut(start)
        self._ratings = None
        with _tables(snapshot()) as connection:
            self._rate(_ended_since(connection, start), snapshot)

    def _rate(self, games: Iterable[RatedGame], snapshot: Callable[[], Snapshot]) -> None:
        ratings = self._ratings or self._resumed(snapshot)
        # Where it fails half way, what was rated is not what is written.
        self._ratings = None
        left = iter(games)
        while some := list(islice(left, _GAMES_AT_ONCE)):
            self.series.add(arrow_table(RATING_CHANGES, [row for game in some for row in ratings.rate(game)]))
        self._ratings = ratings

    def _resumed(self, snapshot: Callable[[], Snapshot]) -> Ratings:
        if not self.series.chunks:
            return Ratings()
        with _tables(snapshot()) as connection:
            return resume(_rows(connection, _LAST, []))


def rated_anew(snapshot: Snapshot) -> Iterator[list[Row]]:
    """The rows that follow from the tables of games, some at a time. Raises Damaged."""
    ratings = Ratings()
    with _tables(snapshot) as connection:
        games = _ended_since(connection, 0)
        while some := list(islice(games, _GAMES_AT_ONCE)):
            yield [row for game in some for row in ratings.rate(game)]


@contextmanager
def _tables(snapshot: Snapshot) -> Iterator[duckdb.DuckDBPyConnection]:
    # What does not fit in memory goes where the tables are, not where the program was started.
    with duckdb.connect(config={"temp_directory": f"{snapshot.folders[0]}/{SPILL}"}) as connection:
        attach(connection, snapshot)
        yield connection


def _ended_since(connection: duckdb.DuckDBPyConnection, start: int) -> Iterator[RatedGame]:
    for number, game_id, ruleset, ended_position, scores, winners, players, sides in _rows(connection, _ENDED, [start]):
        yield RatedGame(
            game_number=number,
            game_id=game_id,
            ruleset=ruleset,
            ended_position=ended_position,
            players=tuple(players),
            sides=tuple(sides),
            scores=tuple(scores),
            winners=tuple(winners),
        )


def _rows(connection: duckdb.DuckDBPyConnection, statement: str, parameters: Sequence[object]) -> Iterator[Any]:
    try:
        connection.execute(statement, parameters)
        while rows := connection.fetchmany(_ROWS_AT_ONCE):
            yield from rows
    except (duckdb.IOException, duckdb.InvalidInputException) as error:
        raise Damaged(RATING_CHANGES.name) from error


def _ended_position(game: RatedGame) -> int:
    return game.ended_position
