"""What is open while a command works: databases for reading, and connections to servers, each opened once."""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable

if TYPE_CHECKING:
    from heptalog.service.client import Client
    from heptalog.service.store import Ending, Stored
    from heptalog.service.store.duck import DuckStore

# A person waits for the answer: a server that is down is told soon.
TIMEOUT_SECONDS: Final = 10.0
ATTEMPTS: Final = 3


class ReadAhead(NamedTuple):
    """Some games of a database, in memory."""

    records: "dict[str, list[Stored]]"
    endings: "dict[str, tuple[Ending, ...]]"


class Connections:
    """Databases and servers by name. Closing it lets go of them all."""

    def __init__(self) -> None:
        self._stores: dict[Path, DuckStore] = {}
        self._clients: dict[str, Client] = {}
        self._ahead: dict[Path, ReadAhead] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def store(self, path: Path) -> "DuckStore":
        """The database at this path, for reading. Raises Unavailable."""
        from heptalog.service.store.duck import DuckStore

        if path not in self._stores:
            with opening(path):
                self._stores[path] = DuckStore(path, is_read_only=True)
        return self._stores[path]

    def read_ahead(self, path: Path, game_ids: Sequence[str]) -> None:
        """Read these games at once; they are at hand until others are read ahead. Raises what a store raises."""
        self._ahead.pop(path, None)
        store = self.store(path)
        records: dict[str, list[Stored]] = {game_id: [] for game_id in game_ids}
        for stored in store.read_games(game_ids):
            records[stored.game_id].append(stored)
        self._ahead[path] = ReadAhead(records, store.endings_of(game_ids))

    def records(self, path: Path, game_id: str) -> "Generator[Stored, None, None]":
        """The records of a game, read ahead or now."""
        ahead = self._ahead.get(path)
        if ahead is not None and game_id in ahead.records:
            return (stored for stored in ahead.records[game_id])
        return self.store(path).read_game(game_id)

    def endings(self, path: Path, game_id: str) -> "tuple[Ending, ...]":
        """The changes of a game's status, read ahead or now."""
        ahead = self._ahead.get(path)
        if ahead is not None and game_id in ahead.records:
            return ahead.endings[game_id]
        return tuple(self.store(path).endings(game_id))

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


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Turn what is wrong with a database as a whole into Unavailable: of its games nothing is known."""
    try:
        yield
    except Corrupt as error:
        raise damaged(path) from error


def damaged(path: Path) -> Unavailable:
    """What is said of a database that is damaged as a whole."""
    return Unavailable(Code.SOURCE_UNREADABLE, problem="the database is damaged", path=shown(path))


def shown(path: Path) -> str:
    """A path as text that can be printed and written as JSON, whatever bytes it has."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def reachable(error: HeptalogError, target: str) -> HeptalogError:
    """The failure as a person needs it: which server, and not what the library says about it."""
    if isinstance(error, Unavailable) and error.code is Code.SERVER_UNREACHABLE:
        return Unavailable(error.code, server=target)
    return error
