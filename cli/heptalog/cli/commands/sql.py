"""`heptalog sql`: a question to a database."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, complain
from heptalog.cli.guard import guarded


class TableFormat(StrEnum):
    """The form of an answer in rows and columns."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


DatabaseArgument = Annotated[
    Path,
    typer.Argument(metavar="DATABASE", help="A database that no server holds.", readable=False, show_default=False),
]
QuestionArgument = Annotated[
    str, typer.Argument(metavar="SQL", help="One SELECT, in the SQL of DuckDB.", show_default=False)
]
TableFormatOption = Annotated[TableFormat, typer.Option("--format", "-f", help="text for people; the others give all.")]


@guarded
def sql(database: DatabaseArgument, question: QuestionArgument, format_: TableFormatOption = TableFormat.TEXT) -> Exit:
    """Ask a database in SQL.

    The views are games and results; the log itself is log.events, log.games, log.endings and log.refusals. The
    database is only read, and no other file can be.
    """
    from heptalog.cli.asking import asked
    from heptalog.cli.output import Objects, write_csv, write_table
    from heptalog.cli.render import ROWS_MAX, cells, csv_cells, row_json
    from heptalog.replay.words import printable

    with asked(database, question) as answer:
        match format_:
            case TableFormat.TEXT:
                rows = [cells(row) for _, row in zip(range(ROWS_MAX), answer.rows, strict=False)]
                write_table(list(map(printable, answer.columns)), rows, numbers=list(map(printable, answer.numbers)))
                if next(answer.rows, None) is not None:
                    complain(f"these are the first {ROWS_MAX:,} rows; the other formats give all")
            case TableFormat.CSV:
                write_csv(answer.columns, map(csv_cells, answer.rows))
            case TableFormat.JSON | TableFormat.JSONL:
                with Objects(is_list=format_ is TableFormat.JSON) as out:
                    for row in answer.rows:
                        out.write(row_json(answer.columns, row))
    return Exit.FINE
