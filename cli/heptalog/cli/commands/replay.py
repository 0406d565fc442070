"""`heptalog replay`: a game event by event."""

from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse
from heptalog.cli.guard import guarded
from heptalog.cli.options import AsOption, AtOption, Format, FormatOption, GameArgument

FromOption = Annotated[int, typer.Option("--from", min=0, metavar="N", help="Begin with event N.")]
ToOption = Annotated[
    int | None,
    typer.Option("--to", min=0, metavar="N", help="End with event N; no further is read.", show_default=False),
]
OutcomesOption = Annotated[
    bool, typer.Option("--outcomes", help="In json and jsonl: add the event's kind and what followed from it.")
]


@guarded
def replay(
    game: GameArgument,
    format_: FormatOption = Format.TEXT,
    at: AtOption = None,
    from_: FromOption = 0,
    to: ToOption = None,
    outcomes: OutcomesOption = False,
    as_: AsOption = "arbiter",
) -> Exit:
    """Replay a game event by event.

    In text: what happened, what followed from it, and the table after each round, as the viewer sees it; hands that it
    does not see are numbers. Each event is checked on the way: form, chain, seals and rules. Where the game is bad,
    what came before is still written, the finding goes to stderr, and the exit code is 1. For others than the arbiter
    all of the game is read first, for what was taken back they have not seen; of a bad one they are shown nothing.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.looking import looked_through
    from heptalog.cli.output import Objects, write_lines
    from heptalog.cli.render import ends_round, step_json, step_text, table_text
    from heptalog.cli.sources import one_game

    first, last = (from_, to) if at is None else (at, at)
    if at is not None and (from_ or to is not None):
        raise WrongUse("--at names one event; --from and --to name a part")
    if last is not None and last < first:
        raise WrongUse("--to comes before --from")
    source = one_game(game)
    shown = step = sight = None
    with Connections() as connections, Objects(is_list=format_ is Format.JSON, is_silent=format_ is Format.TEXT) as out:
        for step, sight in looked_through(source, connections, as_):
            if step.event.sequence >= first:
                shown = step
                if format_ is Format.TEXT:
                    write_lines(step_text(step, sight.viewer, sight.withheld))
                else:
                    out.write(step_json(step, with_outcomes=outcomes))
            if step.event.sequence == last:
                break
    if shown is None or (at is not None and shown.event.sequence != at):
        head = -1 if step is None else step.event.sequence
        raise WrongUse(f"{source.name} has no event {first}: its last is {head}")
    assert sight is not None, "something was shown"
    if format_ is Format.TEXT and not ends_round(shown):
        write_lines(table_text(shown.fold, sight.viewer, sight.withheld))
    return Exit.FINE
