"""What the makers of rows share: what a row is, and what many rows of one game have in common."""

from typing import Final, TypeAlias

from msgspec import Struct

from heptalog.replay.events import GameStarted

# The values of a row in the order of its table's columns. Times are microseconds since 1970 UTC, as precise as a
# column is; lists are tuples; what is absent is None.
Row: TypeAlias = tuple[object, ...]

MONTH_UNKNOWN: Final = "0000-00"


class Labels(Struct, frozen=True):
    """What many rows of one game have in common, ready to be unpacked into them.

    `game` is the number and the id of the game, with which every row begins; `seats[n]` is who sits there: the seat,
    the player's id and their side; `partition` is the ruleset and the month, with which every row ends.
    """

    game: tuple[int, str]
    seats: tuple[tuple[int, str, int], ...]
    partition: tuple[str, str]


def labels_of(
    started: GameStarted, *, game_number: int, game_id: str, side_count: int, ruleset: str, month: str
) -> Labels:
    """The labels of a game that was started like this."""
    seats = tuple((seat, player.id, seat % side_count) for seat, player in enumerate(started.players))
    return Labels((game_number, game_id), seats, (ruleset, month))


def microseconds(nanoseconds: int) -> int | None:
    """A time of an event as a column has it; None where the record does not say."""
    return nanoseconds // 1000 or None
