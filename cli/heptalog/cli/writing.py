"""An answer in rows and columns to where it is wanted: stdout, a pipe, or a file."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from heptalog.cli.asking import Asker, Wishes
from heptalog.cli.exits import WrongUse
from heptalog.cli.exporting import write_whole
from heptalog.cli.forms import form_named, pieces_of, torn
from heptalog.cli.options import TableForm
from heptalog.cli.output import Counter, counting, write_bytes
from heptalog.cli.replies import Reply
from heptalog.cli.showing import first_rows, show

_BINARY: Final = (TableForm.PARQUET, TableForm.ARROW)


def form_for(form: TableForm | None, out: Path | None) -> TableForm:
    """The form that is meant. Raises WrongUse for one that cannot go there."""
    if out is None:
        form = form or TableForm.TEXT
        if form in _BINARY and sys.stdout.isatty():
            raise WrongUse(f"--format {form} is nothing for a terminal: give --out FILE, or a pipe")
        return form
    form = form or form_named(out)
    if form is None or form is TableForm.TEXT:
        raise WrongUse(f"--out {out}: give --format csv, json, jsonl, parquet or arrow, or a name that ends so")
    return form


class Written(Struct, frozen=True):
    """What was written of an answer: so many rows, and all of them unless there are more."""

    position: int
    rows: int
    has_more: bool = False


def ask(asker: Asker, sql: str, wishes: Wishes, form: TableForm, out: Path | None = None) -> Written:
    """Ask a question and write the answer. Raises HeptalogError, WrongUse, Found where the file cannot be written.

    A file is written whole or not at all. What went to stdout before a failure is no answer.
    """
    with counting("rows") as counter, asker.ask(sql, wishes) as reply:
        if form is not TableForm.TEXT:
            pieces = _counted(reply, form, counter)
            if out is None:
                _write_out(pieces, form)
            else:
                write_whole(out, pieces)
            return Written(reply.position, reply.rows_read)
        first = first_rows(reply, counter)
    show(first)
    return Written(reply.position, len(first.rows), first.has_more)


def _write_out(pieces: Iterator[bytes], form: TableForm) -> None:
    """To stdout as it comes; what is torn there shows that it is."""
    is_begun = False
    try:
        for piece in pieces:
            is_begun = True
            write_bytes(piece)
    except OSError:
        # stdout itself has failed, so there is nobody to show it to.
        raise
    except BaseException:
        if is_begun:
            write_bytes(torn(form))
        raise


def _counted(reply: Reply, form: TableForm, counter: Counter) -> Iterator[bytes]:
    told = 0
    for piece in pieces_of(reply, form):
        counter.add(reply.rows_read - told)
        told = reply.rows_read
        yield piece
