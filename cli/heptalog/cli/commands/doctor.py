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

    It looks at the database and the files beside it, how many events they speak of, and at the roots, and has the
    engine read every block. Whether each event is what it was it does not look at: that is heptalog audit. It changes
    nothing, unless it is told to --accept, and then tells how the log is after it.
    Exit code 0: it opens and can be read; 1: something is wrong; 3: it cannot be seen.
    """
    from heptalog.cli.doctoring import exit_of
    from heptalog.cli.sizes import size_of
    from heptalog.service.store.diagnosis import diagnosed

    reserved = None if reserve is None else size_of(reserve, "--reserve")
    diagnosis = diagnosed(database, reserved)
    # Who is asked has to see first what about; otherwise it is told how the log is in the end.
    is_told = not accept or (format_ is Format.TEXT and not yes)
    if is_told:
        _tell(diagnosis, format_)
    if accept and _is_let_go_on(database, diagnosis, is_asked=not yes):
        diagnosis = diagnosed(database, reserved)
        is_told = False
    if not is_told:
        _tell(diagnosis, format_)
    return exit_of(diagnosis)


def _tell(diagnosis: "Diagnosis", format_: Format) -> None:
    from heptalog.cli.doctoring import report_lines, report_of
    from heptalog.cli.output import write_document, write_lines

    report = report_of(diagnosis)
    if format_ is Format.TEXT:
        write_lines(report_lines(report))
    else:
        write_document(report, format_)


def _is_let_go_on(database: Path, diagnosis: "Diagnosis", *, is_asked: bool) -> bool:
    """Let the log go on as it is now, if somebody says so and it can."""
    import time

    from heptalog.service.store.diagnosis import ACCEPTABLE, accept

    if not any(problem.code in ACCEPTABLE for problem in diagnosis.problems):
        if diagnosis.problems:
            complain("this is nothing that could be accepted")
        return False
    if not diagnosis.is_acceptable:
        complain("the log as it is now cannot go on, so it cannot be accepted")
        return False
    if is_asked:
        if not _is_answered():
            raise WrongUse("--accept asks before it does anything; where nobody answers, say --yes")
        if not typer.confirm("Let the log go on as it is now?", err=True):
            return False
    size = accept(database, diagnosis, time.time_ns).size
    complain(f"the log goes on after event {size:,}; this is recorded in log.incidents")
    return True


def _is_answered() -> bool:
    import sys

    return sys.stdin.isatty()
