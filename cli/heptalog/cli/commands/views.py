"""`heptalog views`: the dictionary of what can be asked."""

from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption

NameArgument = Annotated[
    str | None, typer.Argument(metavar="NAME", help="One table or view; without it, all.", show_default=False)
]
SqlOption = Annotated[
    bool, typer.Option("--sql", help="The SELECT that a view is, and nothing else; in json beside the rest.")
]


@guarded
def views(name: NameArgument = None, sql: SqlOption = False, format_: FormatOption = Format.TEXT) -> Exit:
    """Print the dictionary: the tables and views that questions are asked of, and what their columns mean.

    It is that of this program; heptalog sql asks. A view is a question with a name: its SELECT (--sql)
    can be asked as it is, and is where to begin one's own.
    """
    from heptalog.analytics.views import dictionary, entry_of
    from heptalog.cli.dictionaries import entry_document, entry_text, list_text, sql_of
    from heptalog.cli.output import Objects, write_document, write_lines

    if name is not None:
        entry = entry_of(name)
        statement = sql_of(entry) if sql else None
        if format_ is not Format.TEXT:
            write_document(entry_document(entry, sql=statement), format_)
        elif statement is not None:
            write_lines([statement])
        else:
            entry_text(entry)
        return Exit.FINE
    if sql:
        raise WrongUse("--sql: name the view whose SQL is wanted")
    if format_ is Format.TEXT:
        list_text(dictionary())
    else:
        with Objects(is_list=format_ is Format.JSON) as out:
            for entry in dictionary():
                out.write(entry_document(entry))
    return Exit.FINE
