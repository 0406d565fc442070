"""`heptalog backup`: a log into a folder of plain files, and what is new of it the next time."""

from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import Format, FormatOption, LogArgument

FolderArgument = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Where it goes; made where it is missing.", show_default=False)
]
KeysOption = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        "-k",
        metavar="KEY",
        help="A public key, or a file of them. The latest checkpoint must be signed by one of all that are given.",
        show_default=False,
    ),
]


@guarded
def backup(
    source: LogArgument, folder: FolderArgument, key: KeysOption = None, format_: FormatOption = Format.TEXT
) -> Exit:
    """Back up a log, running or not.

    The first time all of it, later what is new. One moment of the log, checked as it is copied: every record, every
    hash, the Merkle tree and its checkpoints. Another log, or one that has become shorter, is refused; then, and
    whenever it is interrupted, the backup stays what it was. Appends do not wait for it. Of what is in the folder
    already a gibibyte is read again each time and held against its sums: heptalog restore FOLDER --check reads all.
    Exit code 1: it is refused; 3: something cannot be read, reached or written.
    """
    import time

    from msgspec.structs import replace

    from heptalog.cli.backups import keys_of, lines_of_backup, source_named
    from heptalog.cli.connections import Connections, shown
    from heptalog.cli.output import counting, write_document, write_lines
    from heptalog.service.backup.taking import take

    keys = keys_of(key)
    with Connections() as connections, counting("events") as counter:
        parts = source_named(source, connections)
        taken = take(folder, parts, keys=keys, clock=time.time_ns, progress=counter.add)
    taken = replace(taken, directory=shown(folder))
    if keys and not taken.checkpoint:
        complain("no checkpoint is signed yet, so there was nothing to hold against a key")
    if format_ is Format.TEXT:
        write_lines(lines_of_backup(taken))
    else:
        write_document(taken, format_)
    return Exit.FINE
