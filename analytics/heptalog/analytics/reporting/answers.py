"""What a report asks, and what it is answered. Questions lie in `questions/`, one file each."""

from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, Final, TypeAlias

import pyarrow as pa
from msgspec import Struct

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
            raise NotFound(Code.TOURNAMENT_UNKNOWN, tournament=tournament)
        tell()
    return Answers(tournament, rows, min(positions), max(positions))


def question(name: str, tournament: str | None) -> str:
    """A question as it is asked: the tournament is text in it, whatever its name has in it."""
    text = (resources.files("heptalog.analytics") / "reporting" / "questions" / f"{name}.sql").read_text("utf-8")
    quoted = "CAST(NULL AS VARCHAR)" if tournament is None else "'" + tournament.replace("'", "''") + "'"
    return text.replace(_PLACE, quoted)
