"""UmaDB: an event store in Rust that speaks gRPC; its wheel holds the server and a client."""

import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import metadata
from pathlib import Path
from typing import Final

import umadb  # pyright: ignore[reportMissingImports] - in the environment of the peers

from bench.peers.peer import Settings, answer, numbered
from bench.peers.shapes import Batch
from bench.peers.stores import Append, StorePeer

_STARTING_SECONDS: Final = 20.0


class UmaDB(StorePeer):
    """A server of its own for every measurement, over a new database, with its defaults."""

    name = "UmaDB"
    note = (
        "two fdatasync before the answer, its default; over gRPC, its client in Rust, a thread a caller; every append "
        "has the stream's last position as its condition; no rules, no hashes"
    )
    version = metadata.version("umadb")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._folders = numbered(f"{settings.folder}/umadb-")

    @contextmanager
    def opened(self) -> Iterator["_Server"]:
        """A server over a new database."""
        folder = next(self._folders)
        folder.mkdir()
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        program = Path(sys.executable).parent / "umadb"
        command = [str(program), "--listen", address, "--db-path", str(folder / "uma.db")]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + _STARTING_SECONDS
            while not is_answering(address):
                assert server.poll() is None, "UmaDB ended"
                assert time.monotonic() < end, "UmaDB does not start"
                time.sleep(0.02)
            yield _Server(f"http://{address}")
        finally:
            server.terminate()
            server.wait()


class _Server:
    def __init__(self, url: str) -> None:
        self._url = url
        self._client = umadb.Client(url)

    def connected(self) -> Append:
        client = umadb.Client(self._url)

        def append(batch: Batch) -> int:
            tag = str(batch.stream)
            events = [umadb.Event(fact.kind, fact.data, [tag], uuid.uuid4()) for fact in batch.facts]
            condition = umadb.AppendCondition(tagged(tag), batch.after if batch.after >= 0 else None)
            position: int = client.append(events, condition)
            return position

        return append

    def settle(self) -> None:
        pass

    def read_all(self) -> int:
        # The bytes of each are looked at: the client makes them only then.
        return sum(len(read.event.data) > 0 for read in self._client.read())

    def read_one(self, stream: uuid.UUID) -> int:
        return sum(len(read.event.data) > 0 for read in self._client.read(tagged(str(stream))))


def tagged(tag: str) -> umadb.Query:
    """The events of one stream."""
    return umadb.Query([umadb.QueryItem(tags=[tag])])


def is_answering(address: str) -> bool:
    """Whether a server is there."""
    try:
        umadb.Client(f"http://{address}").head()
    except umadb.TransportError:
        return False
    return True


if __name__ == "__main__":
    answer(UmaDB)
