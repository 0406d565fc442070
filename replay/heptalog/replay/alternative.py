"""One game under other options: where its outcome parts from what was recorded, and where it can go on no longer."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from heptalog.replay.errors import Refused
from heptalog.replay.events import Body, GameStarted, Options
from heptalog.replay.fold import Fold, Outcomes, Standing


class Consequence(Struct, frozen=True):
    """What followed from one event, and how the game stood then."""

    outcomes: Outcomes
    standing: Standing


class OutcomeParting(Struct, frozen=True):
    """The first event from which something else follows."""

    sequence: int
    left: Consequence
    right: Consequence


class Alternative(Struct, frozen=True):
    """A game as it was (left) and as the same events count under other options (right)."""

    left: Standing
    right: Standing
    parting: OutcomeParting | None = None
    error: Refused | None = None  # the first event that is not legal under the other options
    error_sequence: int = -1

    @property
    def is_same(self) -> bool:
        """Whether the other options change nothing that anybody sees."""
        return self.parting is None and self.error is None


def under(bodies: Sequence[Body], options: Options) -> Alternative:
    """A good game under other options. Raises Refused where its players cannot play by them at all."""
    started = bodies[0]
    assert isinstance(started, GameStarted), "a good game begins with its start"
    left = Fold(started)
    right = Fold(replace(started, rules=options))
    parting: OutcomeParting | None = None
    error: Refused | None = None
    error_sequence = -1
    for body in bodies[1:]:
        outcomes = left.advance(body)
        if error is not None:
            continue
        try:
            others = right.advance(body)
        except Refused as fault:
            error, error_sequence = fault, left.sequence
            continue
        if parting is None and (outcomes != others or left.standing() != right.standing()):
            parting = OutcomeParting(
                left.sequence, Consequence(outcomes, left.standing()), Consequence(others, right.standing())
            )
    return Alternative(left.standing(), right.standing(), parting, error, error_sequence)
