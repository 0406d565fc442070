"""`heptalog show`: how a game stands, as a viewer sees it."""

from heptalog.cli.exits import Exit
from heptalog.cli.guard import guarded
from heptalog.cli.options import AsOption, AtOption, Format, FormatOption, GameArgument


@guarded
def show(
    game: GameArgument, at: AtOption = None, as_: AsOption = "arbiter", format_: FormatOption = Format.TEXT
) -> Exit:
    """Show how a game stands, as a viewer sees it.

    The table is the same for all; of hands that the viewer does not see only the number of cards or tiles. What was
    taken back later nobody but the arbiter has seen. In json: the standing and the view.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.looking import looked_at
    from heptalog.cli.output import write_document, write_lines, write_text
    from heptalog.cli.render import standing_text, table_text
    from heptalog.cli.sources import one_game

    with Connections() as connections:
        fold, sight = looked_at(one_game(game), connections, as_, at)
    if format_ is Format.TEXT:
        write_text(standing_text(fold))
        write_lines(table_text(fold, sight.viewer, sight.withheld))
    else:
        write_document({"standing": fold.standing(), "view": sight.view}, format_)
    return Exit.FINE
