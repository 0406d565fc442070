"""Whole games made ready before they come to a store: rows for its tables, which lack only their numbers.

Who reads games to bring them to a log can make the rows in many processes at once, and the one writer only has to
number them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from heptalog.replay.codec import hash_in, previous_in
from heptalog.replay.events import Event
from heptalog.replay.evidence.chain import GENESIS
from heptalog.service.store import Ending
from heptalog.service.store.kept import Columns, ending_columns, event_columns, game_columns


class WholeGame(Struct, frozen=True):
    """A game from its beginning on: its records, and what stands beside them."""

    game_id: str
    records: tuple[bytes, ...]
    columns: tuple[tuple[Any, ...], ...]  # by EVENT_COLUMNS, each as long as the records
    game: Columns  # by GAME_COLUMNS
    endings: tuple[Columns, ...]  # by ENDING_COLUMNS


def whole_game(events: Sequence[Event], records: Sequence[bytes], endings: Iterable[Ending]) -> WholeGame:
    """The rows of a game: its events as they are recorded, but for their links, and their records."""
    return WholeGame(
        events[0].game_id,
        tuple(records),
        tuple(zip(*map(event_columns, events), strict=True)),
        game_columns(events[0], records[0]),
        tuple(ending_columns(ending, events[ending.sequence].recorded_at) for ending in endings),
    )


def assert_whole(games: Sequence[WholeGame]) -> None:
    """Fail where a game contradicts itself, or is given twice, which only our own bug could bring about."""
    assert len({game.game_id for game in games}) == len(games), "each game is given once"
    for game in games:
        previous = GENESIS
        for record in game.records:
            assert previous_in(record) == previous, "the records of a game are a chain"
            previous = hash_in(record)
        assert all(len(column) == len(game.records) for column in game.columns), "each record has its columns"
        assert game.columns[0] == tuple(range(len(game.records))), "a game is whole"
        assert game.game[0] == game.game_id, "a game has one name"
