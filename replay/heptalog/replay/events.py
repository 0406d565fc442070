"""Events as structs that rules fold: what every game has, and what games of cards share.

An event is a past-tense fact in the players' words. Field names, meanings and numbers are those of the protobuf
messages in `proto/heptalog/v1`; a test holds the two together. What only one game has stands in that game's folder.
A field without a default must be given; `UNSET` is an absent field whose zero would mean something else.
"""

import re
from typing import Annotated, ClassVar, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = ["UNSET", "UnsetType"]

# Numbers as the protobuf fields hold them; the reader of game files refuses any other.
Uint32: TypeAlias = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Int32: TypeAlias = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]


class Part(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A piece of an event; gives all of them one form: immutable, strict, camelCase in JSON."""


class Body(Part, frozen=True, gc=False):
    """What happened: the one body of an event.

    `sealed` names the fields whose values are hidden at the table; `("",)` says that the body itself is hidden.
    `spare` names the fields without which it says all the same what happened: who records by hand may leave them out.
    """

    sealed: ClassVar[tuple[str, ...]] = ()
    spare: ClassVar[tuple[str, ...]] = ()


class Seal(Part, frozen=True, gc=False):
    """A commitment to a hidden value. Without `salt` it is a redacted copy's."""

    salt: bytes = b""
    commitment: bytes = b""
    count: Uint32 = 0


class CardHand(Part, frozen=True, gc=False):
    """Cards that only their owner may see, in the order recorded."""

    value_field: ClassVar[str] = "cards"
    cards: tuple[str, ...] = ()
    seal: Seal | UnsetType = UNSET


class Player(Part, frozen=True, gc=False):
    """One person at the table."""

    id: str
    name: str = ""


class Tag(Part, frozen=True, gc=False):
    """A free label of a game."""

    name: str = ""
    value: str = ""


class Options(Part, frozen=True, gc=False):
    """The options of one game; each game has its own subclass, named as in the game file."""


class GameStarted(Body, frozen=True, gc=False):
    """A game opens: always sequence 0. In the record the rules stand under the name of their game."""

    players: tuple[Player, ...]
    rules: Options
    rules_version: Uint32 | UnsetType = UNSET
    tournament: str = ""
    table: str = ""
    tags: tuple[Tag, ...] = ()


class Draw(Part, frozen=True, gc=False):
    """What one seat drew."""

    seat: Uint32 = 0
    value: Int32 = 0


class Lot(Part, frozen=True, gc=False):
    """One round of a neutral draw (C-4)."""

    draws: tuple[Draw, ...] = ()


class DealerDrawn(Body, frozen=True, gc=False):
    """The neutral draw for the first dealer (SU-R3, SB-R2)."""

    spare: ClassVar[tuple[str, ...]] = ("lots",)
    seat: Uint32 = 0
    lots: tuple[Lot, ...] = ()


class OpenerDrawn(Body, frozen=True, gc=False):
    """The neutral draw for who opens a round (SR-R5, SR-R7)."""

    spare: ClassVar[tuple[str, ...]] = ("lots",)
    seat: Uint32 = 0
    lots: tuple[Lot, ...] = ()


class TurnPassed(Body, frozen=True, gc=False):
    """A pass or a knock (SR-R13, SB-R12)."""

    seat: Uint32 = 0


class MovesRetracted(Body, frozen=True, gc=False):
    """The arbiter takes back: the state becomes exactly what it was after `to_sequence`."""

    spare: ClassVar[tuple[str, ...]] = ("reason",)
    to_sequence: Uint32 = 0
    reason: str = ""


class GameClosed(Body, frozen=True, gc=False):
    """The arbiter ends the game; scores stay. `winners` are seats, ascending."""

    spare: ClassVar[tuple[str, ...]] = ("reason",)
    reason: str = ""
    winners: tuple[Uint32, ...] = ()


class NoteAdded(Body, frozen=True, gc=False):
    """A remark; it changes nothing."""

    text: str = ""


class CardsDealt(Body, frozen=True, gc=False):
    """Every seat gets its cards; in Seven Up one more is turned (SU-R5, SB-R5)."""

    sealed: ClassVar[tuple[str, ...]] = ("hands",)
    spare: ClassVar[tuple[str, ...]] = ("turned",)
    hands: tuple[CardHand, ...] = ()
    turned: str = ""


class CardPlayed(Body, frozen=True, gc=False):
    """A card is laid on the table. `stands_for` goes with a joker, and only then (SB-D20b)."""

    spare: ClassVar[tuple[str, ...]] = ("stands_for",)
    seat: Uint32 = 0
    card: str = ""
    stands_for: str = ""


# Every game has these; those of one kind of play are listed by the games that use them.
RULINGS: tuple[type[Body], ...] = (MovesRetracted, GameClosed, NoteAdded)


class Event(Struct, frozen=True, gc=False):
    """One line of the record: a body in its envelope. Times are nanoseconds since 1970 UTC; 0 is absent."""

    sequence: int
    body: Body
    game_id: str = ""
    event_id: str = ""
    occurred_at: int = 0
    recorded_at: int = 0
    recorded_by: str = ""
    previous_hash: bytes = b""
    hash: bytes = b""


def snake_name(part: type[Struct]) -> str:
    """The protobuf field that carries this: `CardPlayed` is `card_played`."""
    return snake_case(part.__name__)


def snake_case(name: str) -> str:
    """`CardPlayed` as `card_played`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def camel_name(part: type[Struct]) -> str:
    """The JSON name that carries this: `CardPlayed` is `cardPlayed`."""
    return part.__name__[0].lower() + part.__name__[1:]


def camel_case(name: str) -> str:
    """`recorded_at` as `recordedAt`."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
