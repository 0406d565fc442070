"""Whole games by chance from outside: for demonstrations, benchmarks and tests. Nothing is drawn in here."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from heptalog.replay.events import Body, GameStarted
from heptalog.replay.registry import rules_of
from heptalog.replay.rules import Choose

# Discards have tens of thousands of combinations; the first of them are as good as any.
_MOVES_MAX: Final = 64


def play(started: GameStarted, choose: Choose, *, events_max: int = 5000) -> Iterator[Body]:
    """A legal game from its start to its end, each move one of those allowed; cut off after `events_max` events."""
    rules = rules_of(started)
    state = rules.initial(started)
    yield started
    for _ in range(events_max - 1):
        if state.over:
            return
        if state.to_act:
            moves = list(islice(rules.legal(state), _MOVES_MAX))
            body = moves[choose(len(moves))]
        else:
            body = rules.deal(state, choose)
        state, _ = rules.apply(state, body)
        yield body
