"""What an audit finds: each fault with its place, by a stable code, never with a value that may be hidden."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from msgspec import Struct

from heptalog.replay.errors import Code, HeptalogError, problem_of
from heptalog.replay.sentences import SENTENCES, sentence

# Where a fault is told in words of its own it is told here, and not in its sentence.
_PLACES: Final = ("position", "sequence", "at_sequence", "game_id", "table", "column", "last", "path")


class Finding(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One fault. What of its place is not known, or does not apply, is left out.

    `last` makes a range of `position`. `number` is that of a row which has neither position nor game: a refusal, a
    checkpoint, an entry of the tree.
    """

    code: Code
    message: str
    rule: str = ""
    position: int | None = None
    last: int | None = None
    game_id: str | None = None
    sequence: int | None = None
    table: str | None = None
    column: str | None = None
    number: int | None = None
    path: str | None = None


# Who is told of a finding.
Tell: TypeAlias = Callable[[Finding], None]


def found(code: Code, problem: str = "", **place: Any) -> Finding:
    """A finding of the evidence."""
    return Finding(code, f"{SENTENCES[code]}{f': {problem}' if problem else ''}", "evidence", **place)


def because(error: Exception) -> str:
    """Why something cannot be read, to be put behind the words that it cannot; nothing where they say it already."""
    problem = problem_of(error)
    return "" if problem == Code.RECORD_DAMAGED else f", {problem}"


def found_by(error: HeptalogError, **place: Any) -> Finding:
    """A finding from what a check has raised."""
    told = type(error)(error.code)
    told.facts = {name: fact for name, fact in error.facts.items() if name not in _PLACES}
    return Finding(error.code, sentence(told), error.rule, **place)
