"""Games in a database that no server holds: read where they lie, without a service."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from heptalog.cli.connections import Connections, PartUnreadable, opening, shown, unreadable_part
from heptalog.cli.files import Missing
from heptalog.replay.errors import Code, Corrupt, HeptalogError, NotFound
from heptalog.replay.events import Event, GameStarted
from heptalog.replay.fold import Fold
from heptalog.replay.plain import plain_game
from heptalog.service.examining.records import check_endings, decoded, endings_differ, event_of
from heptalog.service.listing import Listed, UnreadGame, listed
from heptalog.service.store import GameEntry, GameFilter
from heptalog.service.store.kept import check_event, check_game

# About what one event costs to examine, in bytes of a game file; what a game does beside its events where many are
# read together, and what it costs to look for one.
_EVENT_WEIGHT = 150
_GAME_WEIGHT = 1_500
_SEARCH_WEIGHT = 20_000
_PAGE_SIZE = 1000


class DatabaseGame(Struct, frozen=True):
    """One game of a database."""

    path: Path
    game_id: str
    size: int = 0
    has_lines: bool = False

    @property
    def name(self) -> str:
        """How a person names it."""
        return f"{shown(self.path)}#{self.game_id}"

    def entries(self, connections: Connections) -> Iterator[tuple[Event, bytes | None]]:
        """The events as they are recorded, with their public form. Raises NotFound, Corrupt, Unavailable."""
        is_empty = True
        connections.complain(self.path)
        with reading(self.path), closing(connections.records(self.path, self.game_id)) as records:
            for stored in records:
                is_empty = False
                yield decoded(stored, self.game_id)
        if is_empty:
            raise NotFound(Code.GAME_NOT_FOUND, database=shown(self.path), game=self.game_id)

    def at_once(self, connections: Connections) -> Fold | None:
        """The fold of a game that was read ahead, where all that is kept of it is plain and as it should be.

        None where it is not, or cannot be read: then it is for `examined` to say why.
        """
        with suppress(HeptalogError), reading(self.path):
            kept = connections.kept(self.path, self.game_id)
            if kept.listed is None or isinstance(kept.events, list):
                return None
            records = kept.events.records
            game = plain_game(records)
            if game is None or game.first.game_id != self.game_id or not kept.events.are_of(game):
                return None
            check_game(kept.listed, game.first, records[0])
            if all(kept.events.recorded_at(ending.columns[0]) == ending.columns[-1] for ending in kept.endings):
                return game.fold
        return None

    def examined(self, connections: Connections) -> Iterator[tuple[Event, bytes | None]]:
        """The same, each held against what is kept beside it. Raises NotFound, Corrupt, Unavailable."""
        with reading(self.path):
            kept = connections.kept(self.path, self.game_id)
            if kept.listed is None or not kept.events:
                raise NotFound(Code.GAME_NOT_FOUND, database=shown(self.path), game=self.game_id)
            ended_at = {ending.columns[0]: ending.columns[-1] for ending in kept.endings}
            for row in kept.events:
                event, public = event_of(row, self.game_id)
                check_event(row, event)
                if event.sequence == 0 and isinstance(event.body, GameStarted):
                    check_game(kept.listed, event, row.record)
                if ended_at.get(event.sequence, row.recorded_at) != row.recorded_at:
                    raise endings_differ(event.sequence)
                yield event, public

    def check_derived(self, fold: Fold, connections: Connections) -> None:
        """Raise Corrupt where what the database keeps for readers is not what follows from the events."""
        with reading(self.path):
            kept = [row.columns[:-1] for row in connections.kept(self.path, self.game_id).endings]
        check_endings(kept, fold)


class Database(Struct, frozen=True):
    """All games of a database."""

    path: Path

    @property
    def name(self) -> str:
        """How a person names it."""
        return shown(self.path)

    def games(self, connections: Connections) -> Iterator[DatabaseGame]:
        """Its games, in the order of creation."""
        count = 0
        with opening(self.path):
            try:
                with reading(self.path):
                    for game_id, head in connections.store(self.path).heads():
                        count += 1
                        yield DatabaseGame(self.path, game_id, _GAME_WEIGHT + _EVENT_WEIGHT * head.sequence)
            except PartUnreadable:
                # One game whose last event cannot be read hides all others: their names alone can be read.
                with reading(self.path):
                    names = connections.names(self.path)
                yield from (DatabaseGame(self.path, name, _GAME_WEIGHT) for name in names[count:])

    def game(self, game_id: str) -> DatabaseGame:
        """One of its games."""
        return DatabaseGame(self.path, game_id)

    def listed(self, wanted: GameFilter, connections: Connections) -> Iterator[GameEntry | Missing]:
        """Those that fit, in the order of creation; in place of one that cannot be listed, why."""
        yield from faults(self.path, connections)
        after = 0
        try:
            while page := self._page(wanted, after, connections):
                for entry in page:
                    yield self._missing(entry) if isinstance(entry, UnreadGame) else entry
                after = page[-1].number
        except (Corrupt, PartUnreadable):
            # What stands in the list itself hides other games: they are looked at one by one, by their names.
            yield from self._listed_singly(wanted, after, connections)

    def _page(self, wanted: GameFilter, after: int, connections: Connections) -> list[Listed]:
        with reading(self.path):
            return listed(connections.store(self.path), wanted, after=after, limit=_PAGE_SIZE)

    def _missing(self, unread: UnreadGame) -> Missing:
        try:
            with reading(self.path):
                raise unread.error
        except (Corrupt, PartUnreadable) as error:
            return Missing(self.game(unread.game_id).name, error)

    def _listed_singly(self, wanted: GameFilter, after: int, connections: Connections) -> Iterator[GameEntry | Missing]:
        for game in self.games(connections):
            try:
                with reading(self.path):
                    entry = connections.store(self.path).game(game.game_id)
            except (Corrupt, PartUnreadable) as error:
                yield Missing(game.name, error)
                continue
            if entry is not None and entry.number > after and wanted.fits(entry):
                yield entry


def faults(path: Path, connections: Connections) -> Iterator[Missing]:
    """What is wrong with a database as a whole, though it can be read; who asks tells of it."""
    if (fault := connections.fault(path)) is not None:
        connections.told(path)
        yield Missing(shown(path), fault)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Make Corrupt of whatever a damaged record raises, and Unavailable where no record can be read any more."""
    try:
        yield
    except HeptalogError as error:
        # The engine names its file; what is wrong with one game is told with its place in the game, and what is wrong
        # with a whole log with its positions.
        if isinstance(error, Corrupt) and "path" in error.facts and "last" not in error.facts:
            raise unreadable_part(path) from error
        raise
    except Exception as error:
        # Who reads files only need not wait for the engine.
        from heptalog.service.store.duck_faults import let_through

        let_through(error)
        # A value that no store would have written. Its text could quote a hidden card, so only its kind is told.
        problem = type(error).__name__
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", problem=problem) from error


def weight_of(head: int) -> int:
    """About what a game costs to examine that is looked for by itself, where its last event is this one."""
    return _SEARCH_WEIGHT + _EVENT_WEIGHT * head
