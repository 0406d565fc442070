"""An answer for people: its first rows as a table, or row by row where a terminal is too narrow for one."""

import shutil
import sys
from collections.abc import Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from heptalog.cli.exits import complain
from heptalog.cli.output import GAP, Counter, write_blocks, write_table
from heptalog.cli.render import ROWS_MAX, cells
from heptalog.cli.replies import Reply
from heptalog.replay.words import printable

# A cell that is longer is cut: nobody reads a table with more in it.
_CELL_MAX: Final = 2000
# A column of a table is at least so wide where its values are; below that it is better read row by row.
_READABLE: Final = 16


class FirstRows(Struct, frozen=True):
    """As many rows of an answer as are shown, as text; cells that were too long are cut."""

    columns: tuple[str, ...]
    numbers: tuple[str, ...]
    rows: list[list[str]]
    has_more: bool
    is_cut: bool


def first_rows(reply: Reply, counter: Counter) -> FirstRows:
    """Read what is shown of an answer."""
    source = reply.rows()
    rows: list[list[str]] = []
    for row in islice(source, ROWS_MAX):
        rows.append(cells(row))
        counter.add()
    return FirstRows(
        columns=tuple(map(printable, reply.columns)),
        numbers=tuple(map(printable, reply.numbers)),
        rows=rows,
        has_more=next(source, None) is not None,
        is_cut=_cut(rows),
    )


def show(first: FirstRows) -> None:
    """Write rows to stdout, and say on stderr what is left out."""
    if sys.stdout.isatty() and not _has_room(first.columns, first.rows):
        write_blocks(first.columns, first.rows)
    else:
        write_table(first.columns, first.rows, numbers=first.numbers)
    if first.has_more:
        complain(f"these are the first {ROWS_MAX:,} rows; the other formats give all")
    if first.is_cut:
        complain(f"what is longer than {_CELL_MAX:,} characters is cut; the other formats give all")


def _cut(rows: list[list[str]]) -> bool:
    """Cut what is too long; whether anything was."""
    is_cut = False
    for row in rows:
        for place, cell in enumerate(row):
            if len(cell) > _CELL_MAX:
                row[place] = f"{cell[:_CELL_MAX]}…"
                is_cut = True
    return is_cut


def _has_room(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table fits the terminal, its wide columns folded but not beyond reading."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, (column, *(row[place] for row in rows)))) for place, column in enumerate(columns)]
    least = sum(min(width, _READABLE) for width in widths) + GAP * (len(widths) - 1)
    return least <= shutil.get_terminal_size().columns
