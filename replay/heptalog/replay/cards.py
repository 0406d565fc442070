"""Cards as games share them: names, and sets of cards as bit masks.

A set of cards is one integer with a bit a card, so that holding, following and counting are single operations and a
state with four hands stays small, immutable and comparable. Which card has which bit is each game's own: the order
within a suit is a rule (SU-D1, SB-R3).
"""

from collections.abc import Iterable, Mapping
from typing import Final

SUITS: Final = "CDHS"
RANKS: Final = "A23456789TJQK"
JOKERS: Final = ("X1", "X2")


def bits_of(names: Iterable[str]) -> dict[str, int]:
    """Give each name the next bit, the first one bit 0."""
    return {name: 1 << index for index, name in enumerate(names)}


def mask_of(names: Iterable[str], bits: Mapping[str, int]) -> int:
    """The set of these cards. Raises KeyError for a name that is not a card; a repeated one counts once."""
    mask = 0
    for name in names:
        mask |= bits[name]
    return mask


def names_in(mask: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """The cards of a set in bit order; `names` is the whole deck in that order."""
    found = []
    while mask:
        # A set has few cards beside the deck, so going from card to card is shorter than asking for each.
        rest = mask & (mask - 1)
        found.append(names[(mask ^ rest).bit_length() - 1])
        mask = rest
    return tuple(found)
