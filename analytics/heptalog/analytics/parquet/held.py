"""What an export holds already, asked of its files."""

from collections.abc import Collection, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

import duckdb
from msgspec import Struct

from heptalog.analytics.parquet.manifest import Manifest
from heptalog.analytics.parquet.pieces import LeftOut
from heptalog.analytics.parquet.records import LEFT_OUT, RUNNING
from heptalog.analytics.rating import RatedGame

# So many rows are held at once.
_ROWS_AT_ONCE: Final = 10_000

_GAMES: Final = """
    SELECT game_number, game_id, ruleset, month, ended_position
    FROM read_parquet(?, hive_partitioning = true, hive_types_autocast = false)
    WHERE game_id IN (SELECT unnest(?::VARCHAR[]))
"""
_FILES: Final = """
    SELECT DISTINCT filename FROM read_parquet(?, filename = true, hive_partitioning = false)
    WHERE game_number IN (SELECT unnest(?::BIGINT[]))
"""
_LAST_RATED: Final = "SELECT max(ended_position) FROM read_parquet(?)"
_LAST_CHANGES: Final = """
    SELECT * FROM read_parquet(?) WHERE ended_position < ?
    QUALIFY row_number() OVER (PARTITION BY ruleset, player_id ORDER BY games DESC) = 1
"""
_RATED: Final = (resources.files("heptalog.analytics.parquet") / "rated.sql").read_text("utf-8")
_TOLD: Final = "SELECT refusal_number FROM read_parquet(?) WHERE refusal_number >= ?"
_FIRST_TOLD: Final = """
    SELECT coalesce(min(refusal_number), 0) FROM read_parquet(?) WHERE game_id IN (SELECT unnest(?::VARCHAR[]))
"""
_FIRST_ENDED: Final = "SELECT min(ended_position) FROM read_parquet(?, hive_partitioning = false)"
_LEFT_OUT: Final = "SELECT game_number, game_id, reason FROM read_parquet(?)"
_UNFINISHED: Final = "SELECT game_number, game_id FROM read_parquet(?, hive_partitioning = false)"


class HeldGame(Struct, frozen=True):
    """A game that is in an export; `ended_position` is None where it was running."""

    game_number: int
    game_id: str
    ruleset: str
    month: str
    ended_position: int | None


class Holdings:
    """Asks the files of an export, and of one that is being made. Paths are those of the files in question."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def games(self, games: Sequence[str], game_ids: Collection[str]) -> tuple[HeldGame, ...]:
        """Those of these games that are in the files of games."""
        if not games or not game_ids:
            return ()
        return tuple(HeldGame(*row) for row in self._rows(_GAMES, [list(games), list(game_ids)]))

    def files_with(self, paths: Sequence[str], game_numbers: Collection[int]) -> frozenset[str]:
        """Those of these files in which there is a row of one of these games."""
        if not paths or not game_numbers:
            return frozenset()
        return frozenset(path for (path,) in self._rows(_FILES, [list(paths), list(game_numbers)]))

    def first_ended(self, games: Sequence[str]) -> int | None:
        """The position of the first ending in these files of games; None where nothing has ended."""
        return self._number(_FIRST_ENDED, games) if games else None

    def last_rated(self, changes: Sequence[str]) -> int:
        """The position of the last ending that was rated; 0 where none was."""
        return (self._number(_LAST_RATED, changes) if changes else None) or 0

    def last_changes(self, changes: Sequence[str], since: int) -> list[tuple[Any, ...]]:
        """The last row of each player and ruleset among the changes of ratings before a position."""
        return self._rows(_LAST_CHANGES, [list(changes), since]) if changes else []

    def rated_games(self, games: Sequence[str], seats: Sequence[str], since: int) -> Iterator[RatedGame]:
        """The games that ended at a position or later and are rated, in the order in which they ended."""
        self._connection.execute(_RATED, {"games": list(games), "seats": list(seats), "since": since})
        while rows := self._connection.fetchmany(_ROWS_AT_ONCE):
            for number, game_id, ruleset, ended_position, *lists in rows:
                players, sides, scores, winners = map(tuple, lists)
                yield RatedGame(number, game_id, ruleset, ended_position, players, sides, scores, winners)

    def first_told(self, refusals: Sequence[str], game_ids: Collection[str]) -> int:
        """The number of the first refusal of these games; 0 where there is none."""
        if not refusals or not game_ids:
            return 0
        ((number,),) = self._rows(_FIRST_TOLD, [list(refusals), list(game_ids)])
        return int(number)

    def told(self, refusals: Sequence[str], first: int) -> frozenset[int]:
        """The numbers of the refusals from this one on."""
        return (
            frozenset(number for (number,) in self._rows(_TOLD, [list(refusals), first])) if refusals else frozenset()
        )

    def left_out(self, left_out: Sequence[str], unfinished: Sequence[str]) -> dict[str, LeftOut]:
        """The games of these two kinds of files, by their ids: those that are left out, and those that run."""
        games = [LeftOut(*row) for row in self._rows(_LEFT_OUT, [list(left_out)])] if left_out else []
        running = self._rows(_UNFINISHED, [list(unfinished)]) if unfinished else []
        games += [LeftOut(number, game_id, RUNNING) for number, game_id in running]
        return {game.game_id: game for game in games}

    def _number(self, statement: str, paths: Sequence[str]) -> int | None:
        ((number,),) = self._rows(statement, [list(paths)])
        return None if number is None else int(number)

    def _rows(self, statement: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, parameters).fetchall()


def games_left_out(folder: Path, manifest: Manifest) -> dict[str, LeftOut]:
    """The games that are not in an export, by their ids; those that it has although they are running are among them."""
    left_out = [str(folder / file.path) for file in manifest.of(LEFT_OUT.name)]
    unfinished = [str(folder / file.path) for file in manifest.of("games") if file.is_unfinished]
    with duckdb.connect() as connection:
        return Holdings(connection).left_out(left_out, unfinished)
