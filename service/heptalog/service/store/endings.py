"""What a log should hold of a game's endings, derived from its states."""

from heptalog.replay.fold import Fold, status_of
from heptalog.replay.rules import State
from heptalog.service.store import Ending, Status


def endings_of(fold: Fold, first: int = 0) -> list[Ending]:
    """Every change of a game's status by its events from the sequence `first` on, in their order."""
    endings: list[Ending] = []
    before: State | None = fold.states[first - 1] if first else None
    was_over = before is not None and before.over
    for sequence in range(first, len(fold.states)):
        state = fold.states[sequence]
        over = state.over
        # While a game goes on there is nothing to compare.
        if (over or was_over) and (ending := ending_between(before, state, sequence)):
            endings.append(ending)
        before, was_over = state, over
    return endings


def ending_between(before: State | None, after: State, sequence: int) -> Ending | None:
    """The change of status that an event made: an end, another end, or a takeback of one."""
    was = Status.RUNNING if before is None else status_of(before)
    status = status_of(after)
    if status is was and (status is Status.RUNNING or before == after):
        return None
    return Ending(sequence, status, after.scores, after.winners)
