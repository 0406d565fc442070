"""Events as a feed tells them: as one viewer may have them now, with what followed from them by the rules."""

from heptalog.replay import codec
from heptalog.replay.errors import Code, HeptalogError, NotFound, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.fold import standing_of
from heptalog.replay.redaction import redacted_for
from heptalog.replay.rules import ARBITER
from heptalog.replay.words import names_of, tell_event, tell_outcome
from heptalog.service.followed import followed_by
from heptalog.service.store import Stored
from heptalog.service.subscribing.games import Games
from heptalog.service.subscribing.told import FeedEvent, FeedFilter


class Telling:
    """One message of a feed in the making: what is looked up for it is looked up once, and forgotten with it."""

    def __init__(self, games: Games, asked: FeedFilter) -> None:
        self._games = games
        self._asked = asked
        self._unread: dict[str, str] = {}
        self._copies: dict[str, list[Event]] = {}

    def event(self, stored: Stored) -> FeedEvent | None:
        """An event as the feed tells it; None where it is of no game that is asked for.

        What cannot be read is told so: it must not keep who follows from the rest. Raises Unavailable where it is the
        store that cannot be read.
        """
        code = self._unread.get(stored.game_id)
        if code is None:
            try:
                return self._told(stored) if self._games.is_wanted(stored, self._asked) else None
            except HeptalogError as error:
                is_of_store = isinstance(error, Unavailable) and error.code is not Code.RECORD_NEWER
                if isinstance(error, NotFound) or is_of_store:
                    raise
                code = self._unread[stored.game_id] = error.code
        return FeedEvent(stored.position, stored.game_id, stored.sequence, unread=code)

    def _told(self, stored: Stored) -> FeedEvent:
        game = self._games.game(stored.game_id, stored.sequence)
        event, _ = codec.decode(stored.record)
        shown, record = event, stored.record
        if event.body.sealed and self._asked.viewer != ARBITER:
            shown = self._copy(stored)[stored.sequence]
            record = codec.encode(shown)
        rules, names = game.fold.rules, names_of(game.fold.started)
        outcomes = game.fold.outcomes_at(stored.sequence, event.body)
        if self._asked.viewer != ARBITER and any(outcome.shows_hand_of for outcome in outcomes):
            # What was shown then may have been taken back since.
            outcomes = self._games.latest(stored.game_id).sight(stored.sequence, self._asked.viewer).outcomes(outcomes)
        return FeedEvent(
            stored.position,
            stored.game_id,
            stored.sequence,
            record,
            standing_of(stored.sequence, game.fold.states[stored.sequence]),
            followed_by(outcomes),
            (tell_event(rules, shown.body, names), *(tell_outcome(rules, outcome, names) for outcome in outcomes)),
        )

    def _copy(self, stored: Stored) -> list[Event]:
        """The game of an event as the viewer may have it by all that is durable of it, that event included."""
        copy = self._copies.get(stored.game_id, [])
        if len(copy) <= stored.sequence:
            game = self._games.latest(stored.game_id)
            events = game.events(game.durable)
            fold = game.fold.until(len(events) - 1)
            copy = list(redacted_for(events, fold, self._asked.viewer, is_withheld=self._asked.is_withheld))
            self._copies[stored.game_id] = copy
        return copy
