"""The rounds of a game: put together from what happened to them, so that a takeback takes that back too."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from heptalog.analytics.projecting.lineage import Standing, grouped
from heptalog.analytics.projecting.rows import Labels, Row

# A match that is won before its round is played to the end, by a point in the middle of it.
MATCH_WON: Final = "MATCH_WON"


class Opening(Struct, frozen=True, gc=False):
    """Who deals a round and who plays first in it, as far as that is known at the deal."""

    dealer: int | None = None
    opener: int | None = None
    is_deciding: bool = False


class Began(Struct, frozen=True, gc=False):
    """A round began, at these scores."""

    round: int
    opening: Opening
    scores: tuple[int, ...]
    at: int | None


class Opened(Struct, frozen=True, gc=False):
    """It is decided who plays first in it."""

    seat: int


class Ended(Struct, frozen=True, gc=False):
    """The round is over, at these scores; `seat` is who ended it by an empty hand."""

    by: str
    seat: int | None
    scores: tuple[int, ...]
    at: int | None


Mark: TypeAlias = Began | Opened | Ended


class Rounds:
    """What happened to the rounds of one game so far, what was taken back included."""

    __slots__ = ("_marks",)

    def __init__(self) -> None:
        self._marks: list[tuple[int, Mark]] = []

    def add(self, sequence: int, mark: Mark) -> None:
        """Something happened to the round that is played, or that begins with it."""
        self._marks.append((sequence, mark))

    def rows(self, labels: Labels, standing: Standing, turns: Counter[int], scores: tuple[int, ...]) -> Iterator[Row]:
        """The rounds that stand; `turns` are those of each round, and `scores` the game's as it stands."""
        for marks in grouped(standing.of(self._marks, place=0), Began):
            yield _row(labels, marks, turns, scores)


def _row(labels: Labels, marks: Sequence[tuple[int, Mark]], turns: Counter[int], scores: tuple[int, ...]) -> Row:
    (first_sequence, began), *others = marks
    assert type(began) is Began, "a round begins once, and first"
    opener = began.opening.opener
    ended: Ended | None = None
    last_sequence: int | None = None
    for sequence, mark in others:
        if type(mark) is Opened:
            opener = mark.seat
        elif type(mark) is Ended:
            ended, last_sequence = mark, sequence
    after = scores if ended is None else ended.scores
    return (
        *labels.game,
        began.round,
        first_sequence,
        last_sequence,
        began.opening.dealer,
        opener,
        None if ended is None else ended.by,
        None if ended is None else ended.seat,
        began.opening.is_deciding,
        turns[began.round],
        tuple(map(int.__sub__, after, began.scores)),
        after,
        began.at,
        None if ended is None else ended.at,
        *labels.partition,
    )
