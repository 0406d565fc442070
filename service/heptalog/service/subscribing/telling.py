"""Events as a feed tells them: as one viewer may have them now, with what followed from them by the rules."""

from heptalog.replay import codec
from heptalog.replay.errors import Code, HeptalogError, NotFound, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.fold import standing_of
from heptalog.replay.redaction import redacted_for
from heptalog.replay.rules import ARBITER
from heptalog.replay.words import names_of, tell_event, tell_outcome
from heptalog.service.live import LiveGame
from heptalog.service.store import Stored
from heptalog.service.subscribing.games import Games
from heptalog.service.subscribing.told import FeedEvent, FeedFilter, followed_by


def told(stored: Stored, games: Games, asked: FeedFilter, unread: dict[str, str]) -> FeedEvent:
    """An event as one feed tells it. What cannot be read is told so: it must not keep who follows from the rest.

    `unread` remembers the games of which that is so for as long as the caller wants. Raises Unavailable where it is
    the store that cannot be read.
    """
    code = unread.get(stored.game_id)
    if code is None:
        try:
            return _told(stored, games.game(stored.game_id, stored.sequence), games, asked)
        except HeptalogError as error:
            if isinstance(error, NotFound) or (isinstance(error, Unavailable) and error.code is not Code.RECORD_NEWER):
                raise
            code = unread[stored.game_id] = error.code
    return FeedEvent(stored.position, stored.game_id, stored.sequence, unread=code)


def _told(stored: Stored, game: LiveGame, games: Games, asked: FeedFilter) -> FeedEvent:
    event, _ = codec.decode(stored.record)
    shown, record = event, stored.record
    if event.body.sealed and asked.viewer != ARBITER:
        shown = _shown(stored, games, asked)
        record = codec.encode(shown)
    rules, names = game.fold.rules, names_of(game.fold.started)
    outcomes = game.fold.outcomes_at(stored.sequence, event.body)
    if asked.viewer != ARBITER and any(outcome.shows_hand_of for outcome in outcomes):
        # What was shown then may have been taken back since.
        outcomes = games.latest(stored.game_id).sight(stored.sequence, asked.viewer).outcomes(outcomes)
    return FeedEvent(
        stored.position,
        stored.game_id,
        stored.sequence,
        record,
        standing_of(stored.sequence, game.fold.states[stored.sequence]),
        followed_by(outcomes),
        (tell_event(rules, shown.body, names), *(tell_outcome(rules, outcome, names) for outcome in outcomes)),
    )


def _shown(stored: Stored, games: Games, asked: FeedFilter) -> Event:
    """The event as the viewer may have it by all that is durable of its game: the same that a copy of it has."""
    game = games.latest(stored.game_id)
    events = [codec.decode(record)[0] for record in game.records[: game.durable + 1]]
    copy = redacted_for(events, game.fold.until(len(events) - 1), asked.viewer, is_withheld=asked.is_withheld)
    return next(event for event in copy if event.sequence == stored.sequence)
