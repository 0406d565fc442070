"""`heptalog serve`: a running service over one database."""

from pathlib import Path
from typing import Annotated, Final

import typer

from heptalog.cli.exits import Exit, WrongUse
from heptalog.cli.guard import guarded
from heptalog.cli.options import SECONDS_MAX

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
HostOption = Annotated[
    str, typer.Option("--host", metavar="HOST", help="A loopback address: there are no credentials yet.")
]
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, metavar="PORT", help="0 is any free one.")]
ReserveOption = Annotated[
    str | None,
    typer.Option(
        "--reserve",
        metavar="SIZE",
        help="What is left free on the disk, such as 2GiB; 0 is nothing. By default 512MiB or 5 %, whichever is less.",
        show_default=False,
    ),
]
KeyOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--key",
        "-k",
        metavar="FILE",
        help="Sign checkpoints with this key of keygen. Two while a key is changed; the old one may be a public one.",
        show_default=False,
    ),
]
WitnessOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--witness",
        metavar="FILE",
        help="The public key of a witness who may cosign the checkpoints. May be given several times.",
        show_default=False,
    ),
]
CheckpointOption = Annotated[
    float,
    typer.Option(
        "--checkpoint-seconds",
        min=0.1,
        max=SECONDS_MAX,
        metavar="SECONDS",
        help="How often what is new is signed.",
    ),
]
NoTablesOption = Annotated[
    bool, typer.Option("--no-tables", help="Only record and replay: answer no questions in SQL, and keep no tables.")
]
QueriesOption = Annotated[
    int, typer.Option("--queries", min=1, max=64, metavar="N", help="Questions in SQL that are worked on at once.")
]
QuerySecondsOption = Annotated[
    float, typer.Option("--query-seconds", min=0.1, max=86_400, metavar="SECONDS", help="What one question may take.")
]
QueryMemoryOption = Annotated[
    str, typer.Option("--query-memory", metavar="SIZE", help="What one question may take of memory; 64MiB or more.")
]

# With less there are questions of one row that no worker can answer.
_QUERY_MEMORY_LEAST: Final = 64 << 20


@guarded
def serve(
    database: DatabaseArgument,
    host: HostOption = "127.0.0.1",
    port: PortOption = 7777,
    reserve: ReserveOption = None,
    key: KeyOption = None,
    witness: WitnessOption = None,
    checkpoint_seconds: CheckpointOption = 60.0,
    no_tables: NoTablesOption = False,
    queries: QueriesOption = 2,
    query_seconds: QuerySecondsOption = 30.0,
    query_memory: QueryMemoryOption = "1GiB",
) -> Exit:
    """Serve a database over gRPC.

    Prints "listening on HOST:PORT" once it listens. SIGTERM or Ctrl-C lets running calls finish, and ends it.
    Below the reserve nothing more is recorded, and all that is recorded can still be read. With a key it signs
    checkpoints of the log: at an interval, when somebody asks for one, and at its end. Questions in SQL (heptalog sql)
    are answered from tables beside the database, DATABASE.tables, which processes of their own keep and ask.
    """
    import asyncio
    import logging
    import os
    import sys

    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from heptalog.cli.connections import opening
    from heptalog.cli.databases import DatabaseGame
    from heptalog.cli.sizes import size_of
    from heptalog.cli.sources import named
    from heptalog.service.config import LOG_FORMAT, Settings
    from heptalog.service.evidence.keys import load_public, load_ring
    from heptalog.service.server import serve as run

    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format=LOG_FORMAT)

    def announce(bound: int) -> None:
        print(f"listening on {f'[{host}]' if ':' in host else host}:{bound}", flush=True)  # noqa: T201  # the result

    if isinstance(named(str(database)), DatabaseGame):
        raise WrongUse(f"{database}: name a database, without a game")
    reserve_bytes = None if reserve is None else size_of(reserve, "--reserve")
    settings = Settings(
        str(database),
        host=host,
        port=port,
        reserve_bytes=reserve_bytes,
        checkpoint_seconds=checkpoint_seconds,
        queries_max=0 if no_tables else queries,
        query_seconds=query_seconds,
        query_memory_bytes=size_of(query_memory, "--query-memory", least=_QUERY_MEMORY_LEAST),
    )
    ring = load_ring(key) if key else None
    witnesses = load_public(witness or ())
    with opening(database):
        asyncio.run(run(settings, announce, ring, witnesses))
    return Exit.FINE
