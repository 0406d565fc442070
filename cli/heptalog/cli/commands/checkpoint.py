"""`heptalog checkpoint`: what a log has signed."""

from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse
from heptalog.cli.guard import guarded
from heptalog.cli.options import LogArgument, OutOption

FreshOption = Annotated[bool, typer.Option("--fresh", help="Sign all that is recorded now.")]
KeyOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--key",
        "-k",
        metavar="FILE",
        help="The private key that signs a database, with --fresh; a server has its own. May be given several times.",
        show_default=False,
    ),
]
SizeOption = Annotated[
    int | None, typer.Option("--size", min=1, metavar="N", help="The one over N events.", show_default=False)
]


@guarded
def checkpoint(
    source: LogArgument,
    fresh: FreshOption = False,
    key: KeyOption = None,
    size: SizeOption = None,
    out: OutOption = None,
) -> Exit:
    """Print a signed checkpoint of a log.

    The latest that was signed, or with --fresh one over all that is recorded now. It is a signed note, and proves
    nothing by itself: keep it where who runs the log cannot change it, and hold the log against it later.
    """
    from heptalog.cli.connections import Connections, reachable
    from heptalog.cli.databases import Database
    from heptalog.cli.exporting import write_out
    from heptalog.cli.servers import Server
    from heptalog.cli.signing import kept_checkpoint, sign_database
    from heptalog.cli.sources import log_named
    from heptalog.replay.errors import HeptalogError

    if fresh and size is not None:
        raise WrongUse("--size: a fresh checkpoint has the size that the log has")
    with Connections() as connections:
        match log_named(source):
            case Server(target=target):
                if key:
                    raise WrongUse("--key: a server signs with the keys that it was started with")
                try:
                    note = connections.client(target).checkpoint(size=size, is_fresh=fresh).note
                except HeptalogError as error:
                    raise reachable(error, target) from error
            case Database(path=path) if fresh:
                if not key:
                    raise WrongUse("--fresh: a database is signed with a key, as --key FILE")
                note = sign_database(path, key).note
            case Database(path=path):
                if key:
                    raise WrongUse("--key: only with --fresh is something signed")
                note = kept_checkpoint(path, size, connections).note
    write_out(out, [note.encode()])
    return Exit.FINE
