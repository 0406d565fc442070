"""`heptalog verify`: whether games are good."""

from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse, complain, worst
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption, JobsOption, PathsArgument, QuietOption

KeysOption = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        "-k",
        metavar="KEY",
        help="A public key, or a file of them. Every bundle must be signed by one of each --key.",
        show_default=False,
    ),
]
RevealOption = Annotated[
    Path | None,
    typer.Option(
        "--reveal",
        metavar="FILE",
        help="What is shown of a bundle's hidden parts: from heptalog reveal, or a fuller copy.",
        show_default=False,
    ),
]


@guarded
def verify(
    paths: PathsArgument,
    keys: KeysOption = None,
    reveal: RevealOption = None,
    format_: FormatOption = Format.TEXT,
    jobs: JobsOption = 0,
    quiet: QuietOption = False,
) -> Exit:
    """Verify games by the rules and their evidence.

    The form of every event, its chain and seals where there are any, and the rules; of a bundle also its proof. A
    folder stands for its *.jsonl and *.bundle files, also those in folders within; a database or server for all of its
    games. With --key everything named must be a bundle that these keys have signed; without, nothing is proved.
    One bad game never stops the others. A file that was cut off between two lines is a good game that is still running.
    Exit code 1: a game is BAD; 3: none is, but something is UNREAD, for it could not be read.
    """
    from heptalog.cli.bundles import held_against, reveals_from, trusted_by
    from heptalog.cli.connections import Connections
    from heptalog.cli.examine import examined
    from heptalog.cli.output import Objects, counting, write_lines
    from heptalog.cli.render import counted, verdict_lines
    from heptalog.cli.sources import all_games

    _check_use(paths, has_keys=bool(keys), has_reveal=reveal is not None)
    trusted = trusted_by(keys or ())
    reveals = [] if reveal is None else reveals_from(reveal)
    counts = dict.fromkeys(Exit, 0)
    events = 0
    with (
        Connections() as connections,
        Objects(is_list=format_ is Format.JSON, is_silent=format_ is Format.TEXT) as out,
        counting("games verified") as counter,
    ):
        games = held_against(all_games(paths, connections), trusted, reveals)
        for verdict in examined(games, connections, jobs=jobs):
            counter.add()
            counts[verdict.exit] += 1
            events += verdict.events
            if quiet and verdict.ok:
                continue
            if format_ is Format.TEXT:
                write_lines(verdict_lines(verdict))
            else:
                out.write(verdict)
    total = f"{counted(counts[Exit.FINE], 'game')} good, {counts[Exit.FINDING]:,} bad"
    if counts[Exit.UNREACHABLE]:
        total += f", {counts[Exit.UNREACHABLE]:,} unread"
    complain(f"{total}; {counted(events, 'event')} accepted")
    return worst([each for each, count in counts.items() if count])


def _check_use(paths: list[str], *, has_keys: bool, has_reveal: bool) -> None:
    """Raise WrongUse where there can be no bundle, or more than one for what is shown of it."""
    from heptalog.cli.files import FileGame
    from heptalog.cli.sources import Folder, named

    if not (has_keys or has_reveal):
        return
    for path in paths:
        if not isinstance(named(path), FileGame | Folder):
            raise WrongUse(f"{path}: --key and --reveal are for bundles; heptalog audit is for databases and servers")
    if has_reveal and not (len(paths) == 1 and isinstance(named(paths[0]), FileGame)):
        raise WrongUse("--reveal is for one bundle")
