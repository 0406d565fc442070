"""Phrases that the words of every game share."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from heptalog.replay.events import DealerDrawn, Lot

Names: TypeAlias = Sequence[str]

SUIT_WORDS: Final[Mapping[str, str]] = MappingProxyType({"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"})


def name_of(seat: int, names: Names) -> str:
    """What to call a seat; one that is not there, as in an event that was refused, goes by its number."""
    return names[seat] if 0 <= seat < len(names) else f"seat {seat}"


def listed(seats: Iterable[int], names: Names) -> str:
    """Some seats by name: `Ana, Bo and Chie`."""
    return in_a_row([name_of(seat, names) for seat in seats])


def in_a_row(names: Names) -> str:
    """These names as people say them: `Ana, Bo and Chie`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def tell_dealer(body: DealerDrawn, names: Names) -> str:
    """Who deals first, and who drew what for it."""
    lots = tell_lots(body.lots, names)
    return f"{name_of(body.seat, names)} deals first" + (f" (drawn: {lots})" if lots else "")


def tell_lots(lots: Iterable[Lot], names: Names) -> str:
    """Who drew what, lot after lot: `Ana 5, Bo 5; then Ana 3, Bo 9`."""
    return "; then ".join(", ".join(f"{name_of(draw.seat, names)} {draw.value}" for draw in lot.draws) for lot in lots)


def tell_hidden(count: int) -> str:
    """What stands in place of a hand that the viewer does not see."""
    return f"({count} hidden)"
