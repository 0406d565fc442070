"""Where an audit reads: a database as it lies there, or what a running server gives."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from msgspec import Struct

from heptalog.replay.errors import Code
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.service.auditing.findings import Tell
from heptalog.service.auditing.games import GameAudit
from heptalog.service.store.duck_kept import KeptIncident, KeptRefusal, Shape
from heptalog.service.store.duck_schema import Difference
from heptalog.service.store.kept import KeptEnding, KeptEvent, KeptGame


class Source(Protocol):
    """All that is kept, unchecked; the methods are those of `heptalog.service.store.duck_kept.Kept`.

    One thread reads it, and reads every iterator to its end before it asks for the next.
    """

    # Whether there is anything beside the records and the list of games.
    has_columns: ClassVar[bool]

    def begin_anew(self) -> bool:
        """Whether more may be asked after a question that failed; where not, it has to be opened anew."""
        ...

    def extent(self) -> tuple[int, int]:
        """The greatest position, and how many events there are."""
        ...

    def spans(self, width: int) -> list[tuple[int, int]]:
        """The spans of so many positions in which there are events, and how many."""
        ...

    def strays(self, limit: int) -> list[tuple[Any, ...]]:
        """Position, game number and sequence of events that have no place in the log."""
        ...

    def links(self, low: int, high: int) -> Iterator[tuple[int, bytes]]:
        """The position of each event and the hash that its record carries."""
        ...

    def tree_shape(self) -> dict[int, Shape]:
        """Which entries of each level of the Merkle tree are stored."""
        ...

    def tree(self, level: int, low: int, high: int) -> Iterator[tuple[int, bytes]]:
        """Some entries of a level of the stored tree."""
        ...

    def checkpoints(self, low: int, high: int) -> Iterator[tuple[int, int, str]]:
        """Number, size and note of the checkpoints with sizes from `low` to `high` that are not void."""
        ...

    def checkpoint_shape(self) -> Shape:
        """Which numbers of checkpoints there are."""
        ...

    def refusals(self) -> Iterator[KeptRefusal]:
        """What was refused."""
        ...

    def incidents(self) -> list[KeptIncident]:
        """Each time that somebody let the log go on after a loss, in that order."""
        ...

    def differences(self) -> list[Difference]:
        """In what the tables are not declared as they should be."""
        ...

    def buckets(self, table: str) -> list[tuple[int, int]]:
        """How much a table has of the games with the numbers from each multiple of BUCKET_WIDTH on."""
        ...

    def game_count(self) -> int:
        """How many games the list has."""
        ...

    def games(self, low: int, high: int) -> list[KeptGame]:
        """The rows of these games in the list of games."""
        ...

    def endings(self, low: int, high: int) -> list[KeptEnding]:
        """The endings of these games."""
        ...

    def events(self, low: int, high: int) -> Iterator[KeptEvent]:
        """The events of these games, one game after the other, by position."""
        ...

    def without_number(self, limit: int) -> tuple[list[str], int]:
        """The games that have no number, and how many endings have none."""
        ...


@runtime_checkable
class Judging(Protocol):
    """A source that says more of a game than its records."""

    def judge(self, game: GameAudit, number: int, tell: Tell) -> None:
        """Tell of whatever it says that is not so."""
        ...


class Claim(Struct, frozen=True):
    """Somebody's word on what the log was at one size: a head record, a checkpoint given or kept, an accepted loss."""

    size: int
    root: bytes
    code: Code  # what it is called where it is not so
    path: str | None = None
    # Where it is a row of the log itself.
    table: str | None = None
    column: str | None = None
    number: int | None = None
    is_kept: bool = False  # whether the log must have it among its checkpoints

    @property
    def place(self) -> dict[str, Any]:
        """Where the word stands."""
        return {"path": self.path, "table": self.table, "column": self.column, "number": self.number}


class Given(Struct, frozen=True):
    """What an auditor brings: words on the log from elsewhere, and the keys that checkpoints must be signed by."""

    claims: tuple[Claim, ...] = ()
    keys: tuple[VerifierKey, ...] = ()


def shapes_differ(shape: Shape, count: int, first: int) -> bool:
    """Whether numbers are not what they should be: so many from the first on, each once."""
    return shape != Shape(count, count, first, first + count - 1)


def ordered(claims: Sequence[Claim]) -> list[Claim]:
    """Claims by the size that they are of."""
    return sorted(claims, key=lambda claim: claim.size)
