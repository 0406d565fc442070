"""What the rule book of Seven Rocks prints as numbers, and what follows from a tile and an end as tables.

The line as far as rules care is four *ends*, one an arm: left, right, up, down. An end is one small integer, its kind
plus the value that is open there:

    PLAIN + v     a half of v pips lies outside, and counts v
    DOUBLE + v    a double lies outside, and counts both halves (SR-R14)
    SIDE + v      a side of the spinner that is free and counts nothing: a branch, or the second in-line side of a lone
                  opening double, which counts once and not once a side (SR-D4)
    SPINNER + v   the free in-line side on which the spinner counts both halves until it is taken (SR-R18)
    CLOSED        nothing can be laid there

Every question about a tile at an end is then one look into a table: what the end becomes, what it adds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Final

from heptalog.replay.seven_rocks.events import Arm

PLAYERS_LOW: Final = 4  # SR-R1
PLAYERS_HIGH: Final = 4  # SR-R1
SEAT_COUNT: Final = PLAYERS_HIGH
LEFT_OF: Final[tuple[int, ...]] = (1, 2, 3, 0)  # SR-R10: who is next, by seat
SIDES: Final = ((0, 2), (1, 3))  # SR-R1
PIPS_MAX: Final = 6  # SR-R2
HAND_SIZE: Final = 7  # SR-R4
UNIT: Final = 5  # SR-R20, SR-R25
PASSES_TO_BLOCK: Final = 4  # SR-D15

TARGET_DEFAULT: Final = 250  # SR-R28
RANGES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType({"target": (1, 100_000)})  # game-file

ARMS: Final = tuple(Arm)
ARM_INDEXES: Final[Mapping[str, int]] = MappingProxyType({arm: index for index, arm in enumerate(ARMS)})
LEFT, RIGHT, UP, DOWN = range(4)
OPENING: Final = 4  # stands for the arm of an opening tile, which has none
NAMED_ARMS: Final[tuple[Arm | None, ...]] = (*ARMS, None)

VALUE_COUNT: Final = PIPS_MAX + 1
PLAIN, DOUBLE, SIDE, SPINNER, CLOSED = range(0, 5 * VALUE_COUNT, VALUE_COUNT)
NO_ENDS: Final[tuple[int, ...]] = (CLOSED, CLOSED, CLOSED, CLOSED)
MISFIT: Final = -1  # what an end becomes under a tile that does not fit it

# The 28 tiles, higher half first; a tile's place here is its bit (SR-R2).
TILE_NAMES: Final = tuple(f"{high}-{low}" for high in range(VALUE_COUNT) for low in range(high + 1))


@dataclass(frozen=True)
class Tile:
    """One tile in one of its two spellings.

    `onto[end]` is what that end becomes when the tile is laid to it; `halves[end]` are the half that then touches and
    the one that lies outside, as octal digits, and `opening` those of the line that the tile opens.
    """

    name: str
    bit: int
    first: int
    second: int
    is_double: bool
    onto: tuple[int, ...]
    halves: tuple[int, ...]
    opening: int


def _tile(first: int, second: int) -> Tile:
    return Tile(
        name=f"{max(first, second)}-{min(first, second)}",
        bit=1 << TILE_NAMES.index(f"{max(first, second)}-{min(first, second)}"),
        first=first,
        second=second,
        is_double=first == second,
        onto=tuple(_onto(first, second, end) for end in range(CLOSED + 1)),
        halves=tuple(((end % VALUE_COUNT) << 3) + first + second - end % VALUE_COUNT for end in range(CLOSED + 1)),
        opening=(first << 3) + second,
    )


def _onto(first: int, second: int, end: int) -> int:
    open_value = end % VALUE_COUNT
    if end == CLOSED or open_value not in (first, second):
        return MISFIT
    return DOUBLE + first if first == second else PLAIN + first + second - open_value


# Every tile by both its spellings: either half may come first.
TILES: Final[Mapping[str, Tile]] = MappingProxyType(
    {
        f"{first}-{second}": _tile(first, second)
        for first, second in chain.from_iterable(((a, b), (b, a)) for a in range(VALUE_COUNT) for b in range(a + 1))
    }
)
BITS: Final[Mapping[str, int]] = MappingProxyType({name: tile.bit for name, tile in TILES.items()})
PIPS: Final[Mapping[str, int]] = MappingProxyType({name: tile.first + tile.second for name, tile in TILES.items()})

# The tiles that can be laid to an end, as a set of bits (SR-R11).
FITTING: Final = tuple(
    sum({tile.bit for tile in TILES.values() if tile.onto[end] != MISFIT}) for end in range(CLOSED + 1)
)

# What an end adds to the sum: one number, or none where it does not count (SR-R18, SR-R20, SR-R21).
COUNTED: Final[tuple[tuple[int, ...], ...]] = (
    *((value,) for value in range(VALUE_COUNT)),
    *((2 * value,) for value in range(VALUE_COUNT)),
    *(() for _ in range(VALUE_COUNT)),
    *((2 * value,) for value in range(VALUE_COUNT)),
    (),
)

# The same for two ends at once.
COUNTED_PAIRS: Final[tuple[tuple[tuple[int, ...], ...], ...]] = tuple(
    tuple(one + other for other in COUNTED) for one in COUNTED
)
