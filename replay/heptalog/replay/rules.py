"""What a game is: a few pure functions over frozen states."""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from heptalog.replay.events import Body, GameStarted, Options
from heptalog.replay.outcomes import Outcome

# Chance from outside: `choose(n)` gives a number from 0 to n - 1. Replay itself never draws.
Choose: TypeAlias = Callable[[int], int]


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

    def table(self, state: S_contra, names: Sequence[str]) -> list[str]:
        """The table as it lies, hands included, as a few lines of text."""
        ...


class Rules(Protocol[S]):
    """One game at one version of its rules."""

    key: str
    version: int
    options: type[Options]
    bodies: tuple[type[Body], ...]  # rulings and gameStarted excepted: every game has those
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
        """The next state and what follows. Only after check; cannot refuse."""
        ...

    def legal(self, state: S) -> Iterator[Body]:
        """Every move of the seats that may act now, lazily: discards can be tens of thousands."""
        ...

    def deal(self, state: S, choose: Choose) -> Body:
        """What the table does next where no seat may act: deals, draws or runs cards, by chance from outside."""
        ...

    def view(self, state: S, viewer: Viewer) -> Struct:
        """What one viewer may see; its type has nowhere to put a secret."""
        ...


AnyRules: TypeAlias = Rules[Any]
