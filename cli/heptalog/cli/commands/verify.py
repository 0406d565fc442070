"""`heptalog verify`: whether games are good."""

from typing import Annotated

import typer

from heptalog.cli.exits import Exit, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption, PathsArgument, QuietOption

JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", min=0, max=256, help="Processes that may work on many games; 0 is one a core.")
]


@guarded
def verify(
    paths: PathsArgument,
    format_: FormatOption = Format.TEXT,
    jobs: JobsOption = 0,
    quiet: QuietOption = False,
) -> Exit:
    """Verify games by the rules and their evidence.

    The form of every event, its chain and seals where there are any, and the rules. A folder stands for its *.jsonl
    files, also those in folders within; a database or server for all of its games.
    One bad game never stops the others. Exit code 1: a game is bad; 3: none is bad, but something could not be read.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.examine import examined
    from heptalog.cli.output import Objects, counting, write_text
    from heptalog.cli.render import counted, verdict_text
    from heptalog.cli.sources import all_games

    counts = dict.fromkeys(Exit, 0)
    events = 0
    with (
        Connections() as connections,
        Objects(is_list=format_ is Format.JSON, is_silent=format_ is Format.TEXT) as out,
        counting("games verified") as counter,
    ):
        for verdict in examined(all_games(paths, connections), connections, jobs=jobs):
            counter.add()
            counts[verdict.exit] += 1
            events += verdict.events
            if quiet and verdict.ok:
                continue
            if format_ is Format.TEXT:
                write_text(verdict_text(verdict))
            else:
                out.write(verdict)
    total = f"{counted(counts[Exit.FINE], 'game')} good, {counts[Exit.FINDING]:,} bad"
    if counts[Exit.UNREACHABLE]:
        total += f", {counts[Exit.UNREACHABLE]:,} not to be read"
    complain(f"{total}; {counted(events, 'event')} accepted")
    return Exit.FINDING if counts[Exit.FINDING] else Exit.UNREACHABLE if counts[Exit.UNREACHABLE] else Exit.FINE
