"""A running server under audit: what it serves, held against the records that it serves.

The log goes on growing meanwhile, so an audit looks at it as it was at one position. What lies beside the records in
the server's database is for who holds that database to audit.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import Any, ClassVar

from msgspec import Struct

from heptalog.replay.codec import hash_in
from heptalog.replay.errors import Code, Corrupt, HeptalogError, NotFound
from heptalog.replay.events import Event
from heptalog.replay.fold import status_of
from heptalog.service.auditing.findings import Tell, found, found_by
from heptalog.service.auditing.games import GameAudit
from heptalog.service.client import Client
from heptalog.service.config import PAGE_SIZE_MAX
from heptalog.service.store import GameEntry, Stored
from heptalog.service.store.duck_kept import BUCKET_WIDTH, NO_SHAPE, KeptIncident, KeptRefusal, Shape
from heptalog.service.store.duck_schema import Difference
from heptalog.service.store.kept import KeptEnding, KeptEvent, KeptGame, game_columns


class _Known(Struct, frozen=True):
    """A game of the list, as far as it is needed to find its events; or why the server cannot even list it."""

    game_id: str
    events: int
    is_later: bool  # whether it has events after the position that is audited
    unread: HeptalogError | None = None


class ServerSource:
    """What a server gives of its log up to a position."""

    has_columns: ClassVar[bool] = False

    def __init__(self, client: Client, last: int) -> None:
        self._client = client
        self._last = last
        self._listed: dict[int, _Known] | None = None
        # What it says of the games that are looked at.
        self._entries: dict[int, GameEntry] = {}
        # The games of which the server itself says that they are damaged.
        self._broken: dict[int, Corrupt] = {}

    def begin_anew(self) -> bool:
        """Each call stands for itself, whatever became of others."""
        return True

    def extent(self) -> tuple[int, int]:
        """The greatest position; a server that serves fewer events than that is found out."""
        return self._last, self._last

    def spans(self, width: int) -> list[tuple[int, int]]:
        """All spans up to there."""
        return [(low // width, min(width, self._last - low)) for low in range(0, self._last, width)]

    def strays(self, limit: int) -> list[tuple[Any, ...]]:
        """None that are served."""
        return []

    def links(self, low: int, high: int) -> Iterator[tuple[int, bytes]]:
        """The hashes in a span."""
        with closing(self._client.read(start=low, limit=high - low + 1)) as records:
            for stored in records:
                yield stored.position, hash_in(stored.record)

    def tree_shape(self) -> dict[int, Shape]:
        """A server shows its tree by its checkpoints."""
        return {}

    def tree(self, level: int, low: int, high: int) -> Iterator[tuple[int, bytes]]:
        """None that is served."""
        return iter(())

    def checkpoints(self, low: int, high: int) -> Iterator[tuple[int, int, str]]:
        """The checkpoints that it has signed; those after the position that is audited are not of it."""
        for checkpoint in self._client.checkpoints(after=max(low, 1) - 1):
            if checkpoint.size > min(high, self._last):
                return
            yield checkpoint.size, checkpoint.size, checkpoint.note

    def checkpoint_shape(self) -> Shape:
        """They are known by their sizes alone."""
        return NO_SHAPE

    def refusals(self) -> Iterator[KeptRefusal]:
        """None that are served."""
        return iter(())

    def incidents(self) -> list[KeptIncident]:
        """None that are served."""
        return []

    def differences(self) -> list[Difference]:
        """A server shows no tables."""
        return []

    def buckets(self, table: str) -> list[tuple[int, int]]:
        """How much there is of the games, by their numbers; all of it is told as events."""
        if table != "events":
            return []
        counts: dict[int, int] = {}
        for number, known in self._known().items():
            bucket = number - number % BUCKET_WIDTH
            counts[bucket] = counts.get(bucket, 0) + known.events
        return sorted(counts.items())

    def game_count(self) -> int:
        """How many games the list has."""
        return len(self._known())

    def games(self, low: int, high: int) -> list[KeptGame]:
        """What the list of games says of these."""
        self._broken = {}
        self._entries = {}
        games = []
        for number, known in sorted(self._known().items()):
            if low <= number <= high and self._is_there(known):
                if known.unread is None:
                    entry = self._entries[number] = self._entry(number, known)
                    games.append(KeptGame(number, _listed_columns(entry)))
                else:
                    # Only its name is known; that it is not examined is for `events` to see to.
                    games.append(KeptGame(number, (known.game_id,)))
        return games

    def _entry(self, number: int, known: _Known) -> GameEntry:
        try:
            return self._client.game(known.game_id)
        except Corrupt as error:
            # A list says it all the same, without looking at what the game is made of.
            self._broken[number] = error
        entries = self._client.games(page_size=PAGE_SIZE_MAX, unread=lambda *_: None)
        return next(entry for entry in entries if entry.game_id == known.game_id)

    def endings(self, low: int, high: int) -> list[KeptEnding]:
        """None that are served; how a game stands is looked at by `judge`."""
        return []

    def events(self, low: int, high: int) -> Iterator[KeptEvent]:
        """The events of these games; in place of one that is not given stands one without a record.

        Raises what the server says of a game that it cannot list, or of one of which it names no event.
        """
        for number, known in sorted(self._known().items()):
            if low <= number <= high:
                if known.unread is not None:
                    raise known.unread
                for kept in self._events(number, known, 0, known.events - 1):
                    if kept.position > self._last:
                        break
                    yield kept

    def _events(self, number: int, known: _Known, low: int, high: int) -> Iterator[KeptEvent]:
        """Those of a game from one sequence to another: where not all are given, first the one half, then the other."""
        after = low
        try:
            with closing(self._client.read(known.game_id, start=low, limit=high - low + 1)) as records:
                for stored in records:
                    yield _bare(number, stored)
                    after = stored.sequence + 1
            return
        except Corrupt as error:
            said = _position_in(error)
            if not said:
                # A block of its database: which events lie in it nobody says, and each would be asked for alone.
                raise
            self._broken.setdefault(number, error)
        if after > high:
            return
        if after == high:
            yield KeptEvent(said, number, b"", high, "", None, None, None, None, None)
            return
        middle = (after + high) // 2
        yield from self._events(number, known, after, middle)
        yield from self._events(number, known, middle + 1, high)

    def without_number(self, limit: int) -> tuple[list[str], int]:
        """None that are served."""
        return [], 0

    def judge(self, game: GameAudit, number: int, tell: Tell) -> None:
        """Tell where the server says that a game stands otherwise than its events do."""
        if game.fold is None or not game.is_folded:
            # The fault is told where it is.
            return
        if (error := self._broken.get(number)) is not None:
            tell(found_by(error, game_id=self._known()[number].game_id))
        place: dict[str, Any] = {"game_id": game.game_id, "sequence": game.fold.sequence}
        try:
            standing = self._client.state(game.game_id, sequence=game.fold.sequence).standing
        except (NotFound, Corrupt):
            standing = None
        if standing != game.fold.standing():
            tell(found(Code.COLUMNS_DIFFER, "the standing that is served is not what the rules say", **place))
        entry = self._entries[number]
        is_now = entry.head.position <= self._last
        if is_now and (entry.head.sequence, entry.status) != (game.fold.sequence, status_of(game.fold.state)):
            tell(found(Code.COLUMNS_DIFFER, "the list of games has another head or status", **place))

    def _known(self) -> dict[int, _Known]:
        if self._listed is None:
            # A list has the games in the order of creation, which is that of their numbers.
            games: list[_Known] = []

            def unread(game_id: str, error: HeptalogError) -> None:
                games.append(_Known(game_id, 0, is_later=True, unread=error))

            for entry in self._client.games(page_size=PAGE_SIZE_MAX, unread=unread):
                is_later = entry.head.position > self._last
                games.append(_Known(entry.game_id, entry.head.sequence + 1, is_later))
            self._listed = dict(enumerate(games, start=1))
        return self._listed

    def _is_there(self, known: _Known) -> bool:
        """Whether a game had begun at the position that is audited."""
        if not known.is_later:
            return True
        try:
            with closing(self._client.read(known.game_id, limit=1)) as records:
                return any(stored.position <= self._last for stored in records)
        except Corrupt as error:
            return _position_in(error) <= self._last


def last_of(client: Client) -> int:
    """The position of the last event that a server has now."""
    try:
        with closing(client.read(is_backwards=True, limit=1)) as records:
            return max((stored.position for stored in records), default=0)
    except Corrupt as error:
        if position := _position_in(error):
            return position
        raise


def hash_at(client: Client, position: int) -> bytes:
    """The hash of the event at a position; nothing where there is none, or none that can be given."""
    if not position:
        return b""
    try:
        with closing(client.read(start=position, limit=1)) as records:
            return b"".join(hash_in(stored.record) for stored in records)
    except Corrupt:
        return b""


def _position_in(error: Corrupt) -> int:
    """Where a server says that something is wrong; 0 where it does not say."""
    position = error.facts.get("position")
    return position if isinstance(position, int) else 0


def _bare(number: int, stored: Stored) -> KeptEvent:
    return KeptEvent(stored.position, number, stored.record, stored.sequence, "", None, None, None, None, None)


def _listed_columns(entry: GameEntry) -> tuple[Any, ...]:
    """What a list says, by GAME_COLUMNS without the record."""
    first = Event(0, entry.started, game_id=entry.game_id, recorded_at=entry.created_at)
    return game_columns(first, b"")[:-1]
