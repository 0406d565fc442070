"""`heptalog legal`: what may be played."""

from itertools import islice
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, complain
from heptalog.cli.guard import guarded
from heptalog.cli.options import AtOption, Format, FormatOption, GameArgument, LimitOption

SeatOption = Annotated[
    int | None, typer.Option("--seat", min=0, metavar="N", help="Only this seat's moves.", show_default=False)
]


@guarded
def legal(
    game: GameArgument,
    at: AtOption = None,
    seat: SeatOption = None,
    limit: LimitOption = None,
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """List the legal moves of a game.

    In json and jsonl they are bodies of a game file. Rulings, which the arbiter may make at any time, are not listed.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.examine import step_at
    from heptalog.cli.output import Objects, write_text
    from heptalog.cli.render import body_json, standing_text
    from heptalog.cli.sources import one_game
    from heptalog.cli.viewers import no_such_seat
    from heptalog.replay.fold import legal_of
    from heptalog.replay.words import names_of, tell_event

    with Connections() as connections:
        step = step_at(one_game(game), connections, at)
    fold = step.fold
    seat_count = len(fold.started.players)
    if seat is not None and seat >= seat_count:
        raise no_such_seat(f"--seat {seat}", seat_count)
    moves = legal_of(fold.rules, fold.state)
    if seat is not None:
        moves = (move for move in moves if getattr(move, "seat", None) == seat)
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
        complain(f"no move: {standing_text(step)}")
    elif next(moves, None) is not None:
        complain(f"these are the first {count}; there are more")
    return Exit.FINE
