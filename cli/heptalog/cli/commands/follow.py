"""`heptalog follow`: what is being recorded, event by event."""

from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse
from heptalog.cli.guard import guarded
from heptalog.cli.options import ARBITER, AsOption, Format, FormatOption, RulesetOption, TournamentOption

SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="grpc://HOST:PORT, or one #GAME of it.", show_default=False)
]
AfterOption = Annotated[
    int | None,
    typer.Option(
        "--after-position",
        min=0,
        metavar="N",
        help="Begin after this position of the log. By default a game is told whole, a log from now on.",
        show_default=False,
    ),
]
UntilOverOption = Annotated[bool, typer.Option("--until-over", help="End once the game that is followed is over.")]


@guarded
def follow(
    source: SourceArgument,
    as_: AsOption = ARBITER,
    tournament: TournamentOption = "",
    ruleset: RulesetOption = None,
    after: AfterOption = None,
    until_over: UntilOverOption = False,
    format_: FormatOption = Format.TEXT,
) -> Exit:
    """Follow what is being recorded, event by event, until Ctrl-C.

    In text: what happened and what followed from it. In jsonl: the event as in a game file, how its game stands and
    what followed. After a cut connection, or while the server starts anew, it waits and goes on where it was.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.following import events, feed_filter, followed
    from heptalog.cli.output import Objects, flushed, write_text
    from heptalog.cli.render import feed_json, feed_text

    if format_ is Format.JSON:
        raise WrongUse("a feed is no document, for it has no end; jsonl is one object a line")
    target, game_id = followed(source)
    if until_over and not game_id:
        raise WrongUse("--until-over is about one game: name it, grpc://HOST:PORT#GAME")
    with Connections() as connections, Objects(is_list=False, is_silent=format_ is Format.TEXT) as out:
        asked = feed_filter(target, game_id, as_, connections, tournament=tournament, ruleset=ruleset)
        start = after if after is not None or not game_id else 0
        for event in events(target, asked, start, connections):
            if format_ is Format.TEXT:
                write_text(feed_text(event, is_one_game=bool(game_id)))
            else:
                out.write(feed_json(event))
            flushed()
            if until_over and event.standing is not None and event.standing.over:
                break
    return Exit.FINE
