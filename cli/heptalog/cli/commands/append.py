"""`heptalog append`: a ruling, or whatever else happened, into a game that is recorded."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from heptalog.cli.exits import Exit, WrongUse, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption, named_path

if TYPE_CHECKING:
    from heptalog.cli.connections import Connections
    from heptalog.cli.recording import LoggedGame, Outcome

# Events that are shown where a game has gone on: enough to see what has happened.
_NEWS_MAX: Final = 20

LoggedGameArgument = Annotated[
    str, typer.Argument(metavar="GAME", help="DATABASE.duckdb#GAME or grpc://HOST:PORT#GAME.", show_default=False)
]
EventArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KIND FIELD=VALUE",
        help="One event, in the names of a game file. Without it: which there are.",
        show_default=False,
    ),
]
FromOption = Annotated[
    Path | None,
    typer.Option(
        "--file",
        parser=named_path,
        metavar="FILE",
        help="Events as lines of a game file; - is stdin.",
        show_default=False,
    ),
]
AfterOption = Annotated[
    int | None,
    typer.Option(
        "--after", min=0, metavar="N", help="The last event that you have seen; nothing is asked.", show_default=False
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Check it by the rules, and record nothing.")]
EventIdOption = Annotated[
    str, typer.Option("--event-id", metavar="ID", help="An id of your own for one event.", show_default=False)
]
OccurredAtOption = Annotated[
    str,
    typer.Option(
        "--occurred-at", metavar="TIME", help="When it happened, as 2026-01-31T12:00:00Z.", show_default=False
    ),
]
RecordedByOption = Annotated[
    str, typer.Option("--recorded-by", metavar="WHO", help="Who records it, such as desk-2.", show_default=False)
]


@guarded
def append(
    game: LoggedGameArgument,
    event: EventArgument = None,
    from_: FromOption = None,
    after: AfterOption = None,
    dry_run: DryRunOption = False,
    event_id: EventIdOption = "",
    occurred_at: OccurredAtOption = "",
    recorded_by: RecordedByOption = "",
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """Record a ruling by hand, or whatever else happened.

    heptalog append season.duckdb#final movesRetracted toSequence=3 reason="played out of turn": says how the game
    stands before and after, asks, and records it if nothing else has been recorded meanwhile. With --after it does not
    ask, and records only where event N is the last. A seat is a number, or a player by id or name. The same command
    with the same --after is recognised, and adds nothing.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.given_events import STDIN, completed, event_in_words, events_in
    from heptalog.cli.recording import checked, game_now, logged_game, recorded
    from heptalog.cli.render import counted

    source = logged_game(game)
    if event and from_ is not None:
        raise WrongUse("an event is given in words or in a file, and not both")
    if not event and from_ is None:
        if after is not None or dry_run or event_id or occurred_at or recorded_by:
            raise WrongUse("no event is given, neither in words nor with --file")
        return _tell_kinds(source, format_)
    is_asking = after is None and not dry_run
    if is_asking and from_ is not None:
        _check_asked(format_, is_stdin_taken=from_ == STDIN)
    with Connections() as connections:
        now = game_now(source, connections)
        with _telling_place(from_), _telling_news(source, connections, after, format_):
            events = events_in(from_) if from_ is not None else (event_in_words(event or [], now.fold),)
            if is_asking:
                # What is missing in the event itself is told first.
                _check_asked(format_)
            asked = completed(events, now, after, event_id=event_id, occurred_at=occurred_at, recorded_by=recorded_by)
            outcome = checked(asked, now) if is_asking or dry_run else recorded(asked, now, source, connections)
        _tell(outcome, format_, is_added=not dry_run)
        if is_asking and not outcome.is_known:
            # Nobody else waits while a person thinks.
            connections.close()
            if not _is_confirmed("Record it?"):
                complain("nothing is recorded")
                return Exit.FINDING
            with _telling_place(from_), _telling_news(source, connections, asked.expected, format_):
                outcome = recorded(asked, now, source, connections)
    if outcome.is_known:
        complain("it is recorded already; nothing is added")
    elif dry_run:
        complain("it can be recorded; with --dry-run nothing is")
    else:
        complain(f"{counted(len(outcome.steps), 'event')} recorded in {source.name}")
    return Exit.FINE


def _check_asked(format_: Format, *, is_stdin_taken: bool = False) -> None:
    """Raise WrongUse where nobody can be asked."""
    if is_stdin_taken or format_ is not Format.TEXT or not sys.stdin.isatty():
        raise WrongUse("where nobody can be asked say --after N, the last event that you have seen")


def _is_confirmed(question: str) -> bool:
    """Ask until the answer is yes or no; Enter is no."""
    while True:
        answer: str = typer.prompt(f"{question} [y/N]", default="n", show_default=False, err=True)
        match answer.strip().lower():
            case "y" | "yes":
                return True
            case "n" | "no":
                return False
        complain("answer y or n")


def _tell_kinds(source: "LoggedGame", format_: Format) -> Exit:
    """How the game stands, and what can be recorded into it."""
    from heptalog.cli.connections import Connections
    from heptalog.cli.given_events import forms_of, forms_text
    from heptalog.cli.output import write_document, write_lines
    from heptalog.cli.recording import game_now
    from heptalog.cli.render import standing_text

    with Connections() as connections:
        fold = game_now(source, connections).fold
    if format_ is Format.TEXT:
        write_lines([standing_text(fold), ""])
        write_lines(f"  {line}" for line in forms_text(fold.rules))
    else:
        write_document({"standing": fold.standing(), "kinds": forms_of(fold.rules)}, format_)
    return Exit.FINE


def _tell(outcome: "Outcome", format_: Format, *, is_added: bool) -> None:
    from heptalog.cli.output import write_document, write_lines
    from heptalog.cli.recording import report_of
    from heptalog.cli.render import standing_text, step_text
    from heptalog.replay.rules import ARBITER

    if format_ is not Format.TEXT:
        write_document(report_of(outcome, is_added=is_added), format_)
        return
    write_lines([standing_text(outcome.before)])
    for step in outcome.steps:
        write_lines(step_text(step, ARBITER))
    write_lines([standing_text(outcome.steps[-1].fold)])


@contextmanager
def _telling_place(path: Path | None) -> Iterator[None]:
    """Where events come from a file, tell which line of it is wrong."""
    from heptalog.cli.connections import shown
    from heptalog.cli.verdicts import Found, Verdict
    from heptalog.replay.errors import Code, HeptalogError
    from heptalog.replay.sentences import sentence

    try:
        yield
    except HeptalogError as error:
        if path is None or ("line" not in error.facts and error.code is not Code.GAME_EMPTY):
            raise
        line = error.facts.get("line")
        message = sentence(error) if line is None else f"line {line}: {sentence(error)}"
        raise Found(Verdict(shown(path), ok=False, events=0, code=error.code, message=message)) from error


@contextmanager
def _telling_news(
    source: "LoggedGame", connections: "Connections", after: int | None, format_: Format
) -> Iterator[None]:
    """Where the game has gone on since `after`, show how, before it is told as an error."""
    from heptalog.cli.output import write_lines
    from heptalog.cli.recording import game_now, steps_again
    from heptalog.cli.render import step_text
    from heptalog.replay.errors import Code, Conflict, HeptalogError
    from heptalog.replay.rules import ARBITER

    try:
        yield
    except Conflict as error:
        if error.code is Code.SEQUENCE_MISMATCH and after is not None and format_ is Format.TEXT:
            # Where it cannot be read any more the error itself is still told.
            with suppress(HeptalogError):
                now = game_now(source, connections)
                for step in steps_again(now, range(now.fold.sequence + 1)[after + 1 :][-_NEWS_MAX:]):
                    write_lines(step_text(step, ARBITER))
        raise
