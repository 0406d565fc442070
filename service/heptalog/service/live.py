"""Games that are being played, kept ready: their folded states, their records and the ids they know.

Only the writer changes a live game. It may run ahead of the disk; readers look at no state past `durable`, and every
state there is frozen, so they need no lock.
"""

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import closing
from threading import Lock

from heptalog.replay import codec
from heptalog.replay.errors import Code, Corrupt, HeptalogError
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold
from heptalog.replay.plain import plain_game
from heptalog.replay.rules import Viewer
from heptalog.replay.sights import Sight, Sights
from heptalog.replay.verify import Examiner
from heptalog.service.store import Entry, Head, LogStore, Stored


class LiveGame:
    """One game: its fold, its records, and which event id has which sequence."""

    __slots__ = ("durable", "event_ids", "fold", "game_id", "records")

    def __init__(self, game_id: str, fold: Fold, records: list[bytes], event_ids: dict[str, int]) -> None:
        self.game_id = game_id
        self.fold = fold
        self.records = records
        self.event_ids = event_ids
        self.durable = len(records) - 1

    @property
    def head_hash(self) -> bytes:
        """The hash of the last event, durable or not."""
        return codec.hash_in(self.records[-1])

    @property
    def is_ahead(self) -> bool:
        """Whether there are events that are not durable yet."""
        return self.durable < len(self.records) - 1

    def hash_at(self, sequence: int) -> bytes:
        """The hash of an event."""
        return codec.hash_in(self.records[sequence])

    def sight(self, sequence: int, viewer: Viewer) -> Sight:
        """What a viewer may see after a durable event, by all that is durable."""
        head = self.durable
        return Sights(self.fold, head, viewer, lambda: [event.body for event in self.events(head)]).at(sequence)

    def events(self, last: int) -> list[Event]:
        """The events up to this one, decoded."""
        return [codec.decode(record)[0] for record in self.records[: last + 1]]

    def truncate(self, sequence: int) -> None:
        """Fold nothing after `sequence`: what was folded and not yet taken did not happen after all."""
        self.fold.truncate(sequence)

    def take(self, entries: Sequence[Entry]) -> None:
        """Have the records of events that the fold has taken already."""
        for entry in entries:
            self.event_ids[entry.event.event_id] = entry.event.sequence
            self.records.append(entry.record)


class LiveGames:
    """The games last used, as many as fit in a number of events; a game in the middle of a commit stays."""

    def __init__(self, events_max: int) -> None:
        self._events_max = events_max
        self._games: OrderedDict[str, LiveGame] = OrderedDict()
        self._lock = Lock()

    def find(self, game_id: str) -> LiveGame | None:
        """The live game, or None where it is not at hand."""
        with self._lock:
            game = self._games.get(game_id)
            if game is not None:
                self._games.move_to_end(game_id)
            return game

    def keep(self, game: LiveGame) -> None:
        """Keep a game ready."""
        with self._lock:
            self._games[game.game_id] = game

    def forget(self, game_id: str) -> None:
        """Let go of a game whose memory can no longer be trusted; the log still has it."""
        with self._lock:
            self._games.pop(game_id, None)

    def shrink(self) -> None:
        """Let go of the games not used for longest, until the rest fits; a game that runs ahead of the disk stays."""
        with self._lock:
            total = sum(len(game.records) for game in self._games.values())
            for game in list(self._games.values())[:-1]:
                if total <= self._events_max:
                    return
                if not game.is_ahead:
                    del self._games[game.game_id]
                    total -= len(game.records)


def load(store: LogStore, game_id: str) -> LiveGame | None:
    """The game as the log has it, its chain and its rules checked again; None where there is none.

    Raises Corrupt, with game and sequence, where what is stored does not hold. Where a newer version has recorded it
    that is no damage: Refused (RULESET_UNKNOWN) for its rules, Unavailable (RECORD_NEWER) for an event.
    """
    return live_game(game_id, list(store.read_game(game_id)))


def live_game(game_id: str, records: Sequence[Stored]) -> LiveGame | None:
    """The same of records that somebody has read."""
    return _plain(game_id, [stored.record for stored in records]) or _examined(game_id, records)


def head_at(store: LogStore, game_id: str, sequence: int) -> Head | None:
    """What a game's head was when `sequence` was its last event; None where it has no such event."""
    with closing(store.read_game(game_id, start=sequence, limit=1)) as records:
        for stored in records:
            return Head(sequence, codec.hash_in(stored.record), stored.position)
    return None


def _plain(game_id: str, records: list[bytes]) -> LiveGame | None:
    """A live game from its records, where they are plain and nothing is wrong with them."""
    game = plain_game(records)
    if game is None:
        return None
    event_ids = {event_id.decode(): sequence for sequence, event_id in enumerate(game.event_ids, 1)}
    return LiveGame(game_id, game.fold, records, {game.first.event_id: 0} | event_ids)


def _examined(game_id: str, records: Sequence[Stored]) -> LiveGame | None:
    """The same event by event, which also tells what is wrong."""
    examiner = Examiner()
    kept: list[bytes] = []
    event_ids: dict[str, int] = {}
    for stored in records:
        try:
            event, public = codec.decode(stored.record)
            examiner.advance(event, public)
        except HeptalogError as error:
            place = {"game_id": game_id, "at_sequence": stored.sequence, "position": stored.position}
            if error.code in (Code.RULESET_UNKNOWN, Code.RECORD_NEWER):
                error.facts.update(place)
                raise
            if isinstance(error, Corrupt):
                raise Corrupt(error.code, rule=error.rule, **(error.facts | place)) from error
            raise Corrupt(Code.RECORD_DAMAGED, rule=error.rule, **place) from error
        kept.append(stored.record)
        event_ids[event.event_id] = event.sequence
    if examiner.fold is None:
        return None
    return LiveGame(game_id, examiner.fold, kept, event_ids)
