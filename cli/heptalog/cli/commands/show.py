"""`heptalog show`: how a game stands, as a viewer sees it."""

from heptalog.cli.exits import Exit
from heptalog.cli.guard import guarded
from heptalog.cli.options import AsOption, AtOption, Format, FormatOption, GameArgument


@guarded
def show(
    game: GameArgument, at: AtOption = None, as_: AsOption = "arbiter", format_: FormatOption = Format.TEXT
) -> Exit:
    """Show how a game stands, as a viewer sees it.

    The table, hands included, for the arbiter; for others what they may see. In json: the standing and the view.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.examine import step_at
    from heptalog.cli.output import write_document, write_lines, write_text
    from heptalog.cli.render import standing_text, table_text, view_text
    from heptalog.cli.sources import one_game
    from heptalog.cli.viewers import viewer_named
    from heptalog.replay.fold import view_of
    from heptalog.replay.rules import ARBITER
    from heptalog.replay.words import names_of

    with Connections() as connections:
        step = step_at(one_game(game), connections, at)
    fold = step.fold
    viewer = viewer_named(as_, fold.started.players)
    view = view_of(fold.rules, fold.state, viewer)
    if format_ is Format.TEXT:
        write_text(standing_text(step))
        write_lines(table_text(step) if viewer == ARBITER else ["", *view_text(view, names_of(fold.started))])
    else:
        write_document({"standing": fold.standing(), "view": view}, format_)
    return Exit.FINE
