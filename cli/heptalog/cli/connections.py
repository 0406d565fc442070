"""What is open while a command works: databases for reading, and connections to servers, each opened once."""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from heptalog.cli.exits import complain
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable
from heptalog.replay.sentences import sentence
from heptalog.replay.words import printable

if TYPE_CHECKING:
    from heptalog.service.client import Client
    from heptalog.service.store import Stored
    from heptalog.service.store.columns import GameRows
    from heptalog.service.store.duck import DuckStore
    from heptalog.service.store.kept import KeptEnding, KeptEvent, KeptGame

# A person waits for the answer: a server that is down is told soon.
TIMEOUT_SECONDS: Final = 10.0
ATTEMPTS: Final = 3
# What the engine of a database may take where other processes read the same: by itself it takes most of what there is.
SHARED_MEBIBYTES: Final = 256


class KeptWhole(NamedTuple):
    """All that a database keeps of one game; `listed` is its row in the list of games."""

    listed: "KeptGame | None"
    events: "list[KeptEvent] | GameRows"
    endings: "list[KeptEnding]"


class Connections:
    """Databases and servers by name. Closing it lets go of them all."""

    def __init__(self) -> None:
        self._is_sharing = False
        self._stores: dict[Path, DuckStore] = {}
        self._faults: dict[Path, Corrupt] = {}
        self._told: set[Path] = set()
        self._clients: dict[str, Client] = {}
        self._ahead: dict[Path, dict[str, KeptWhole]] = {}
        self._records_ahead: dict[Path, dict[str, list[Stored]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def store(self, path: Path) -> "DuckStore":
        """The database at this path, for reading, also where `fault` has something to say. Raises Unavailable."""
        from heptalog.service.store.duck import DuckStore

        if path not in self._stores:
            with opening(path):
                try:
                    self._stores[path] = DuckStore(path, is_read_only=True)
                except Corrupt as error:
                    if error.code is Code.RECORD_DAMAGED or not path.exists():
                        raise
                    # It is not the log that it should be, but what is there can be read, and told of game by game.
                    self._stores[path] = DuckStore(path, is_read_only=True, is_checked=False)
                    self._faults[path] = error
                    _name_as_given(error, path)
                if self._is_sharing:
                    _restrain(self._stores[path])
        return self._stores[path]

    def share(self) -> None:
        """Leave memory and cores to other processes that read the same, from now on."""
        self._is_sharing = True
        for store in self._stores.values():
            _restrain(store)

    def fault(self, path: Path) -> Corrupt | None:
        """In what a database is not the log that its head record or its last checkpoint says. Raises Unavailable."""
        self.store(path)
        return self._faults.get(path)

    def told(self, path: Path) -> None:
        """The fault of a database is told with the result, so it need not be said beside it."""
        self._told.add(path)

    def complain(self, path: Path) -> None:
        """Say once, and beside the result, in what a database is not the log that it should be. Raises Unavailable."""
        fault = self.fault(path)
        if fault is not None and path not in self._told:
            self._told.add(path)
            complain(printable(f"{shown(path)}: {sentence(fault)} [{fault.code}]"))

    def read_ahead(self, path: Path, game_ids: Sequence[str]) -> None:
        """Read all that is kept of these games at once; it is at hand until others are read ahead."""
        self._ahead.pop(path, None)
        self._ahead[path] = self._kept(path, game_ids)

    def kept(self, path: Path, game_id: str) -> KeptWhole:
        """All that is kept of a game, read ahead or now."""
        ahead = self._ahead.get(path, {})
        return ahead[game_id] if game_id in ahead else self._kept(path, [game_id])[game_id]

    def names(self, path: Path) -> list[str]:
        """The names of all games of a database, of which nothing else is read, in the order of creation."""
        with closing(self.store(path).kept()) as kept:
            return kept.names()

    def _kept(self, path: Path, game_ids: Sequence[str]) -> dict[str, KeptWhole]:
        games = {game_id: KeptWhole(None, [], []) for game_id in game_ids}
        with closing(self.store(path).kept()) as kept:
            numbers = kept.numbers(game_ids)
            if not numbers:
                return games
            span = (min(numbers), max(numbers), numbers)
            listed = [game for game in kept.games(*span) if game.game_id in games]
            events: dict[int, list[KeptEvent] | GameRows] = {game.number: [] for game in listed}
            endings: dict[int, list[KeptEnding]] = {game.number: [] for game in listed}
            if len(game_ids) > 1:
                events.update(kept.rows_of_games(*span))
            else:
                events[numbers[0]] = list(kept.events(*span))
            for ending in kept.endings(*span):
                endings[ending.number].append(ending)
        # Where a name or a number stands in the list twice, the last row of it has the events.
        for game in reversed(listed):
            whole = KeptWhole(game, events.pop(game.number, []), endings.pop(game.number, []))
            if games[game.game_id].listed is None:
                games[game.game_id] = whole
        return games

    def read_records_ahead(self, path: Path, game_ids: Sequence[str]) -> None:
        """Read the records of these games at once; they are at hand until those of others are read ahead."""
        self._records_ahead.pop(path, None)
        games: dict[str, list[Stored]] = {}
        with closing(self.store(path).read_games(game_ids)) as records:
            for stored in records:
                games.setdefault(stored.game_id, []).append(stored)
        self._records_ahead[path] = games

    def records(self, path: Path, game_id: str) -> "Generator[Stored, None, None]":
        """The records of a game, read ahead or now."""
        ahead = self._records_ahead.get(path, {}).get(game_id)
        return self.store(path).read_game(game_id) if ahead is None else (stored for stored in ahead)

    def client(self, target: str) -> "Client":
        """A client of the server at `HOST:PORT`; whether it is there shows at the first call."""
        # What the library itself would say on stderr is said by us, in one line.
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
        from heptalog.service.client import Client
        from heptalog.service.client.calls import Retries

        if target not in self._clients:
            self._clients[target] = Client(target, timeout=TIMEOUT_SECONDS, retries=Retries(attempts=ATTEMPTS))
        return self._clients[target]

    def close(self) -> None:
        """Let go of everything."""
        for store in self._stores.values():
            store.close()
        for client in self._clients.values():
            client.close()
        self._stores.clear()
        self._clients.clear()


def _restrain(store: "DuckStore") -> None:
    with closing(store.kept()) as kept:
        kept.restrain(memory_mebibytes=SHARED_MEBIBYTES, threads=1)


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Turn bytes that the engine cannot read into Unavailable: of the games in them nothing is known.

    A log that is not what its head record says, or of which only that can be read, stays Corrupt, with the positions.
    Files are told as they were named.
    """
    try:
        yield
    except HeptalogError as error:
        if error.code is Code.RECORD_DAMAGED and "last" not in error.facts:
            raise damaged(path) from error
        _name_as_given(error, path)
        raise


def _name_as_given(error: HeptalogError, path: Path) -> None:
    """Tell a database, or a file beside it, as the person did; a link leads away from what lies beside it."""
    told = error.facts.get("path")
    if not isinstance(told, str) or path.is_symlink():
        return
    for whole in (str(path.resolve()), shown(path.resolve())):
        if told.startswith(whole):
            error.facts["path"] = shown(path) + told.removeprefix(whole)
            return


def damaged(path: Path) -> Unavailable:
    """What is said of a database that is damaged as a whole."""
    problem = "the database is damaged; `heptalog doctor` says what can be done"
    return Unavailable(Code.SOURCE_UNREADABLE, problem=problem, path=shown(path))


class PartUnreadable(Unavailable):
    """A part of a database that is open cannot be read, which says nothing of the rest."""


def unreadable_part(path: Path) -> PartUnreadable:
    """What is said of it."""
    problem = "the database is damaged here; `heptalog audit` says where"
    return PartUnreadable(Code.SOURCE_UNREADABLE, problem=problem, path=shown(path))


def shown(path: Path) -> str:
    """A path as text that can be printed and written as JSON, whatever bytes it has."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def reachable(error: HeptalogError, target: str) -> HeptalogError:
    """The failure as a person needs it: which server, and not what the library says about it."""
    if isinstance(error, Unavailable) and error.code is Code.SERVER_UNREACHABLE:
        return Unavailable(error.code, server=target)
    return error
