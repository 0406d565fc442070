"""Whole games by chance from outside: for demonstrations, benchmarks and tests. Nothing is drawn in here."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from heptalog.replay.events import Body, GameStarted
from heptalog.replay.registry import rules_of
from heptalog.replay.rules import Choose

# Discards have tens of thousands of combinations, and a new game may have any number: the first are as good as any.
_MOVES_MAX: Final = 64


def play(started: GameStarted, choose: Choose, *, events_max: int = 5000) -> Iterator[Body]:
    """A legal game from its start to its end, each move one of those allowed; cut off after `events_max` events."""
    rules = rules_of(started)
    state = rules.initial(started)
    yield started
    for _ in range(events_max - 1):
        if state.over:
            return
        body = any_of(rules.legal(state), choose) if state.to_act else rules.deal(state, choose)
        state, _ = rules.apply(state, body)
        yield body


def any_of(moves: Iterator[Body], choose: Choose) -> Body:
    """One of the first of these moves, each with the same chance."""
    first = list(islice(moves, _MOVES_MAX))
    return first[choose(len(first))]
