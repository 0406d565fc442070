"""The oracles of the views, by name: each gives all rows of its view, in any order, computed from folds."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from tests.analytics.histories import History

Row: TypeAlias = dict[str, Any]
Oracle: TypeAlias = Callable[[Sequence[History]], Iterable[Row]]

ORACLES: Final[dict[str, Oracle]] = {}


def oracle(answer: Oracle) -> Oracle:
    """Let this be what the view of its name must say."""
    ORACLES[answer.__name__] = answer
    return answer
