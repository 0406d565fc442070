"""`heptalog show`: how a game stands, as a viewer sees it."""

from typing import TYPE_CHECKING, Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse
from heptalog.cli.guard import guarded
from heptalog.cli.options import AtOption, Format, FormatOption, GameArgument

if TYPE_CHECKING:
    from heptalog.replay.rules import Viewer

AsOption = Annotated[str, typer.Option("--as", metavar="VIEWER", help="arbiter (sees all), public, or seat:N.")]


@guarded
def show(
    game: GameArgument, at: AtOption = None, as_: AsOption = "arbiter", format_: FormatOption = Format.TEXT
) -> Exit:
    """Show how a game stands, as a viewer sees it.

    The table, hands included, for the arbiter; for others what they may see. In json: the standing and the view.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.examine import step_at
    from heptalog.cli.output import Objects, write_json, write_lines, write_text
    from heptalog.cli.render import standing_text, table_text, view_text
    from heptalog.cli.sources import one_game
    from heptalog.replay.fold import view_of
    from heptalog.replay.rules import ARBITER
    from heptalog.replay.words import names_of

    viewer = viewer_of(as_)
    with Connections() as connections:
        step = step_at(one_game(game), connections, at)
    fold = step.fold
    seat_count = len(fold.started.players)
    if viewer.seat >= seat_count:
        raise WrongUse(f"--as {as_}: the game has the seats 0 to {seat_count - 1}")
    view = view_of(fold.rules, fold.state, viewer)
    document = {"standing": fold.standing(), "view": view}
    match format_:
        case Format.JSON:
            write_json(document)
        case Format.JSONL:
            with Objects(is_list=False) as out:
                out.write(document)
        case Format.TEXT:
            write_text(standing_text(step))
            write_lines(table_text(step) if viewer == ARBITER else ["", *view_text(view, names_of(fold.started))])
    return Exit.FINE


def viewer_of(text: str) -> "Viewer":
    """Who looks. Raises WrongUse."""
    from heptalog.replay.rules import ARBITER, PUBLIC, Viewer

    kind, has_seat, seat = text.partition(":")
    if kind == "seat" and has_seat and seat.isascii() and seat.isdigit() and len(seat) < 10:
        return Viewer(int(seat))
    if has_seat or kind not in ("arbiter", "public"):
        raise WrongUse(f"--as {text}: a viewer is arbiter, public or seat:N")
    return ARBITER if kind == "arbiter" else PUBLIC
