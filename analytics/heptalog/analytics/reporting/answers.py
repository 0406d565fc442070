"""What a report asks, and what it is answered. Questions lie in `questions/`, one file each."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

import pyarrow as pa
from msgspec import Struct

from heptalog.analytics.sql import quoted, statements
from heptalog.replay.errors import Code, NotFound

# One question in SQL to a position and the answer, whole. Raises HeptalogError.
Ask: TypeAlias = Callable[[str], tuple[int, pa.Table]]
Row: TypeAlias = Mapping[str, Any]

QUESTIONS: Final = (
    "totals",
    "coverage",
    "months",
    "standings",
    "ratings",
    "progress",
    "scores",
    "seats",
    "openers",
    "endings",
    "lengths",
    "thinking",
    "passes",
    "ghosts",
    "points",
    "trumps",
)
# Where a question wants the tournament, or NULL for all there is.
_PLACE: Final = ":tournament"
# So many names are told where one is wrong.
_NEAREST_MAX: Final = 3


class Answers(Struct, frozen=True):
    """All answers, by question. The log may go on while they are given: then the positions differ."""

    tournament: str | None
    rows: dict[str, list[Row]]
    first_position: int
    last_position: int

    @property
    def rulesets(self) -> tuple[str, ...]:
        """The kinds of game that there are any of."""
        return tuple(row["ruleset"] for row in self.rows["coverage"])

    def of(self, question: str, ruleset: str) -> list[Row]:
        """The rows of one answer that are about one kind of game, in order."""
        return [row for row in self.rows[question] if row["ruleset"] == ruleset]


def gather(ask: Ask, tournament: str | None, *, tell: Callable[[], None]) -> Answers:
    """Ask everything. Raises NotFound (TOURNAMENT_UNKNOWN) where there is no game of that tournament."""
    rows: dict[str, list[Row]] = {}
    positions: list[int] = []
    for name in QUESTIONS:
        position, table = ask(question(name, tournament))
        positions.append(position)
        rows[name] = list(table.to_pylist())
        if name == "totals" and tournament is not None and not rows[name][0]["games"]:
            raise NotFound(Code.TOURNAMENT_UNKNOWN, tournament=tournament, nearest=_nearest(ask, tournament))
        tell()
    return Answers(tournament, rows, min(positions), max(positions))


def has_tournament(ask: Ask, name: str) -> bool:
    """Whether there is a game of a tournament of this name. Raises what `ask` raises."""
    _, table = ask(question("totals", name))
    return bool(table.to_pylist()[0]["games"])


def _nearest(ask: Ask, tournament: str) -> str:
    """The names that are most like one that is none, with commas between them."""
    _, table = ask(question("tournaments", None))
    names = {str(name).casefold(): str(name) for name in table.column("tournament").to_pylist()}
    wanted = tournament.casefold()
    near = get_close_matches(wanted, names, n=_NEAREST_MAX)
    # Part of a name is not near to all of it by its letters, and still meant.
    near += [name for name in names if wanted and wanted in name and name not in near]
    return ", ".join(names[name] for name in near[:_NEAREST_MAX])


def question(name: str, tournament: str | None) -> str:
    """A question as it is asked: the tournament is text in it, whatever its name has in it."""
    text = statements("reporting/questions", name)
    return text.replace(_PLACE, "CAST(NULL AS VARCHAR)" if tournament is None else quoted(tournament))
