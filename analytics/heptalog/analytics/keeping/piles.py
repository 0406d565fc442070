"""Rows of many games on their way into files, by what files they go into."""

from collections.abc import Iterator
from typing import Final, TypeAlias

import pyarrow as pa
from msgspec import Struct, field

from heptalog.analytics.projecting.arrow import arrow_tables
from heptalog.analytics.projecting.game import GameProjection
from heptalog.analytics.tables import PARTITIONS, TABLES

# Rows of so many events are put together at once: as tuples they take ten times the room.
_EVENTS_AT_ONCE: Final = 50_000
# Ruleset, month, and whether the games are running.
Place: TypeAlias = tuple[str, str, bool]


class _Pile(Struct):
    games: list[GameProjection] = field(default_factory=list)
    events: int = 0
    pieces: dict[str, list[pa.Table]] = field(default_factory=dict)


class Piles:
    """Games that are taken in the order of their numbers."""

    def __init__(self) -> None:
        self._piles: dict[Place, _Pile] = {}

    def add(self, game: GameProjection) -> None:
        """Take the next game, as it is now."""
        pile = self._piles.setdefault((game.ruleset, game.month, not game.is_over), _Pile())
        pile.games.append(game)
        pile.events += game.event_count
        if pile.events >= _EVENTS_AT_ONCE:
            _put_together(pile)

    def tables(self) -> Iterator[tuple[Place, dict[str, pa.Table]]]:
        """The rows of all games for each place, in every table that has some, without the columns of PARTITIONS."""
        for place, pile in self._piles.items():
            _put_together(pile)
            yield place, {name: pa.concat_tables(pieces) for name, pieces in pile.pieces.items()}


def _put_together(pile: _Pile) -> None:
    if not pile.games:
        return
    tables = arrow_tables(pile.games)
    for table in TABLES:
        if table.is_of_games and tables[table.name].num_rows:
            pile.pieces.setdefault(table.name, []).append(tables[table.name].drop_columns(list(PARTITIONS)))
    pile.games, pile.events = [], 0
