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
    """What the server tells, without end. Once it has told something, it is waited for when it is away."""
    position, is_begun, is_announced, is_missed = start, False, False, False
    while True:
        try:
            with closing(connections.client(target).subscribe(asked, after=position, is_patient=False)) as messages:
                for message in messages:
                    yield message
                    position, is_begun, is_missed = message.position, True, False
                    if isinstance(message, CaughtUp) and not is_announced:
                        complain(f"following {SCHEME}{target} from position {position} on; Ctrl-C ends it")
                        is_announced = True
        except Unavailable as error:
            if error.code not in _AWAY or not is_begun:
                raise reachable(error, target) from error
            if not is_missed:
                complain(f"{SCHEME}{target} is away, and waited for")
            is_announced, is_missed = False, True
            time.sleep(_PAUSE_SECONDS)


def told_until_over(
    target: str, asked: FeedFilter, start: int | None, connections: Connections
) -> Iterator[FeedMessage]:
    """The same of one game, until it is over as it stands: an end that is told may have been taken back since."""
    for message in told(target, asked, start, connections):
        yield message
        if _may_be_over(message) and _is_over(target, asked.game_id, connections):
            return


def _may_be_over(message: FeedMessage) -> bool:
    if isinstance(message, FeedBatch):
        standing = message.events[-1].standing
        return standing is not None and standing.over
    return isinstance(message, CaughtUp)


def _is_over(target: str, game_id: str, connections: Connections) -> bool:
    """Whether it is now; where the server is away, what it tells next will say."""
    try:
        return connections.client(target).standing(game_id).over
    except Unavailable as error:
        if error.code in _AWAY:
            return False
        raise
