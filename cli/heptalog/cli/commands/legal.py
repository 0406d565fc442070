"""`heptalog legal`: what may be played."""

from itertools import islice
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import AsOption, AtOption, Format, FormatOption, GameArgument, LimitOption

SeatOption = Annotated[
    str | None,
    typer.Option(
        "--seat",
        metavar="SEAT",
        help="Only the moves of a seat by its number, or of a player by id or name.",
        show_default=False,
    ),
]


@guarded
def legal(
    game: GameArgument,
    at: AtOption = None,
    seat: SeatOption = None,
    limit: LimitOption = None,
    format_: FormatOption = Format.TEXT,
    as_: AsOption = "arbiter",
) -> Exit:
    """List the legal moves of a game.

    The arbiter sees all; a seat its own moves, and the public none, for they tell who holds what. In json and jsonl
    they are bodies of a game file. Rulings, which the arbiter may make at any time, are not listed.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.looking import looked_at
    from heptalog.cli.output import Objects, write_text
    from heptalog.cli.render import body_json, standing_text
    from heptalog.cli.sources import one_game
    from heptalog.cli.viewers import seat_named
    from heptalog.replay.rules import ARBITER, Role
    from heptalog.replay.words import names_of, tell_event

    with Connections() as connections:
        fold, sight = looked_at(one_game(game), connections, as_, at)
    only = None if seat is None else seat_named(seat, fold.started.players)
    if only not in (None, sight.viewer.seat) and sight.viewer != ARBITER:
        raise WrongUse(f"--seat {seat}: only the arbiter and the seat itself see its moves")
    moves = sight.legal()
    if only is not None:
        moves = (move for move in moves if getattr(move, "seat", None) == only)
    names = names_of(fold.started)
    count = 0
    with Objects(is_list=format_ is Format.JSON, is_silent=format_ is Format.TEXT) as out:
        for move in islice(moves, limit):
            count += 1
            if format_ is Format.TEXT:
                write_text(tell_event(fold.rules, move, names))
            else:
                out.write(body_json(move))
    if not count:
        told = "no move"
        if fold.state.over:
            told = "the game is over, so there is no move"
        elif sight.viewer.role is Role.SEAT:
            told = f"no move that {names[sight.viewer.seat]} sees"
        elif sight.viewer != ARBITER:
            told = "moves are each seat's own, so the public sees none"
        complain(f"{told}: {standing_text(fold)}")
    elif next(moves, None) is not None:
        complain(f"these are the first {count}; there are more")
    return Exit.FINE
