"""The charts of a kind of game, in the order of the page."""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from heptalog.analytics.reporting.answers import Answers
from heptalog.analytics.reporting.figures import advantages, lengths, overview, rounds, scoring, seven_up
from heptalog.analytics.reporting.figures.figure import Figure

Make: TypeAlias = Callable[[Answers, str], Figure | None]

_EVERY: Final[tuple[Make, ...]] = (
    overview.ratings,
    scoring.progress,
    scoring.distribution,
    advantages.seats,
    advantages.openers,
    seven_up.points,
    seven_up.trumps,
    rounds.endings,
    rounds.passes,
    rounds.ghosts,
    lengths.games,
    lengths.thinking,
)


def figures(answers: Answers, ruleset: str) -> Iterator[Figure]:
    """Those that there are numbers enough for."""
    for make in _EVERY:
        figure = make(answers, ruleset)
        if figure is not None:
            yield figure
