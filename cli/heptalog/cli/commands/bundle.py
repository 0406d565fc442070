"""`heptalog bundle`: one game and the proof of it, in one file."""

from pathlib import Path
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse, complain
from heptalog.cli.guard import guarded

GameArgument = Annotated[
    str, typer.Argument(metavar="GAME", help="DATABASE.duckdb#GAME or grpc://HOST:PORT#GAME.", show_default=False)
]
ViewerOption = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="VIEWER",
        help="Who is to read it: public, arbiter (has all), seat:N, or a player by id or name.",
    ),
]
KeysOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--key",
        "-k",
        metavar="FILE",
        help="The log's private key. Signs a checkpoint in a database where none reaches as far as the game.",
        show_default=False,
    ),
]
WithholdOption = Annotated[
    bool, typer.Option("--withhold", help="Leave out what the rules have not shown, though the game is over.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FILE|FOLDER", help="Instead of stdout, which is -.", readable=False, show_default=False
    ),
]


@guarded
def bundle(
    game: GameArgument,
    viewer: ViewerOption = "public",
    keys: KeysOption = None,
    withhold: WithholdOption = False,
    out: OutOption = None,
) -> Exit:
    """Write a game and its proof as one file.

    The file needs no server: heptalog verify FILE --key PUB shows that the log has the game so, and who says it. Parts
    that are hidden from who is to read it are left out, and can be shown later (heptalog reveal). By default nobody's
    secrets are in it, for a file goes from hand to hand. A file is written whole or not at all.
    """
    from heptalog.cli.bundling import bundled
    from heptalog.cli.connections import Connections
    from heptalog.cli.exporting import file_name, write_whole
    from heptalog.cli.files import FileGame
    from heptalog.cli.output import write_bytes
    from heptalog.cli.render import counted
    from heptalog.cli.servers import ServerGame
    from heptalog.cli.sources import one_game
    from heptalog.replay.words import printable

    named = one_game(game)
    if isinstance(named, FileGame):
        raise WrongUse(f"{game}: a bundle comes out of a database or a server, which can prove that it has the game")
    if keys and isinstance(named, ServerGame):
        raise WrongUse("--key is for a database file; a server signs with its own")
    with Connections() as connections:
        lines, examined = bundled(named, viewer, keys or (), connections, is_withheld=withhold)
    if out is None or out == Path("-"):
        write_bytes(b"".join(lines))
    else:
        name = file_name(named.game_id).removesuffix(".jsonl") + ".bundle"
        write_whole(out / name if out.is_dir() else out, lines)
    sealed = f", {counted(examined.hidden, 'hidden part')} sealed" if examined.hidden else ""
    place = f"position {examined.position:,} of {examined.log.size:,} in the log {examined.log.origin}"
    complain(printable(f"{counted(examined.bundle.events, 'event')}{sealed}; {place}"))
    return Exit.FINE
