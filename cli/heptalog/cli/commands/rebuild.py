"""`heptalog rebuild`: the tables that questions are asked of, made anew from the log, or held against it."""

from typing import Annotated, Any

import typer

from heptalog.cli.exits import Exit
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption, LogArgument

CheckOption = Annotated[
    bool, typer.Option("--check", help="Change nothing: make every row again, and compare it with the one kept.")
]


@guarded
def rebuild(source: LogArgument, check: CheckOption = False, format_: FormatOption = Format.TEXT) -> Exit:
    """Make the tables of heptalog sql anew from the log.

    They follow from its events, and are kept beside it in DATABASE.tables; no record depends on them. This is never
    needed in order: they follow by themselves. The old ones answer until the new ones are whole.
    Exit code 1: with --check, a row is not the one that follows from the log; 3: something cannot be read or written.
    """
    from heptalog.cli.rebuilding import checked, place_of, rebuilt
    from heptalog.replay.errors import Code, Corrupt

    place = place_of(source)
    try:
        document = checked(place) if check else rebuilt(place)
    except Corrupt as error:
        if error.code is not Code.TABLES_DIFFER or format_ is Format.TEXT:
            raise
        _tell({"source": place.name, "ok": False, "code": error.code, **error.facts}, format_)
        return Exit.FINDING
    _tell({"ok": True, **document} if check else document, format_)
    return Exit.FINE


def _tell(document: dict[str, Any], format_: Format) -> None:
    from heptalog.cli.output import write_document, write_table, write_text
    from heptalog.cli.render import counted
    from heptalog.replay.words import printable

    if format_ is not Format.TEXT:
        write_document(document, format_)
        return
    rows = [(name, f"{count:,}") for name, count in document["tables"].items()]
    write_table(("table", "rows"), rows, numbers=("rows",))
    what = "every row is as it should be" if "ok" in document else "made anew"
    behind = document.get("behind", 0)
    more = f"; {counted(behind, 'event')} of the log {'is' if behind == 1 else 'are'} not in them yet" if behind else ""
    write_text(printable(f"{document['source']}: {what}, {counted(document['events'], 'event')}{more}"))
