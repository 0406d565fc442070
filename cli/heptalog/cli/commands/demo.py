"""`heptalog demo`: the main job from end to end, on a real server, in under a minute."""

from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit
from heptalog.cli.guard import guarded

OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="Keep the database and the files here; those of an earlier demonstration are gone on with.",
        readable=False,
        show_default=False,
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", help="Which games are played.")]


@guarded
def demo(out: OutOption = None, seed: SeedOption = 7) -> Exit:
    """Show the whole program at work.

    Starts a real server on a free port, records a game of each kind through gRPC, replays one, verifies all, compares
    two, asks in SQL while it records, stops the server, proves a game to who has only a public key, audits the log, and
    asks that too.
    """
    from contextlib import nullcontext
    from tempfile import TemporaryDirectory

    from heptalog.cli.demonstration import demonstrate

    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="heptalog-") if out is None else nullcontext(str(out)) as folder:
        return demonstrate(Path(folder), seed)
