"""What is open while a command works: databases for reading, and connections to servers, each opened once."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable

if TYPE_CHECKING:
    from heptalog.service.client import Client
    from heptalog.service.store.duck import DuckStore

# A person waits for the answer: a server that is down is told soon.
TIMEOUT_SECONDS: Final = 10.0
ATTEMPTS: Final = 3


class Connections:
    """Databases and servers by name. Closing it lets go of them all."""

    def __init__(self) -> None:
        self._stores: dict[Path, DuckStore] = {}
        self._clients: dict[str, Client] = {}

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
        problem = "the database is damaged"
        raise Unavailable(Code.SOURCE_UNREADABLE, problem=problem, path=shown(path)) from error


def shown(path: Path) -> str:
    """A path as text that can be printed and written as JSON, whatever bytes it has."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def reachable(error: HeptalogError, target: str) -> HeptalogError:
    """The failure as a person needs it: which server, and not what the library says about it."""
    if isinstance(error, Unavailable) and error.code is Code.SERVER_UNREACHABLE:
        return Unavailable(error.code, server=target)
    return error
