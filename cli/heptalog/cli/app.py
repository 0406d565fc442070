"""The program: every command by its name. What a command needs is imported when it runs, so that help is quick."""

import sys
from typing import Annotated, Final

import typer

from heptalog.analytics.own_process import without_last_words, without_pandas
from heptalog.cli.commands.append import append
from heptalog.cli.commands.audit import audit
from heptalog.cli.commands.backup import backup
from heptalog.cli.commands.bundle import bundle
from heptalog.cli.commands.checkpoint import checkpoint
from heptalog.cli.commands.cosign import cosign
from heptalog.cli.commands.demo import demo
from heptalog.cli.commands.diff import diff
from heptalog.cli.commands.doctor import doctor
from heptalog.cli.commands.export import export
from heptalog.cli.commands.follow import follow
from heptalog.cli.commands.games import games
from heptalog.cli.commands.import_ import import_
from heptalog.cli.commands.keygen import keygen
from heptalog.cli.commands.legal import legal
from heptalog.cli.commands.rebuild import rebuild
from heptalog.cli.commands.replay import replay
from heptalog.cli.commands.report import report
from heptalog.cli.commands.restore import restore
from heptalog.cli.commands.reveal import reveal
from heptalog.cli.commands.serve import serve
from heptalog.cli.commands.show import show
from heptalog.cli.commands.simulate import simulate
from heptalog.cli.commands.sql import sql
from heptalog.cli.commands.verify import verify
from heptalog.cli.commands.views import views
from heptalog.cli.examples import EXAMPLES
from heptalog.cli.exits import UNHEARD, Exit, complain
from heptalog.cli.helping import Command
from heptalog.cli.streams import prepared

_EPILOG: Final = (
    "A game is named by FILE, by DATABASE.duckdb#GAME or by grpc://HOST:PORT#GAME, everywhere alike. "
    "Exit codes: 0 fine; 1 something is wrong, or two games differ; 2 wrong use, as a seat, an event, a table or an "
    "option that there is not; 3 something could not be opened or reached, or a file, a game or a tournament is not "
    "there; 130 stopped by Ctrl-C; 141 nobody reads the result any more."
)

app: Final = typer.Typer(
    name="heptalog",
    help="Record, replay, verify and compare games of Seven Rocks, Seven Up and Seven Bridge.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    # Plain help needs a third of the time.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
for _command in (
    serve,
    append,
    import_,
    export,
    games,
    show,
    replay,
    follow,
    verify,
    diff,
    legal,
    sql,
    rebuild,
    views,
    report,
    doctor,
    audit,
    keygen,
    checkpoint,
    cosign,
    bundle,
    reveal,
    backup,
    restore,
    simulate,
    demo,
):
    _name = _command.__name__.rstrip("_")
    app.command(_name, cls=Command, epilog="\n".join(EXAMPLES[_name]))(_command)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        from heptalog.replay.form import IS_COMPILED

        typer.echo(f"heptalog {version('heptalog')} ({'compiled' if IS_COMPILED else 'as written'})")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Record, replay, verify and compare games of Seven Rocks, Seven Up and Seven Bridge."""


def main() -> None:
    """Run the program; a result that could not be written is no good end, not even that of help."""
    result = prepared()
    without_pandas()
    without_last_words()
    code: object = Exit.FINE
    try:
        try:
            app()
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
    except OSError as error:
        if not result.is_unheard:
            complain(error.strerror or type(error).__name__)
    if result.is_lost:
        code = UNHEARD if result.is_unheard else Exit.UNREACHABLE
    sys.exit(code if isinstance(code, int) else Exit.FINE)
