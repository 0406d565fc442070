"""`heptalog sql`: questions to the whole history."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit
from heptalog.cli.guard import guarded
from heptalog.cli.options import SECONDS_MAX, HistoryArgument, TableForm, named_path

QuestionArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="SQL",
        help="One SELECT, in the SQL of DuckDB; - reads it from stdin. Without it: a prompt on a terminal, else stdin.",
        show_default=False,
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option("--file", metavar="FILE", help="Read the SELECT from a file.", readable=False, show_default=False),
]
TableFormOption = Annotated[
    TableForm | None,
    typer.Option(
        "--format",
        "-f",
        metavar="|".join(TableForm),
        case_sensitive=False,
        help="text, the default, is for people and has the first 1,000 rows; the others have all.",
        show_default=False,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        parser=named_path,
        metavar="FILE",
        help="Into a file, whole or not at all; its ending says the form. - is stdout.",
        show_default=False,
    ),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        min=0.001,
        max=SECONDS_MAX,
        metavar="SECONDS",
        help="Give up after this long. Default: what the server allows; an hour on files.",
        show_default=False,
    ),
]
RowsOption = Annotated[
    int | None,
    typer.Option(
        "--rows",
        min=0,
        metavar="N",
        help="Fail where the answer has more rows. Default: what the server allows; no limit on files.",
        show_default=False,
    ),
]
MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Files only: fail where it takes more than, say, 2GiB. Default: half of what the machine has.",
        show_default=False,
    ),
]


@guarded
def sql(
    source: HistoryArgument,
    question: QuestionArgument = None,
    file: FileOption = None,
    format_: TableFormOption = None,
    out: OutOption = None,
    timeout: TimeoutOption = None,
    rows: RowsOption = None,
    memory: MemoryOption = None,
) -> Exit:
    """Ask the whole history in SQL.

    `heptalog views` lists the tables and views. Hidden hands are in none of them, nothing can be changed, and no other
    file can be read. An answer that fails on its way ends with an error, and is never written to a file.
    """
    from heptalog.cli.asking import Wishes, opened
    from heptalog.cli.questions import question_of
    from heptalog.cli.sizes import size_of
    from heptalog.cli.writing import ask, form_for

    is_prompt = question is None and file is None and out is None and sys.stdin.isatty() and sys.stdout.isatty()
    if out == Path("-"):
        out = None
    form = form_for(format_, out)
    wishes = Wishes(timeout, rows, None if memory is None else size_of(memory, "--memory"))
    if is_prompt:
        from heptalog.cli.prompting import prompt

        with opened(source) as asker:
            return prompt(asker, form, wishes)
    text = question_of(question, file)
    with opened(source) as asker:
        ask(asker, text, wishes, form, out)
    return Exit.FINE
