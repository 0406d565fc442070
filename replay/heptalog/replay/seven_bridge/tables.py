"""The rule book's tables: the deck and its bits, the places of the layout, deal sizes, options and penalties.

Every natural card has one place in the layout, and both have the same bit: suit after suit, ace to king within it. So
the neighbour below is one bit to the right and the neighbour above one to the left, and a layout, a hand and the border
are each one integer. The jokers follow with bits that are no place.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from heptalog.replay.cards import JOKERS, RANKS, SUITS, bits_of, mask_of
from heptalog.replay.seven_bridge.events import Scoring

# Cards and places.

NATURALS: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)  # SB-R3: ace low
DECK: Final = (*NATURALS, *JOKERS)  # SB-R25
BITS: Final[Mapping[str, int]] = MappingProxyType(bits_of(DECK))

ALL_PLACES: Final = (1 << len(NATURALS)) - 1
JOKER_BITS: Final = mask_of(JOKERS, BITS)
SEVENS: Final = mask_of(("7" + suit for suit in SUITS), BITS)
ENDS: Final = mask_of((rank + suit for rank in "AK" for suit in SUITS), BITS)
COLUMN_MARKS: Final = SEVENS | ENDS  # what opens a column and what can complete it
COLUMNS: Final[Mapping[str, int]] = MappingProxyType(
    {suit: mask_of((rank + suit for rank in RANKS), BITS) for suit in SUITS}
)


def _opened_by(rank: str, bit: int) -> int:
    """The places that become border places when this one is filled."""
    above = 0 if rank == "K" else bit << 1
    below = 0 if rank == "A" else bit >> 1
    if rank == "7":
        return above | below
    return above if RANKS.index(rank) > RANKS.index("7") else below


# SB-R10: what filling a place adds to the border. There are no links between ace and king (SB-D25).
OPENS: Final[Mapping[int, int]] = MappingProxyType({BITS[card]: _opened_by(card[0], BITS[card]) for card in NATURALS})

# Seats.

PLAYERS_LOW: Final = 3  # SB-R1
PLAYERS_HIGH: Final = 7  # SB-R1


def _seat_after(seat: int, seats: int) -> int:
    around = ((seat + step) % PLAYERS_HIGH for step in range(1, PLAYERS_HIGH + 1))
    return next((after for after in around if seats >> after & 1), -1)


# SB-R8: NEXT_SEAT[seats][seat] is the first of these seats (a mask) clockwise after that one; itself only where it is
# alone, -1 where there is none.
NEXT_SEAT: Final = tuple(
    tuple(_seat_after(seat, seats) for seat in range(PLAYERS_HIGH)) for seats in range(1 << PLAYERS_HIGH)
)

# The seats of a mask, ascending.
SEATS_IN: Final = tuple(
    tuple(seat for seat in range(PLAYERS_HIGH) if seats >> seat & 1) for seats in range(1 << PLAYERS_HIGH)
)

# Options: the game file's names, ranges and defaults.

RANGES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        "passTokens": (0, 52),  # SB-R6, SB-R22
        "jokerPenalty": (0, 100),  # SB-D20f
        "kingsRace": (0, 100),  # SB-R26
        "rounds": (1, 1_000),  # SB-R19
        "limit": (0, 100_000),  # SB-R20
    }
)
OPENING_SEVENS: Final = ("7D", "7H")  # SB-R7, SB-R24
JOKER_COUNTS: Final = (0, 2)  # SB-R25

PASS_TOKENS_DEFAULT: Final = 3  # SB-R6
OPENING_SEVEN_DEFAULT: Final = "7D"  # SB-R7
GHOSTS_DEFAULT: Final = True  # SB-R13
JOKER_PENALTY_DEFAULT: Final = 14  # SB-D20f
SCORING_DEFAULT: Final = Scoring.VALUES  # SB-R17
ROUNDS_DEFAULT: Final = 5  # SB-D16

# Penalties.

# SB-R17: an ace costs 1, a king 13; the cards that cost so much, as a mask.
CARDS_BY_VALUE: Final = tuple(
    (value, mask_of((rank + suit for suit in SUITS), BITS)) for value, rank in enumerate(RANKS, 1)
)
# The same in binary: what a card costs is the sum of the powers of two under which it stands, so four counts do.
CARDS_BY_POWER: Final = tuple(
    (power, sum([cards for value, cards in CARDS_BY_VALUE if value & power])) for power in (1, 2, 4, 8)
)
COUNT_PENALTY: Final = 1  # SB-R18


def hand_sizes(card_count: int, player_count: int) -> tuple[int, ...]:
    """How many cards each player gets, from the dealer clockwise (SB-R5, SB-D1, SB-D20a)."""
    least, extra = divmod(card_count, player_count)
    return (least + 1,) * extra + (least,) * (player_count - extra)
