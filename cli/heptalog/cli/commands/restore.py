"""`heptalog restore`: a log out of a backup."""

from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.commands.backup import KeysOption
from heptalog.cli.exits import Exit, WrongUse, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption

BackupArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="The backup.", show_default=False)]
NewDatabaseArgument = Annotated[
    Path | None,
    typer.Argument(metavar="DATABASE", help="The database to be made; there must be none yet.", show_default=False),
]
CheckOption = Annotated[
    bool, typer.Option("--check", help="Only check the backup, all but the rules of the games; no database is made.")
]
PositionOption = Annotated[
    int | None,
    typer.Option(
        "--to-position",
        metavar="N",
        min=0,
        help="Only the first N events. Whoever has a checkpoint of more will find the others lost.",
        show_default=False,
    ),
]


@guarded
def restore(
    folder: BackupArgument,
    database: NewDatabaseArgument = None,
    check: CheckOption = False,
    key: KeysOption = None,
    to_position: PositionOption = None,
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """Make a database of a backup, or check one.

    Every file, record, hash and checkpoint is checked again, and every game is played again. The new log has the same
    events at the same positions, the same refusals and checkpoints and the same root, and goes on from there. A file
    that is there already is never touched. A game that its rules do not allow is restored as it was, and told.
    Exit code 1: the backup, or a game in it, is not what it should be; 3: it cannot be read.
    """
    import time

    from heptalog.cli.backups import keys_of, lines_of_restored
    from heptalog.cli.output import counting, write_document, write_lines
    from heptalog.service.backup import restoring

    keys = keys_of(key)
    if check == (database is not None):
        raise WrongUse("name the database that is to be made, or ask for --check")
    with counting("events") as counter:
        if database is None:
            restored = restoring.check(folder, keys=keys, to_position=to_position, progress=counter.add)
        else:
            if path := restoring.in_the_way(database):
                raise WrongUse(f"{path} is there already; nothing is restored over it")
            restored = restoring.restore(
                folder, database, clock=time.time_ns, keys=keys, to_position=to_position, progress=counter.add
            )
    if database is not None and restored.checkpoint and not restored.void_names:
        complain("sign it under the same name only if nobody has a checkpoint over more events; see docs/backup.md")
    if keys and not restored.checkpoint:
        complain("there is no signed checkpoint in it, so there was nothing to hold against a key")
    if format_ is Format.TEXT:
        write_lines(lines_of_restored(restored))
    else:
        write_document(restored, format_)
    return Exit.FINDING if restored.bad_games else Exit.FINE
