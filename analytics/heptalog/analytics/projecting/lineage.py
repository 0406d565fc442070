"""What stands of a game: the events that led to where it is now.

A takeback makes the state exactly what it was after some event, whatever that was: an event that had been taken back
itself stands again with all that led to it. So what stands is a walk from the last event backwards, in which a takeback
goes on from the event that it names.
"""

from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Any, TypeVar

# Rows, or what becomes one: each has the sequence of its event in one place.
R = TypeVar("R", bound=tuple[Any, ...])
M = TypeVar("M")


class Lineage:
    """The takebacks of a game so far. Without any, everything stands and nothing is looked at."""

    __slots__ = ("_takebacks",)

    def __init__(self) -> None:
        self._takebacks: list[tuple[int, int]] = []

    @property
    def takebacks(self) -> int:
        """How many there were, those included that were taken back themselves."""
        return len(self._takebacks)

    def take_back(self, *, sequence: int, to_sequence: int) -> None:
        """The event `sequence` takes back to an earlier one."""
        self._takebacks.append((sequence, to_sequence))

    def standing(self, head: int) -> "Standing":
        """What stands after event `head`, the last one."""
        if not self._takebacks:
            return Standing(None)
        stands = bytearray(head + 1)
        end = head
        for sequence, to_sequence in reversed(self._takebacks):
            if sequence <= end:
                stands[sequence : end + 1] = b"\1" * (end + 1 - sequence)
                end = to_sequence
        stands[: end + 1] = b"\1" * (end + 1)
        return Standing(bytes(stands))


class Standing:
    """Which events of a game stand, at one moment."""

    __slots__ = ("_stands",)

    def __init__(self, stands: bytes | None) -> None:
        self._stands = stands

    @property
    def is_whole(self) -> bool:
        """Whether nothing was ever taken back."""
        return self._stands is None

    def of(self, rows: Iterable[R], *, place: int) -> list[R]:
        """Those of the rows whose events stand; `place` is where in a row the sequence is."""
        stands = self._stands
        if stands is None:
            return list(rows)
        kept = list(rows)
        return list(compress(kept, [stands[row[place]] for row in kept]))


def grouped(marks: Iterable[tuple[int, M]], start: type[object]) -> Iterator[list[tuple[int, M]]]:
    """Marks, each after its sequence, in groups that begin with one of this type; the first of all is one."""
    group: list[tuple[int, M]] = []
    for mark in marks:
        if type(mark[1]) is start and group:
            yield group
            group = []
        group.append(mark)
    if group:
        yield group
