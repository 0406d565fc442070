"""`heptalog import`: recorded games into a log."""

from typing import Annotated

import typer

from heptalog.cli.exits import Exit, complain, no_whole_log, worst
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption, PathsArgument, QuietOption

IntoOption = Annotated[
    str,
    typer.Option("--into", metavar="DATABASE|grpc://HOST:PORT", help="A database is made where it is missing."),
]


@guarded
def import_(
    paths: PathsArgument, into: IntoOption, format_: FormatOption = Format.TEXT, quiet: QuietOption = False
) -> Exit:
    """Import games into a database or a server.

    Each game is verified whole before anything of it is written; a bad one writes nothing and stops no other. What a
    file lacks is filled in, ids from its content: to import it again is no error and adds nothing. A game that is
    there already is compared, and goes on where the file has more. Times, seals and hashes that a file brings are
    kept; where something that they cover has to be filled in, the chain is made anew.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.databases import Database
    from heptalog.cli.files import FileGame
    from heptalog.cli.importing.games import Destination, imported
    from heptalog.cli.output import Objects, counting, write_text
    from heptalog.cli.render import counted, import_text
    from heptalog.cli.servers import Server
    from heptalog.cli.sources import all_games, named

    target = named(into)
    if not isinstance(target, Database | FileGame | Server):
        raise no_whole_log(f"--into {into}")
    counts = dict.fromkeys(Exit, 0)
    added = 0
    with (
        Connections() as connections,
        Destination(target, connections) as destination,
        Objects(is_list=format_ is Format.JSON, is_silent=format_ is Format.TEXT) as out,
        counting("games imported") as counter,
    ):
        for result in imported(all_games(paths, connections), connections, destination.log):
            counter.add()
            counts[result.exit] += 1
            added += result.added
            if quiet and result.ok:
                continue
            if format_ is Format.TEXT:
                write_text(import_text(result))
            else:
                out.write(result)
    failed = sum(counts.values()) - counts[Exit.FINE]
    complain(f"{counted(added, 'event')} added; {counted(counts[Exit.FINE], 'game')} in the log, {failed:,} not")
    return worst([each for each, count in counts.items() if count])
