"""Exports as folders of tables: the games in one, and the logs that one is made of."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from heptalog.cli.connections import Connections, reachable, shown
from heptalog.cli.databases import reading, weight_of
from heptalog.replay.errors import HeptalogError, NotFound
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold
from heptalog.replay.plain import plain_game
from heptalog.service.backup.parts import EventsPart, Have, Moment, RefusalsPart
from heptalog.service.examining.records import decoded
from heptalog.service.store import Records, Refusal, Stored

if TYPE_CHECKING:
    from heptalog.analytics.parquet.exporting import Begin
    from heptalog.analytics.parquet.folder import Place
    from heptalog.analytics.parquet.pieces import Opener
    from heptalog.analytics.parquet.spool import Filling
    from heptalog.analytics.snapshots import Snapshot
    from heptalog.service.client import Client
    from heptalog.service.store.duck import DuckStore

# Not asked for: of a checkpoint an export has no table.
_NO_CHECKPOINTS: Final = 1 << 62


class ExportGame(Struct, frozen=True):
    """One game of an export, with its records."""

    path: Path
    game_id: str
    records: tuple[Stored, ...]
    has_lines: bool = False

    @property
    def name(self) -> str:
        """How a person names it, though there is no other way to it than through its folder."""
        return f"{shown(self.path)}#{self.game_id}"

    @property
    def size(self) -> int:
        """About what it costs to examine, in bytes of a game file."""
        return weight_of(len(self.records))

    def entries(self, connections: Connections) -> Iterator[tuple[Event, bytes | None]]:
        """The events as they are recorded, with their public form. Raises Corrupt, Unavailable."""
        del connections
        with reading(self.path):
            for stored in self.records:
                yield decoded(stored, self.game_id)

    def at_once(self, connections: Connections) -> Fold | None:
        """Its fold, where its records are plain, right in everything, and what they are kept as."""
        del connections
        game = plain_game([stored.record for stored in self.records])
        is_kept = [stored.sequence for stored in self.records] == list(range(len(self.records)))
        return game.fold if game is not None and is_kept and game.first.game_id == self.game_id else None

    def check_derived(self, fold: Fold, connections: Connections) -> None:
        """What else is in an export is derived from its records whenever it is made."""


def holds_export(folder: Path) -> bool:
    """Whether an export lies in a folder."""
    if not (folder / "manifest.json").is_file():
        # Looked for first, because to know more much has to be loaded.
        return False
    from heptalog.analytics.parquet.manifest import is_export

    return is_export(folder)


def exported_games(folder: Path) -> Iterator[ExportGame]:
    """The games of an export, once all files are held against their hashes. Raises Corrupt, Unavailable."""
    from heptalog.analytics.parquet.reading import kept_games

    for game in kept_games(folder):
        records = tuple(Stored(kept.position, kept.game_id, kept.sequence, kept.record) for kept in game.records)
        yield ExportGame(folder, game.game_id, records)


def told_damaged(folder: Path, asked: "Snapshot") -> None:
    """Say where an export is damaged, once a question has failed: nothing can mend it. Raises Corrupt, Unavailable."""
    from heptalog.analytics.parquet import check

    del asked
    check(folder)


class DatabaseOpener(Struct, frozen=True):
    """Opens a database that no server holds, in any process."""

    path: Path

    @contextmanager
    def __call__(self) -> Iterator["DatabaseLog"]:
        with Connections() as connections:
            yield DatabaseLog(connections.store(self.path), self.path)


class DatabaseLog:
    """A database as a source of records; what no store would have written is told as damage, and not as our bug."""

    def __init__(self, store: "DuckStore", path: Path) -> None:
        self._store = store
        self._path = path

    def position(self) -> int:
        """The position of the last event of all."""
        with reading(self._path):
            return self._store.position()

    def read_all(self, *, start: int | None = None, limit: int = 0) -> Records:
        """The records by position."""
        with reading(self._path):
            yield from self._store.read_all(start=start, limit=limit)

    def read_games(self, game_ids: Collection[str]) -> Records:
        """The records of several games."""
        with reading(self._path):
            yield from self._store.read_games(tuple(game_ids))

    def refusals(self, game_id: str = "", *, after: int = 0) -> Iterator[Refusal]:
        """What was refused, oldest first."""
        with reading(self._path):
            yield from self._store.refusals(game_id, after=after)

    def refusal_count(self) -> int:
        """How many refusals there are."""
        with reading(self._path):
            return self._store.refusal_count()


def lying(path: Path) -> "Begin":
    """A database as what is exported."""
    return lambda place: DatabaseOpener(path)


def served(target: str, connections: Connections, *, has_running: bool, tell: Callable[[int], None]) -> "Begin":
    """A running server as what is exported: what is new is fetched first; `tell` is given how many events came."""

    def begin(place: "Place") -> "Opener":
        from heptalog.analytics.parquet.spool import SpoolOpener

        path = place.work / "spool.duckdb"
        try:
            _fetch(connections.client(target), place, path, has_running=has_running, tell=tell)
        except HeptalogError as error:
            raise reachable(error, target) from error
        return SpoolOpener(str(path))

    return begin


def _fetch(client: "Client", place: "Place", path: Path, *, has_running: bool, tell: Callable[[int], None]) -> None:
    """Put what an export does not have yet into a spool: one moment of the log, in the order of positions."""
    from heptalog.analytics.parquet.held import games_left_out
    from heptalog.analytics.parquet.records import RUNNING
    from heptalog.analytics.parquet.spool import Filling

    done = place.done
    have = Have(done.position, (done.refusals_open or done.refusals + 1) - 1, _NO_CHECKPOINTS)
    filling = Filling(path)
    for position in {1, done.position} if done.position else ():
        with suppress(NotFound):
            for stored in client.read(start=position, limit=1):
                filling.mark(stored)
    moment = Moment(0, b"", 0, b"")
    number = have.refusals
    for part in client.backup(have):
        match part:
            case Moment():
                moment = part
            case EventsPart(first_position, records):
                for position, record in enumerate(records, first_position):
                    _add(client, filling, position, record)
                tell(len(records))
            case RefusalsPart(refusals):
                for refusal in refusals:
                    number += 1
                    filling.refuse(number, refusal)
            case _:
                pass
    # What was left out before, and has not been touched since, is needed too where it is to be tried again.
    for game in games_left_out(place.folder, done).values():
        if (has_running or game.reason != RUNNING) and not filling.has(game.game_id):
            for stored in client.read(game.game_id):
                filling.add(stored)
    filling.close(position=moment.size, refusals=moment.refusals)


def _add(client: "Client", filling: "Filling", position: int, record: bytes) -> None:
    stored = _stored(client, position, record)
    if stored.sequence and not filling.has(stored.game_id):
        # It was begun before: all of it is needed.
        for earlier in client.read(stored.game_id, limit=stored.sequence):
            filling.add(earlier)
    filling.add(stored)


def _stored(client: "Client", position: int, record: bytes) -> Stored:
    from heptalog.replay.codec import decode

    try:
        event, _ = decode(record)
    except HeptalogError:
        # One that cannot be read here: the server knows of which game it is.
        return next(client.read(start=position, limit=1))
    return Stored(position, event.game_id, event.sequence, record)
