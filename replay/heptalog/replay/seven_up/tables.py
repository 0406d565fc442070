"""The rule book's tables of Seven Up, each with its rule number.

A card is one bit and a suit is the set of its thirteen; within a suit the bits ascend from two to ace (SU-D1), so that
the highest trump of a set is its highest bit and the lowest trump its lowest.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from heptalog.replay.cards import SUITS, bits_of, mask_of

PLAYERS_LOW: Final = 2  # SU-R1
PLAYERS_HIGH: Final = 4  # SU-R1
PAIRS: Final = 2  # SU-R1: four play in pairs, seats 0 and 2 against seats 1 and 3 (SU-D2)

TARGET_DEFAULT: Final = 7  # SU-R2
RANGES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType({"target": (1, 1_000)})  # game-file

PACKET_SIZE: Final = 3  # SU-D4, SU-R10: cards come three at a time
HAND_SIZE: Final = 6  # SU-R5, SU-R13
RUN_SIZE: Final = 2 * PACKET_SIZE + 1  # SU-R10: three to elder hand, three to the dealer, one turned
TRICK_COUNT: Final = 6  # SU-R14

RANKS_ASCENDING: Final = "23456789TJQKA"  # SU-D1
DECK: Final[tuple[str, ...]] = tuple(rank + suit for suit in SUITS for rank in RANKS_ASCENDING)  # SU-D1
BITS: Final[Mapping[str, int]] = MappingProxyType(bits_of(DECK))
NAME_OF: Final[Mapping[int, str]] = MappingProxyType({bit: name for name, bit in BITS.items()})
WHOLE_DECK: Final = (1 << len(DECK)) - 1

# A suit is written as the set of its cards; here are its letter and, for every card, its suit.
SUIT_LETTER: Final[Mapping[int, str]] = MappingProxyType(
    {mask_of((name for name in DECK if name[1] == suit), BITS): suit for suit in SUITS}
)
SUIT_OF: Final[Mapping[int, int]] = MappingProxyType(
    {bit: suit for bit in NAME_OF for suit in SUIT_LETTER if bit & suit}
)
JACKS: Final = mask_of((name for name in DECK if name[0] == "J"), BITS)  # SU-R6, SU-R23

# SU-R25: what captured cards count for Game. Tens count nothing.
PIPS: Final[Mapping[str, int]] = MappingProxyType({"A": 4, "K": 3, "Q": 2, "J": 1})
PIPS_OF_RANK: Final[tuple[tuple[int, int], ...]] = tuple(
    (pips, mask_of((name for name in DECK if name[0] == rank), BITS)) for rank, pips in PIPS.items()
)
