"""`heptalog doctor`: what is wrong with a database that opens no more, and what can be done."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption

if TYPE_CHECKING:
    from heptalog.service.store.diagnosis import Diagnosis

DatabaseArgument = Annotated[
    Path,
    typer.Argument(metavar="DATABASE", help="A database that no server holds.", readable=False, show_default=False),
]
ReserveOption = Annotated[
    str | None,
    typer.Option("--reserve", metavar="SIZE", help="The reserve that its server is given.", show_default=False),
]
AcceptOption = Annotated[
    bool, typer.Option("--accept", help="Let the log go on as it is now; what is lost stays lost. This is recorded.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before it.")]


@guarded
def doctor(
    database: DatabaseArgument,
    reserve: ReserveOption = None,
    accept: AcceptOption = False,
    yes: YesOption = False,
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """Say why a database does not open, and what can be done.

    It looks at the database and the files beside it, how many events they speak of, and at the roots. It does not read
    every event: that is heptalog audit. It changes nothing, unless it is told to --accept.
    Exit code 0: it opens; 1: something is wrong; 3: it cannot be seen.
    """
    from heptalog.cli.doctoring import exit_of, report_lines, report_of
    from heptalog.cli.output import write_document, write_lines
    from heptalog.cli.sizes import size_of
    from heptalog.service.store.diagnosis import diagnosed

    diagnosis = diagnosed(database, None if reserve is None else size_of(reserve, "--reserve"))
    report = report_of(diagnosis)
    if format_ is Format.TEXT:
        write_lines(report_lines(report))
    else:
        write_document(report, format_)
    return _accepted(database, diagnosis, is_asked=not yes) if accept else exit_of(diagnosis)


def _accepted(database: Path, diagnosis: "Diagnosis", *, is_asked: bool) -> Exit:
    import time

    from heptalog.cli.doctoring import exit_of
    from heptalog.service.store.diagnosis import ACCEPTABLE, accept

    if not any(problem.code in ACCEPTABLE for problem in diagnosis.problems):
        if diagnosis.problems:
            complain("this is nothing that could be accepted")
        return exit_of(diagnosis)
    if not diagnosis.is_acceptable:
        complain("the log as it is now cannot go on, so it cannot be accepted")
        return exit_of(diagnosis)
    if is_asked:
        if not _is_answered():
            raise WrongUse("--accept asks before it does anything; where nobody answers, say --yes")
        if not typer.confirm("Let the log go on as it is now?", err=True):
            return exit_of(diagnosis)
    size = accept(database, diagnosis, time.time_ns).size
    complain(f"the log goes on after event {size:,}; this is recorded in log.incidents")
    return Exit.FINE


def _is_answered() -> bool:
    import sys

    return sys.stdin.isatty()
