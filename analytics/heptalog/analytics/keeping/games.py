"""The games that are followed: folded as far as the log was read, as many of them as are held easily.

One that is not held is read whole when it goes on. One with a record that cannot be read here, because it is damaged or
newer, stays as it was before that record and is named in `unread`: it must not stop the others.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from heptalog.analytics.projecting.game import GameProjection
from heptalog.analytics.rating import RatedGame, result_of
from heptalog.analytics.sources import Recorded, Source
from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, Corrupt, HeptalogError, problem_of
from heptalog.replay.events import Event

# How many events are held folded; each takes about 700 bytes.
EVENTS_HELD_MAX: Final = 500_000
# So many games are read with one question, and of more than that no more is taken at once.
_READ_AT_ONCE: Final = 64
_READ_MAX: Final = 512
# Of more that cannot be read each is counted, and no longer told of.
_TOLD_MAX: Final = 10
_log = logging.getLogger(__name__)


class Game:
    """A game that is held. `rated` is by what the tables rate it, as they were written last; None where they do not."""

    __slots__ = ("projection", "rated")

    def __init__(self, projection: GameProjection, rated: RatedGame | None) -> None:
        self.projection = projection
        self.rated = rated


class Games:
    """Those that are held, the one longest untouched first."""

    def __init__(self, unread: Iterable[str] = (), *, events_max: int = EVENTS_HELD_MAX) -> None:
        self._events_max = events_max
        self._held: dict[str, Game] = {}
        self._changed: dict[str, Game] = {}
        self._events = 0
        self.unread: set[str] = set(unread)

    @property
    def is_full(self) -> bool:
        """Whether so much has changed that it has to be written before more is taken."""
        return self._events > self._events_max

    @property
    def has_changed(self) -> bool:
        """Whether any is not as it was last written."""
        return bool(self._changed)

    def take(self, records: Sequence[Recorded], source: Source) -> int:
        """Take the records that come next, in the order of their positions; how many of them it was."""
        names, missing, count = self._of(records)
        records = records[:count]
        # Those that are not held have been written as they were until now, so that is how they are known.
        self._read(source, missing, until=records[0].position - 1)
        broken: dict[str, None] = {}
        for record in records:
            name = record.game_id
            if name not in self.unread and name not in broken:
                try:
                    self._advance(record)
                except Exception:  # noqa: BLE001  # whatever it was: one game must not stop the others
                    broken[name] = None
        self._break(source, list(broken), until=records[-1].position)
        for name in names:
            # Put last, so that the first is the one longest untouched.
            if name in self._held:
                self._held[name] = self._held.pop(name)
        self._let_go()
        return len(records)

    def changed(self) -> list[Game]:
        """Those that are not as they were last written, in the order of their numbers."""
        return sorted(self._changed.values(), key=_number)

    def written(self) -> None:
        """Those that have changed are written as they are now; what is over is held no more."""
        changed, self._changed = self._changed, {}
        for game in changed.values():
            game.rated = result_of(game.projection)
            if game.projection.is_over:
                del self._held[game.projection.game_id]
                self._events -= game.projection.event_count
        self._let_go()

    def _of(self, records: Sequence[Recorded]) -> tuple[list[str], list[str], int]:
        """The games of some records, those to be read whole, and how many records come before there are too many."""
        names: dict[str, None] = {}
        missing: list[str] = []
        for place, record in enumerate(records):
            name = record.game_id
            if name not in names and name not in self.unread:
                if record.sequence and name not in self._held:
                    if len(missing) == _READ_MAX:
                        return list(names), missing, place
                    missing.append(name)
                names[name] = None
        return list(names), missing, len(records)

    def _advance(self, record: Recorded) -> None:
        event = event_of(record)
        game = self._held.get(record.game_id)
        if game is None:
            game = self._held[record.game_id] = Game(GameProjection(event, record.position), None)
        else:
            game.projection.advance(event, record.position)
        self._changed[record.game_id] = game
        self._events += 1

    def _break(self, source: Source, names: Sequence[str], *, until: int) -> None:
        """Take these as far as they can be read, and no further from now on."""
        before = {name: self._held.pop(name, None) for name in names}
        for name in names:
            self._changed.pop(name, None)
        self._events -= sum(game.projection.event_count for game in before.values() if game is not None)
        self._read(source, names, until=until)
        for name, old in before.items():
            game = self._held.get(name)
            if game is not None:
                self._changed[name] = game
                game.rated = None if old is None else old.rated

    def _read(self, source: Source, names: Sequence[str], *, until: int) -> None:
        """Hold these games as they were at a position."""
        for start in range(0, len(names), _READ_AT_ONCE):
            for name, records in whole_games(source, names[start : start + _READ_AT_ONCE], until=until):
                projection, error = projected(records)
                if error is not None:
                    self._is_unread(name, error)
                if projection is not None:
                    self._held[name] = Game(projection, result_of(projection))
                    self._events += projection.event_count

    def _let_go(self) -> None:
        """Forget games until few enough are held; not those that have to be written first."""
        if self._events <= self._events_max:
            return
        for name, game in list(self._held.items()):
            if name not in self._changed:
                del self._held[name]
                self._events -= game.projection.event_count
                if self._events <= self._events_max:
                    return

    def _is_unread(self, game_id: str, error: Exception) -> None:
        self.unread.add(game_id)
        if len(self.unread) <= _TOLD_MAX:
            _log.warning("game %r is in the tables only as far as it can be read here: %s", game_id, problem_of(error))


def whole_games(source: Source, names: Sequence[str], *, until: int) -> Iterator[tuple[str, list[Recorded]]]:
    """The records of each of these games, as far as there are any up to a position."""
    name, records = "", list[Recorded]()
    for record in source.read_games(names):
        if record.game_id != name:
            if records:
                yield name, records
            name, records = record.game_id, []
        if record.position <= until:
            records.append(record)
    if records:
        yield name, records


def projected(records: Sequence[Recorded]) -> tuple[GameProjection | None, Exception | None]:
    """A game as far as it can be read here, and what is wrong with it after that."""
    projection: GameProjection | None = None
    for place, record in enumerate(records):
        try:
            event = event_of(record)
            if projection is None:
                projection = GameProjection(event, record.position)
            else:
                projection.advance(event, record.position)
        except HeptalogError as error:
            return projection, error
        except Exception as error:  # noqa: BLE001  # a value that no store would have written, or a bug of ours
            # Nobody knows how far it came with this one.
            return projected(records[:place])[0], error
    return projection, None


def event_of(record: Recorded) -> Event:
    """The event in a record. Raises HeptalogError where it cannot be read, or is another than it is kept as."""
    event, _ = decode(record.record)
    if (event.game_id, event.sequence) != (record.game_id, record.sequence):
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", sequence=record.sequence)
    return event


def _number(game: Game) -> int:
    return game.projection.game_number
