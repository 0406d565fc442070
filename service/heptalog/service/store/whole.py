"""Whole games made ready before they come to a store: rows for its tables, which lack only their numbers.

Who reads games to bring them to a log can make the rows in many processes at once, and the one writer only has to
number them.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from heptalog.replay.events import Event
from heptalog.service.store import Ending
from heptalog.service.store.kept import Columns, columns_of, ending_columns, game_columns
from heptalog.service.store.packed import Packed, PackedTexts, packed_numbers, packed_pieces, packed_texts


class WholeGame(Struct, frozen=True):
    """A game from its beginning on: its records, and what stands beside them."""

    game_id: str
    packed: PackedTexts  # its records
    columns: tuple[Packed, ...]  # by EVENT_COLUMNS without the sequence, which is their place
    game: Columns  # by GAME_COLUMNS
    endings: tuple[Columns, ...]  # by ENDING_COLUMNS

    @property
    def count(self) -> int:
        """How many events it has."""
        return self.packed.count

    @property
    def size(self) -> int:
        """How many bytes its records have."""
        return self.packed.size

    @property
    def records(self) -> tuple[bytes, ...]:
        """Its records, each by itself."""
        return tuple(self.packed.pieces())


def whole_game(events: Sequence[Event], records: Sequence[bytes], endings: Iterable[Ending]) -> WholeGame:
    """The rows of a game: its events as they are recorded, but for their links, and their records."""
    sequences, kinds, seats, event_ids, occurred, recorded, recorders = columns_of(events)
    assert sequences == list(range(len(records))), "a game is whole"
    return WholeGame(
        events[0].game_id,
        packed_pieces(records),
        (
            packed_texts(kinds),
            packed_numbers(seats),
            packed_texts(event_ids),
            packed_numbers(occurred),
            packed_numbers(recorded),
            packed_texts(recorders),
        ),
        game_columns(events[0], records[0]),
        tuple(ending_columns(ending, events[ending.sequence].recorded_at) for ending in endings),
    )
