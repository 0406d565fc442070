"""`heptalog serve`: a running service over one database."""

from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit
from heptalog.cli.guard import guarded

DatabaseArgument = Annotated[
    Path,
    typer.Argument(
        # Whether it can be opened is told when it is: that is no wrong use.
        metavar="DATABASE",
        help="The DuckDB file; made where it is missing.",
        readable=False,
        show_default=False,
    ),
]
HostOption = Annotated[str, typer.Option("--host", help="A loopback address: there are no credentials yet.")]
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, help="0 is any free one.")]


@guarded
def serve(database: DatabaseArgument, host: HostOption = "127.0.0.1", port: PortOption = 7777) -> Exit:
    """Serve a database over gRPC.

    Prints "listening on HOST:PORT" once it listens. SIGTERM or Ctrl-C lets running calls finish, and ends it.
    """
    import asyncio
    import logging
    import os
    import sys

    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from heptalog.cli.connections import opening
    from heptalog.service.config import Settings
    from heptalog.service.server import serve as run

    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")

    def announce(bound: int) -> None:
        print(f"listening on {f'[{host}]' if ':' in host else host}:{bound}", flush=True)  # noqa: T201  # the result

    with opening(database):
        asyncio.run(run(Settings(str(database), host=host, port=port), announce))
    return Exit.FINE
