"""What a game is: a few pure functions over frozen states."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from heptalog.replay.events import Body, GameStarted, Options
from heptalog.replay.outcomes import Outcome

# Chance from outside: `choose(n)` gives a number from 0 to n - 1. Replay itself never draws.
Choose: TypeAlias = Callable[[int], int]
# What an older event means now: from the state before it and its body to the bodies that are folded instead, in order.
Upcast: TypeAlias = Callable[[Any, Any], tuple[Body, ...]]
Upcasts: TypeAlias = Mapping[type[Body], Upcast]
NO_UPCASTS: Final[Upcasts] = MappingProxyType({})
# One kind of event: from the state before it and its body to the state after it and what follows, unless it is refused.
Step: TypeAlias = Callable[[Any, Any], tuple[Any, tuple[Outcome, ...]]]
Steps: TypeAlias = Mapping[type[Body], Step]


class State(Protocol):
    """What every game's state can answer; each has much more of its own."""

    @property
    def scores(self) -> tuple[int, ...]:
        """One number a side: a pair where pairs play, a seat otherwise. Side `s` has the seats `s`, `s + sides` …"""
        ...

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that may act now, ascending; empty where the table must deal or draw, and after the end."""
        ...

    @property
    def round(self) -> int:
        """0 before the first deal, then the number of deals so far."""
        ...

    @property
    def over(self) -> bool:
        """Whether the match is won."""
        ...

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that won, ascending; empty before the end."""
        ...


class Role(StrEnum):
    """How much a viewer may see. A role that is added sees nothing until a game shows it something."""

    PUBLIC = "PUBLIC"
    SEAT = "SEAT"
    ARBITER = "ARBITER"


class Viewer(Struct, frozen=True):
    """Who looks: `Viewer(2)` is the player in seat 2."""

    seat: int = -1
    role: Role = Role.SEAT


PUBLIC: Final = Viewer(role=Role.PUBLIC)
ARBITER: Final = Viewer(role=Role.ARBITER)

# Seats of which a viewer is told nothing hidden, though the rules show it at that moment (`heptalog.replay.sights`).
Withheld: TypeAlias = frozenset[int]
NOTHING_WITHHELD: Final[Withheld] = frozenset()

S = TypeVar("S", bound=Struct)
S_contra = TypeVar("S_contra", bound=Struct, contravariant=True)


class Words(Protocol[S_contra]):
    """How a game is told to people: pure functions to plain text; `names` are the players' by seat."""

    def event(self, body: Body, names: Sequence[str]) -> str:
        """One readable line for what happened."""
        ...

    def outcome(self, outcome: Outcome, names: Sequence[str]) -> str:
        """One readable phrase for what followed from it."""
        ...

    def table(
        self,
        state: S_contra,
        names: Sequence[str],
        viewer: Viewer = ARBITER,
        withheld: Withheld = NOTHING_WITHHELD,
        *,
        is_closed: bool = False,
    ) -> list[str]:
        """The table as a few lines of text, with every hand that `view` shows and the numbers of cards in the others.

        Where the arbiter has closed the game, nobody is on turn.
        """
        ...


class Rules(Protocol[S]):
    """One game at one version of its rules."""

    key: str
    version: int
    options: type[Options]
    is_lowest_best: bool  # whether points are penalties, so that the lowest score is the best
    bodies: tuple[type[Body], ...]  # rulings and gameStarted excepted: every game has those
    steps: Steps  # `apply` by kind of body, for who asks it for every event of a log
    upcasts: Upcasts  # older kinds, folded as others; one that is not among the bodies is read and recorded no more
    outcomes: tuple[type[Outcome], ...]
    state: type[S]
    words: Words[S]

    def initial(self, started: GameStarted) -> S:
        """The state after `gameStarted`. Raises Refused where the players or an option are out of range."""
        ...

    def check(self, state: S, body: Body) -> None:
        """Raise Refused unless this may happen now. Changes nothing."""
        ...

    def apply(self, state: S, body: Body) -> tuple[S, tuple[Outcome, ...]]:
        """The next state and what follows. Raises Refused, as check does and nothing else, and changes nothing."""
        ...

    def legal(self, state: S) -> Iterator[Body]:
        """Every move of the seats that may act now, lazily: discards can be tens of thousands."""
        ...

    def deal(self, state: S, choose: Choose) -> Body:
        """What the table does next where no seat may act: deals, draws or runs cards, by chance from outside."""
        ...

    def view(self, state: S, viewer: Viewer, withheld: Withheld = NOTHING_WITHHELD) -> Struct:
        """What one viewer may see; its type has nowhere to put a secret.

        Of the seats that are withheld nobody but the arbiter is told what they hold, not even they themselves.
        """
        ...

    def owners(self, state: S, body: Body) -> tuple[int, ...]:
        """Whose each hidden part of `body` is, by seat and in the order of the parts; `state` is the one before it.

        A part that nobody is named for stays hidden from everybody but the arbiter.
        """
        ...

    def has_seen(self, viewer: Viewer, owner: int, *, before: S, after: S) -> bool:
        """Whether a viewer has seen all that a seat was given in this round so far; its last event is between the two.

        It must follow from what `view` has shown: an answer that hangs on a hidden card would tell of it.
        """
        ...


AnyRules: TypeAlias = Rules[Any]
