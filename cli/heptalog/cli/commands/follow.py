"""`heptalog follow`: what is being recorded, event by event."""

from enum import StrEnum
from typing import Annotated

import typer

from heptalog.cli.exits import Exit, WrongUse
from heptalog.cli.guard import guarded
from heptalog.cli.options import ARBITER, AsOption, RulesetOption, TournamentOption


class FeedForm(StrEnum):
    """The form of what has no end."""

    TEXT = "text"
    JSONL = "jsonl"


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
UntilOverOption = Annotated[
    bool, typer.Option("--until-over", help="End once all is told of a game that is over as it stands.")
]
FeedFormOption = Annotated[
    FeedForm,
    typer.Option(
        "--format",
        "-f",
        metavar="|".join(FeedForm),
        case_sensitive=False,
        help="text for people; jsonl is one object a line.",
    ),
]


@guarded
def follow(
    source: SourceArgument,
    as_: AsOption = ARBITER,
    tournament: TournamentOption = "",
    ruleset: RulesetOption = None,
    after: AfterOption = None,
    until_over: UntilOverOption = False,
    format_: FeedFormOption = FeedForm.TEXT,
) -> Exit:
    """Follow what is being recorded, until Ctrl-C.

    In text: what happened and what followed from it. In jsonl: how the game stands, what followed, and the event as in
    a game file. After a cut connection, or while the server starts anew, it waits and goes on where it was.
    """
    from heptalog.cli.connections import Connections
    from heptalog.cli.following import feed_filter, followed, told, told_until_over
    from heptalog.cli.output import Objects, check_heard, flushed, write_text
    from heptalog.cli.render import feed_json, feed_text
    from heptalog.cli.servers import ServerGame
    from heptalog.service.client import FeedBatch

    found = followed(source)
    is_game = isinstance(found, ServerGame)
    if until_over and not is_game:
        raise WrongUse("--until-over is about one game: name it, grpc://HOST:PORT#GAME")
    is_text = format_ is FeedForm.TEXT
    with Connections() as connections, Objects(is_list=False, is_silent=is_text) as out:
        asked = feed_filter(found, as_, connections, tournament=tournament, ruleset=ruleset)
        start = 0 if is_game and after is None else after
        tell = told_until_over if until_over else told
        for message in tell(found.target, asked, start, connections):
            for event in message.events if isinstance(message, FeedBatch) else ():
                if is_text:
                    write_text(feed_text(event, is_one_game=is_game))
                else:
                    out.write(feed_json(event))
            flushed()
            # Where there is nothing to write for a while, nothing else would tell.
            check_heard()
    return Exit.FINE
