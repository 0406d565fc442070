"""The numbers that a database has given so far; the next ones follow them without gaps."""

from typing import Final

import duckdb
from msgspec import Struct

_COUNTERS: Final = """
    SELECT (SELECT coalesce(max(position), 0) FROM log.events),
        (SELECT coalesce(max(game_number), 0) FROM log.games),
        (SELECT coalesce(max(refusal_number), 0) FROM log.refusals),
        (SELECT coalesce(max(checkpoint_number), 0) FROM log.checkpoints)
"""


class Counters(Struct, frozen=True):
    """The last number given of each kind."""

    position: int
    game_number: int
    refusal_number: int
    checkpoint_number: int


def count(connection: duckdb.DuckDBPyConnection) -> Counters:
    """Ask the database for them."""
    (row,) = connection.execute(_COUNTERS).fetchall()
    return Counters(*row)
