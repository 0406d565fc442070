"""Feeds of a running server for the command line: whom they are for, and patience while it is away."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Final

from heptalog.cli.connections import Connections, reachable
from heptalog.cli.exits import WrongUse, complain
from heptalog.cli.rulesets import ruleset_named
from heptalog.cli.servers import SCHEME, Server, ServerGame
from heptalog.cli.sources import named
from heptalog.cli.viewers import viewer_named
from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.replay.rules import Role, Viewer
from heptalog.service.client import CaughtUp, FeedBatch, FeedFilter, FeedMessage

# Between two looks at whether a server is there again.
_PAUSE_SECONDS: Final = 1.0
_AWAY: Final = (Code.SERVER_UNREACHABLE, Code.DRAINING)


def followed(source: str) -> ServerGame | Server:
    """The server that is named, or the game of it. Raises WrongUse for anything else."""
    match named(source):
        case (ServerGame() | Server()) as found:
            return found
        case other:
            raise WrongUse(f"{other.name}: only a running server can be followed, {SCHEME}HOST:PORT")


def feed_filter(
    source: ServerGame | Server, viewer: str, connections: Connections, *, tournament: str, ruleset: str | None
) -> FeedFilter:
    """What is asked of the server.

    Raises WrongUse for a viewer or rules that there are not, and whatever the server raises.
    """
    rules = "" if ruleset is None else ruleset_named(ruleset)
    game_id = source.game_id if isinstance(source, ServerGame) else ""
    return FeedFilter(game_id, tournament, rules, _viewer(source, viewer, connections))


def _viewer(source: ServerGame | Server, viewer: str, connections: Connections) -> Viewer:
    if isinstance(source, Server):
        if viewer.upper() not in (Role.ARBITER, Role.PUBLIC):
            raise WrongUse(f"--as {viewer}: a seat is one of a game: name it, {SCHEME}HOST:PORT#GAME")
        return viewer_named(viewer, ())
    try:
        return viewer_named(viewer, connections.client(source.target).game(source.game_id).started.players)
    except HeptalogError as error:
        raise reachable(error, source.target) from error


def told(target: str, asked: FeedFilter, start: int | None, connections: Connections) -> Iterator[FeedMessage]:
    """What the server tells, without end. Once it has told where it is, it is waited for when it is away."""
    position, is_new, is_away = start, False, True
    while True:
        try:
            with closing(connections.client(target).subscribe(asked, after=position, is_patient=False)) as messages:
                for message in messages:
                    yield message
                    position = message.position
                    if isinstance(message, CaughtUp) and is_away:
                        complain(f"following {SCHEME}{target} from position {position} on; Ctrl-C ends it")
                        is_new, is_away = True, False
        except Unavailable as error:
            if error.code not in _AWAY or not is_new:
                raise reachable(error, target) from error
            if not is_away:
                complain(f"{SCHEME}{target} is away, and waited for")
            is_away = True
            time.sleep(_PAUSE_SECONDS)


def told_until_over(
    target: str, asked: FeedFilter, start: int | None, connections: Connections
) -> Iterator[FeedMessage]:
    """The same of one game, until it is over as it stands: an end that is told may have been taken back since."""
    is_new = False
    for message in told(target, asked, start, connections):
        yield message
        if isinstance(message, CaughtUp):
            is_new = True
            if connections.client(target).standing(asked.game_id).over:
                return
        elif isinstance(message, FeedBatch) and is_new:
            standing = message.events[-1].standing
            if standing is not None and standing.over:
                return
