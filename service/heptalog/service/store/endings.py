"""What a log should hold of a game's endings, derived from its states."""

from collections.abc import Iterator

from heptalog.replay.fold import Fold, status_of
from heptalog.replay.rules import State
from heptalog.service.store import Ending, Status


def endings_of(fold: Fold) -> Iterator[Ending]:
    """Every change of a game's status, in sequence."""
    before: State | None = None
    was_over = False
    for sequence, state in enumerate(fold.states):
        over = state.over
        # While a game goes on there is nothing to compare.
        if (over or was_over) and (ending := ending_between(before, state, sequence)):
            yield ending
        before, was_over = state, over


def ending_between(before: State | None, after: State, sequence: int) -> Ending | None:
    """The change of status that an event made: an end, another end, or a takeback of one."""
    was = Status.RUNNING if before is None else status_of(before)
    status = status_of(after)
    if status is was and (status is Status.RUNNING or before == after):
        return None
    return Ending(sequence, status, after.scores, after.winners)
