"""SQL as it lies in files, with what it takes from the registry of games written in.

A view and a comment cannot be bound a value, so such a file says `:rulesets` for all games that there are,
`:lowest_is_best` for those whose points are penalties, as literals, and `:penalties` for the words that tell of it.
"""

from functools import cache
from importlib import resources
from typing import Final

from heptalog.replay.phrases import in_a_row
from heptalog.replay.registry import LOWEST_IS_BEST, NEWEST
from heptalog.replay.words import title_of

RULESETS: Final = ", ".join(NEWEST)


def quoted(text: str) -> str:
    """A text as a literal, whatever is in it."""
    return "'" + text.replace("'", "''") + "'"


_WRITTEN_IN: Final = (
    (":rulesets", RULESETS),
    (":lowest_is_best", ", ".join(map(quoted, LOWEST_IS_BEST))),
    (":penalties", f"penalties in {in_a_row([title_of(ruleset) for ruleset in LOWEST_IS_BEST])}"),
)


@cache
def statements(folder: str, name: str) -> str:
    """What a file of a folder says: `tables`, `views`."""
    text = (resources.files("heptalog.analytics") / folder / f"{name}.sql").read_text("utf-8")
    for place, words in _WRITTEN_IN:
        text = text.replace(place, words)
    return text
