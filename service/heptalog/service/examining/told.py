"""What is told of games that were examined or compared, as both ends have it."""

from typing import Any, TypeAlias

from msgspec import Struct

from heptalog.replay.diff import FieldDifference, Parting
from heptalog.replay.fold import Standing
from heptalog.service.followed import Followed


class Progress(Struct, frozen=True):
    """How far an examination is: so many events of so many are good."""

    events: int
    of: int


class Finding(Struct, frozen=True):
    """What is wrong, in a rule and a sentence; `sequence` is where, unless it is nowhere.

    `code` is a `Code` of errors, or the text of one that is not known here yet.
    """

    code: str
    rule: str
    message: str
    sequence: int | None = None


class GameReport(Struct, frozen=True):
    """What came of examining a game: how many events are good, how it stands after them, and what is wrong."""

    events: int
    standing: Standing | None = None  # none where not even the first is
    finding: Finding | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.finding is None


# The report is the last.
Examined: TypeAlias = Progress | GameReport


class Compared(Struct, frozen=True):
    """A game as it was compared: how many of its events are good, whether it is over, and what is wrong with it.

    Of a redacted copy that is VALUE_SEALED; it is not known then whether it is over.
    """

    game_id: str
    events: int
    over: bool | None = None
    finding: Finding | None = None


class Difference(Struct, frozen=True):
    """Where two games part, if they do: the first event, the first state, and the result."""

    left: Compared
    right: Compared
    is_same: bool
    event: Parting | None = None
    state: Parting | None = None
    result: tuple[FieldDifference, ...] = ()


class Consequence(Struct, frozen=True):
    """What followed from one event, and how the game stood then."""

    followed: tuple[Followed, ...]
    standing: Standing


class OutcomeParting(Struct, frozen=True):
    """The first event from which something else follows: as it was (left), and under other options (right)."""

    sequence: int
    left: Consequence
    right: Consequence


class Alternative(Struct, frozen=True):
    """One game as it was (left) and as the same events count under other options (right).

    `illegal` is the first event that would not be allowed; after it the other options are asked no more.
    """

    game: Compared
    left_options: dict[str, Any]
    right_options: dict[str, Any]
    is_same: bool
    left: Standing
    right: Standing
    parting: OutcomeParting | None = None
    illegal: Finding | None = None
