"""Games in a database that no server holds: read where they lie, without a service."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from heptalog.cli.connections import Connections, damaged, opening, shown
from heptalog.cli.files import Missing
from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, Corrupt, HeptalogError, NotFound
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold
from heptalog.service.store import GameEntry, GameFilter, Stored
from heptalog.service.store.endings import endings_of

# About what one event costs to examine, in bytes of a game file, and what it costs to look for a game.
_EVENT_WEIGHT = 150
_GAME_WEIGHT = 20_000
_PAGE_SIZE = 1000


class DatabaseGame(Struct, frozen=True):
    """One game of a database."""

    path: Path
    game_id: str
    size: int = 0
    has_lines: bool = False

    @property
    def name(self) -> str:
        return f"{shown(self.path)}#{self.game_id}"

    def entries(self, connections: Connections) -> Iterator[tuple[Event, bytes | None]]:
        """The events as they are recorded, with their public form. Raises NotFound, Corrupt, Unavailable."""
        is_empty = True
        with reading(self.path), closing(connections.records(self.path, self.game_id)) as records:
            for stored in records:
                is_empty = False
                yield decoded(stored, self.game_id)
        if is_empty:
            raise NotFound(Code.GAME_NOT_FOUND, database=shown(self.path), game=self.game_id)

    def check_derived(self, fold: Fold, connections: Connections) -> None:
        """Raise Corrupt where what the database keeps for readers is not what follows from the events."""
        with reading(self.path):
            kept = connections.endings(self.path, self.game_id)
        derived = tuple(endings_of(fold))
        for one, other in zip(kept, derived, strict=False):
            if one != other:
                raise _endings_differ(min(one.sequence, other.sequence))
        if len(kept) != len(derived):
            longer = kept if len(kept) > len(derived) else derived
            raise _endings_differ(longer[min(len(kept), len(derived))].sequence)


class Database(Struct, frozen=True):
    """All games of a database."""

    path: Path

    @property
    def name(self) -> str:
        return shown(self.path)

    def games(self, connections: Connections) -> Iterator[DatabaseGame]:
        """Its games, in the order of creation."""
        with opening(self.path), reading(self.path):
            for game_id, head in connections.store(self.path).heads():
                yield DatabaseGame(self.path, game_id, weight_of(head.sequence))

    def game(self, game_id: str) -> DatabaseGame:
        """One of its games."""
        return DatabaseGame(self.path, game_id)

    def listed(self, wanted: GameFilter, connections: Connections) -> Iterator[GameEntry | Missing]:
        """Those that fit, in the order of creation; in place of one that cannot be listed, why."""
        after = 0
        try:
            while page := self._page(wanted, after, connections):
                yield from page
                after = page[-1].number
        except Corrupt:
            # One of a page hides the others of it: they are looked at one by one.
            yield from self._listed_singly(wanted, after, connections)

    def _page(self, wanted: GameFilter, after: int, connections: Connections) -> list[GameEntry]:
        with reading(self.path):
            return connections.store(self.path).games(wanted, after=after, limit=_PAGE_SIZE)

    def _listed_singly(self, wanted: GameFilter, after: int, connections: Connections) -> Iterator[GameEntry | Missing]:
        for game in self.games(connections):
            try:
                with reading(self.path):
                    entry = connections.store(self.path).game(game.game_id)
            except Corrupt as error:
                yield Missing(game.name, error)
                continue
            if entry is not None and entry.number > after and wanted.fits(entry):
                yield entry


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Make Corrupt of whatever a damaged record raises, and Unavailable where no record can be read any more."""
    try:
        yield
    except HeptalogError as error:
        # The engine names its file; what is wrong with one game is told with its place in the game.
        if isinstance(error, Corrupt) and "path" in error.facts:
            raise damaged(path) from error
        raise
    except Exception as error:
        # A value that no store would have written. Its text could quote a hidden card, so only its kind is told.
        problem = type(error).__name__
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", problem=problem) from error


def decoded(stored: Stored, game_id: str) -> tuple[Event, bytes]:
    """The event in a record and its public form. Raises Corrupt where it is not what it is kept as."""
    try:
        event, public = decode(stored.record)
    except HeptalogError as error:
        code = error.code if isinstance(error, Corrupt) else Code.RECORD_DAMAGED
        raise Corrupt(code, rule="evidence", sequence=stored.sequence, position=stored.position) from error
    if event.game_id != game_id or event.sequence != stored.sequence:
        problem = "it is not the event that it is kept as"
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", sequence=stored.sequence, problem=problem)
    return event, public


def weight_of(head: int) -> int:
    """About what a game costs to examine, where its last event is this one."""
    return _GAME_WEIGHT + _EVENT_WEIGHT * head


def _endings_differ(sequence: int) -> Corrupt:
    problem = "the list of endings differs from the rules"
    return Corrupt(Code.RECORD_DAMAGED, rule="evidence", problem=problem, sequence=sequence)
