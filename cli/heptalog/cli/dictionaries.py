"""The dictionary of tables and views, as text and as JSON."""

import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, Final

from msgspec import to_builtins

from heptalog.analytics.tables import Column
from heptalog.analytics.views import Entry, statement_of, view_of
from heptalog.cli.exits import WrongUse
from heptalog.cli.output import write_lines, write_table, write_text
from heptalog.replay.phrases import in_a_row

# What is long in the engine's names of types: the first is taken by its SQL too, the second is told by the meaning.
_SHORT_TYPES: Final = (("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ"), (r"STRUCT\(.*?\)", "STRUCT"))


def list_text(entries: Sequence[Entry]) -> None:
    """All of them, each with what a row of it is; what more there is to say stands with each."""
    for title, is_derived in (("table", False), ("view", True)):
        if is_derived:
            write_text()
        rows = [(entry.name, _first_sentence(entry.meaning)) for entry in entries if entry.is_derived is is_derived]
        write_table((title, "meaning"), rows, whole=title)


def entry_text(entry: Entry) -> None:
    """One of them, with its columns."""
    write_text(f"{entry.name}: {_kind(entry)}")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else len(entry.meaning)
    write_lines(textwrap.wrap(entry.meaning, width))
    write_text()
    rows = [(column.name, short_type(column.type), _meaning(column)) for column in entry.columns]
    write_table(("column", "type", "meaning"), rows, whole="column")


def entry_document(entry: Entry, *, sql: str | None = None) -> dict[str, Any]:
    """One of them as JSON has it; with the SQL of a view where that is asked for."""
    document = {
        "name": entry.name,
        "isDerived": entry.is_derived,
        "meaning": entry.meaning,
        "reads": entry.reads,
        "columns": [to_builtins(column) for column in entry.columns],
    }
    return document if sql is None else {**document, "sql": sql}


def sql_of(entry: Entry) -> str:
    """The SELECT that a view is, to be asked as it is. Raises WrongUse for a table, which has none."""
    view = view_of(entry.name)
    if view is None:
        raise WrongUse(f"{entry.name} is a table: its rows follow from the events, and not from SQL")
    return statement_of(view).partition(" AS\n")[2].removesuffix(";")


def short_type(name: str) -> str:
    """A type as people write it."""
    for long, short in _SHORT_TYPES:
        name = re.sub(long, short, name)
    return name


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].removesuffix(".") + "."


def _kind(entry: Entry) -> str:
    if not entry.is_derived:
        return "a table"
    return f"a view over {in_a_row(entry.reads)}"


def _meaning(column: Column) -> str:
    """What a column means, and all that it can say where the words have not named it."""
    is_told = all(value in column.meaning for value in column.values)
    return column.meaning if is_told else f"{column.meaning} One of {', '.join(column.values)}."
