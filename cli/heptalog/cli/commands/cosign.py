"""`heptalog cosign`: be the witness of a log."""

from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse, complain
from heptalog.cli.guard import guarded

SourceArgument = Annotated[str, typer.Argument(metavar="grpc://HOST:PORT", help="The server.", show_default=False)]
KeyOption = Annotated[
    Path,
    typer.Option(
        "--key", "-k", metavar="FILE", help="The witness's private key, of keygen --cosigner.", show_default=False
    ),
]
LogKeyOption = Annotated[
    list[Path],
    typer.Option(
        "--log-key", metavar="FILE", help="The public key of the log. May be given several times.", show_default=False
    ),
]
StateOption = Annotated[
    Path,
    typer.Option(
        "--state", metavar="FILE", help="What was cosigned last; made the first time. Keep it.", show_default=False
    ),
]


QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the checkpoint.")]


@guarded
def cosign(
    source: SourceArgument, key: KeyOption, log_key: LogKeyOption, state: StateOption, quiet: QuietOption = False
) -> Exit:
    """Cosign the latest checkpoint of a log, as its witness.

    Only where the log has signed it, and it goes on where the checkpoint stopped that was cosigned last: who has seen
    two checkpoints with the witness's signature knows that they are of one log. Prints the checkpoint. The first one is
    taken as it is.
    """
    import time

    from heptalog.cli.connections import Connections, reachable
    from heptalog.cli.output import write_bytes
    from heptalog.cli.render import counted
    from heptalog.cli.servers import Server
    from heptalog.cli.sources import named
    from heptalog.replay.errors import Unavailable
    from heptalog.service.evidence.keys import load, load_public
    from heptalog.service.evidence.witness import Witness

    server = named(source)
    if not isinstance(server, Server):
        raise WrongUse(f"{source}: name a server, as grpc://HOST:PORT")
    witness = Witness(load(key), load_public(log_key), state, time.time_ns)
    with Connections() as connections:
        client = connections.client(server.target)
        try:
            latest = client.checkpoint()
            cosigned = witness.cosign(
                latest.note, lambda first, second: client.consistency_proof(first, second=second).hashes
            )
            kept = client.cosign(cosigned)
        except Unavailable as error:
            raise reachable(error, server.target) from error
    if not quiet:
        write_bytes(kept.note.encode())
    complain(f"cosigned: {counted(kept.size, 'event')}")
    return Exit.FINE
