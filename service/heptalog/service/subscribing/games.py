"""The games that feeds tell of: those that are being played, those read last, and which of all are wanted."""

from collections import OrderedDict
from threading import Lock
from typing import Final, NamedTuple

from heptalog.replay.codec import decode
from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import GameStarted
from heptalog.service.live import LiveGame, LiveGames
from heptalog.service.positions import Positions
from heptalog.service.store import LogStore, Stored
from heptalog.service.store.batches import ruleset_of
from heptalog.service.subscribing.told import FeedFilter

# Of those read from the log, for who catches up: about 30 MB.
_EVENTS_MAX: Final = 50_000
# So many it is remembered of what they are.
_KINDS_MAX: Final = 65_536


class _Kind(NamedTuple):
    """What a filter asks of a game; it never changes."""

    ruleset: str
    tournament: str


class Games:
    """Safe from any thread."""

    def __init__(self, store: LogStore, positions: Positions) -> None:
        self._store = store
        self._positions = positions
        self._read = LiveGames(_EVENTS_MAX)
        self._kinds: OrderedDict[str, _Kind] = OrderedDict()
        self._lock = Lock()

    def game(self, game_id: str, sequence: int) -> LiveGame:
        """A game with this event. Raises what is wrong with its record."""
        game = self._positions.at_hand(game_id, sequence) or self._read.find(game_id)
        if game is None or game.durable < sequence:
            game = self._positions.game(game_id, sequence)
            # One that is being played is the writer's to keep, and to forget.
            if game is not self._positions.at_hand(game_id, sequence):
                self._read.keep(game)
                self._read.shrink()
        return game

    def latest(self, game_id: str) -> LiveGame:
        """A game with all that is durable of it now."""
        return self.game(game_id, self._positions.head(game_id).sequence)

    def is_wanted(self, stored: Stored, asked: FeedFilter) -> bool:
        """Whether a feed tells of the game of this record."""
        if asked.game_id and stored.game_id != asked.game_id:
            return False
        if not asked.ruleset and not asked.tournament:
            return True
        kind = self._kind(stored)
        return asked.ruleset in ("", kind.ruleset) and asked.tournament in ("", kind.tournament)

    def _kind(self, stored: Stored) -> _Kind:
        with self._lock:
            if (known := self._kinds.get(stored.game_id)) is not None:
                return known
        kind = _kind_in(stored) or self._kind_kept(stored.game_id)
        with self._lock:
            self._kinds[stored.game_id] = kind
            if len(self._kinds) > _KINDS_MAX:
                self._kinds.popitem(last=False)
        return kind

    def _kind_kept(self, game_id: str) -> _Kind:
        """From what the store keeps beside the record, which can be read where that is newer or damaged."""
        entry = self._store.game(game_id)
        assert entry is not None, "what has an event is a game"
        return _Kind(entry.ruleset, entry.started.tournament)


def _kind_in(stored: Stored) -> _Kind | None:
    """From the first record of a game, so that who reads all of the log asks of none; None from any other."""
    if stored.sequence:
        return None
    try:
        started = decode(stored.record)[0].body
    except HeptalogError:
        return None
    return _Kind(ruleset_of(started), started.tournament) if isinstance(started, GameStarted) else None
