"""Looking at a game as somebody sees it: after one event, or event by event.

The arbiter sees a game as it is read, up to where it goes bad. What anybody else may see hangs on all of it, for what
was taken back later is withheld (`heptalog.replay.sights`): it is read to its end first, and one that is bad somewhere
is not shown, as no copy of it is given.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from heptalog.cli.connections import Connections
from heptalog.cli.examine import Step, no_such_event, step_at, steps
from heptalog.cli.sources import Game
from heptalog.cli.viewers import viewer_named
from heptalog.replay.fold import Fold, scan
from heptalog.replay.rules import ARBITER, NOTHING_WITHHELD
from heptalog.replay.sights import Sight, Sights

_ARBITER: Final = "arbiter"


def looked_at(game: Game, connections: Connections, viewer: str, sequence: int | None) -> tuple[Fold, Sight]:
    """A game as it stood after an event, by default the last, and what a viewer may see of it.

    Raises Found where it is bad, WrongUse where there is no such event or viewer.
    """
    if viewer == _ARBITER:
        fold = step_at(game, connections, sequence).fold
        return fold, Sight(fold.rules, fold.state, ARBITER, NOTHING_WITHHELD)
    all_steps = list(steps(game, connections))
    whole = all_steps[-1].fold
    if sequence is not None and sequence > whole.sequence:
        raise no_such_event(game, sequence, whole.sequence)
    place = whole.sequence if sequence is None else sequence
    return whole.until(place), _sights(all_steps, viewer).at(place)


def looked_through(game: Game, connections: Connections, viewer: str) -> Iterator[tuple[Step, Sight]]:
    """A game event by event, and what a viewer may see after each; in what followed nothing is told that is withheld.

    Raises as `looked_at` does.
    """
    if viewer == _ARBITER:
        for step in steps(game, connections):
            yield step, Sight(step.fold.rules, step.fold.state, ARBITER, NOTHING_WITHHELD)
        return
    all_steps = list(steps(game, connections))
    sights = _sights(all_steps, viewer)
    # Folded once more, for their own fold stands at the end by now.
    for step, (fold, outcomes) in zip(all_steps, scan(step.event.body for step in all_steps), strict=True):
        sight = sights.at(step.event.sequence)
        yield Step(step.event, sight.outcomes(outcomes), fold), sight


def _sights(all_steps: Sequence[Step], viewer: str) -> Sights:
    fold = all_steps[-1].fold
    who = viewer_named(viewer, fold.started.players)
    return Sights(fold, fold.sequence, who, lambda: [step.event.body for step in all_steps])
