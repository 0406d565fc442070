"""`heptalog reveal`: what shows a hidden hand to who has a copy without it."""

from typing import Annotated

import typer

from heptalog.cli.exits import Exit, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import GameArgument, OutOption

SeatOption = Annotated[
    str,
    typer.Option(
        "--seat", metavar="SEAT", help="Whose: a seat by its number, or a player by id or name.", show_default=False
    ),
]
RoundOption = Annotated[
    int | None, typer.Option("--round", min=1, metavar="N", help="Only of this round.", show_default=False)
]


@guarded
def reveal(game: GameArgument, seat: SeatOption, round_: RoundOption = None, out: OutOption = None) -> Exit:
    """Print what one seat was given in secret, with the salts.

    One JSON object a line, for heptalog verify BUNDLE --reveal FILE: each is held against what was committed to when
    it was dealt. Whoever has a line knows that hand, and nothing of any other.
    """
    from heptalog.cli.bundling import reveals_in_game
    from heptalog.cli.connections import Connections
    from heptalog.cli.exporting import write_out
    from heptalog.cli.render import counted
    from heptalog.cli.sources import one_game
    from heptalog.replay.evidence.reveals import encode_reveal

    with Connections() as connections:
        reveals = reveals_in_game(one_game(game), seat, round_, connections)
    lines = [encode_reveal(each) + b"\n" for each in reveals]
    write_out(out, lines)
    complain(f"{counted(len(reveals), 'hidden part')} revealed")
    return Exit.FINE
