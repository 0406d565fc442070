"""Writing to stdout: lines, JSON and tables. What is said beside the result goes to stderr."""

import json
import select
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Literal, Self

import msgspec

from heptalog.cli.options import Format

_encoder: Final = msgspec.json.Encoder()
# Wider than any line: what reads a pipe wants each row on one line.
_WIDTH_OF_A_PIPE: Final = 10_000
# What a column of a table has at least, and what stands between two.
_WIDTH_MIN: Final = 4
GAP: Final = 2

# Whether a count is shown on the terminal that the result goes to; then each is written around the other.
_is_shared = False

_QUOTE: Final = '"'
_CSV_SPECIAL: Final = frozenset(',"\r\n')


def write_text(line: str = "") -> None:
    """One line of text."""
    sys.stdout.write(line + "\n")


def write_lines(lines: Iterable[str]) -> None:
    """Lines of text."""
    for line in lines:
        write_text(line)


def write_bytes(data: bytes) -> None:
    """Bytes as they are: JSON is UTF-8 whatever the terminal speaks."""
    if _is_shared:
        sys.stdout.write(data.decode())
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def flushed() -> None:
    """Have who reads see now what was written."""
    sys.stdout.flush()


def check_heard() -> None:
    """Raise BrokenPipeError where nobody reads stdout any more, though nothing is written to it now."""
    watch = select.poll()
    try:
        watch.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):
        return  # it is no file of the system
    if any(event & select.POLLERR for _, event in watch.poll(0)):
        raise BrokenPipeError


def write_json(value: Any) -> None:
    """A whole document, for eyes too."""
    write_bytes(msgspec.json.format(_encoder.encode(value), indent=2) + b"\n")


def write_document(document: Any, format_: Format) -> None:
    """One document as it is asked for: for eyes too, or as one line."""
    if format_ is Format.JSON:
        write_json(document)
    else:
        with Objects(is_list=False) as out:
            out.write(document)


class Objects:
    """Objects on their way out, as a JSON list or one a line; what was begun is ended, whatever happens."""

    def __init__(self, *, is_list: bool, is_silent: bool = False) -> None:
        """`is_silent` is for who writes text instead."""
        self._is_list = is_list and not is_silent
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def write(self, value: Any) -> None:
        """The next object."""
        line = _encoder.encode(value)
        if self._is_list:
            line = (b"[\n" if not self._count else b",\n") + line
        write_bytes(line if self._is_list else line + b"\n")
        self._count += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._is_list and not isinstance(error, OSError):
            write_bytes(b"\n]\n" if self._count else b"[]\n")


def write_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Sequence[str] = (),
    whole: str = "",
    widths: Sequence[int] | None = None,
) -> None:
    """A table of text; the columns named in `numbers` are set to the right, and `whole` is broken nowhere.

    `widths` are those of its columns; without them they follow from the room that there is.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    is_terminal = sys.stdout.isatty()
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, no_color=not is_terminal)
    if not is_terminal:
        console.width = _WIDTH_OF_A_PIPE
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    fixed = widths
    if widths is None:
        widths = [max(map(cell_len, (column, *(row[place] for row in rows)))) for place, column in enumerate(columns)]
        widths = [
            width if column == whole else min(width, _WIDTH_MIN) for column, width in zip(columns, widths, strict=True)
        ]
    for column, width in zip(columns, widths, strict=True):
        justify: Literal["left", "right"] = "right" if column in numbers else "left"
        table.add_column(
            column,
            justify=justify,
            overflow="fold",
            min_width=width,
            max_width=None if fixed is None else width,
            no_wrap=column == whole,
        )
    # What is wider than the terminal is for the terminal to break: it is still copied as one piece.
    console.width = max(console.width, sum(widths) + GAP * len(columns))
    for row in rows:
        table.add_row(*map(Text, row))
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        write_text(line.rstrip())


def write_blocks(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Each row by itself, a line a column; what is wider than the terminal is for the terminal to break."""
    from rich.cells import cell_len, set_cell_size

    width = max(map(cell_len, columns))
    if not rows:
        write_text(f"no row of {', '.join(columns)}")
    for number, row in enumerate(rows, start=1):
        if number > 1:
            write_text()
        write_text(f"row {number:,}")
        for column, cell in zip(columns, row, strict=True):
            write_text(f"  {set_cell_size(column, width)}  {cell}".rstrip())


def terminal_width() -> int | None:
    """How many characters a line of the result has room for; None where it goes to no terminal: then for all."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


@contextmanager
def counting(title: str, *, total: int | None = None, begun: int = 0) -> Iterator["Counter"]:
    """A count that grows on stderr, where that is a terminal; of a total it is a bar, with the time that is left.

    What is written meanwhile is written as it is: the terminal breaks it, and a result that goes elsewhere goes there.
    """
    global _is_shared
    if not sys.stderr.isatty():
        yield Counter()
        return
    from rich import progress as bars
    from rich.console import Console

    name, time = bars.TextColumn("{task.description}"), bars.TimeElapsedColumn()
    columns: tuple[bars.ProgressColumn, ...]
    if total is None:
        columns = (bars.SpinnerColumn(), name, bars.TextColumn("{task.completed:,}"), time)
    else:
        counts = bars.TextColumn("{task.completed:,} of {task.total:,}")
        columns = (name, bars.BarColumn(), counts, time, bars.TextColumn("left"), bars.TimeRemainingColumn())
    is_shared = sys.stdout.isatty()
    console = Console(stderr=True, soft_wrap=True, markup=False, emoji=False, highlight=False)
    with bars.Progress(*columns, console=console, transient=True, redirect_stdout=is_shared) as progress:
        task = progress.add_task(title, total=total, completed=begun)
        _is_shared = is_shared
        try:
            yield _ShownCounter(progress, task)
        finally:
            _is_shared = False


class Counter:
    """Counts, and shows nothing."""

    def add(self, count: int = 1) -> None:
        """So many more."""

    def name(self, title: str) -> None:
        """What is counted, from now on."""


class _ShownCounter(Counter):
    def __init__(self, progress: Any, task: Any) -> None:
        self._progress = progress
        self._task = task

    def add(self, count: int = 1) -> None:
        self._progress.advance(self._task, count)

    def name(self, title: str) -> None:
        self._progress.update(self._task, description=title)


def plain(value: Any) -> str:
    """A value of JSON as a person reads it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return " ".join(map(plain, value)) or "-"
    return "-" if value is None else json.dumps(value, ensure_ascii=False)


def csv_line(row: Sequence[str | None]) -> str:
    """A row for other programs, quoted as in RFC 4180 with nothing changed; None is empty, and "" is in quotes."""
    # A line with nothing on it would be no row to who reads it.
    return '""' if row == [None] else ",".join(map(_csv_cell, row))


def _csv_cell(text: str | None) -> str:
    # Not by the module csv: it leaves a single carriage return unquoted.
    if text is None:
        return ""
    return f'"{text.replace(_QUOTE, _QUOTE * 2)}"' if not text or _CSV_SPECIAL.intersection(text) else text
