"""Tables of words, of which none is broken: where a terminal is too narrow, with fewer columns, or row by row."""

from collections.abc import Sequence
from typing import Final

from heptalog.cli.output import GAP, terminal_width, write_blocks, write_table

# A narrower column is no longer read with ease.
_READABLE: Final = 16


def write_words(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Sequence[str] = (),
    whole: str = "",
    spare: Sequence[str] = (),
) -> None:
    """A table that is broken between words only, and in its `whole` column nowhere.

    Where that does not fit it does without `spare` columns, the first ones first. Where that is not enough each row
    stands by itself, and has all of them.
    """
    room = terminal_width()
    wholes = [_width(column, [row[place] for row in rows]) for place, column in enumerate(columns)]
    leasts = [
        wholes[place]
        if column == whole
        else max(min(wholes[place], _READABLE), _width(column, [word for row in rows for word in row[place].split()]))
        for place, column in enumerate(columns)
    ]
    for left_out in range(len(spare) + 1):
        places = [place for place, column in enumerate(columns) if column not in spare[:left_out]]
        rest = 0 if room is None else room - sum(leasts[place] for place in places) - GAP * (len(places) - 1)
        if rest >= 0:
            kept = [columns[place] for place in places]
            cells = [[row[place] for place in places] for row in rows]
            most = [wholes[place] for place in places]
            widths = most if room is None else _shared([leasts[place] for place in places], most, rest)
            write_table(kept, cells, numbers=numbers, whole=whole, widths=widths)
            return
    write_blocks(columns, rows)


def _width(column: str, cells: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, (column, *cells)))


def _shared(widths: Sequence[int], most: Sequence[int], rest: int) -> list[int]:
    """Widths that take the rest too: each time the one that lacks most of what it could use."""
    given = list(widths)
    for _ in range(rest):
        lacking = [wanted - width for wanted, width in zip(most, given, strict=True)]
        if max(lacking) == 0:
            break
        given[lacking.index(max(lacking))] += 1
    return given
