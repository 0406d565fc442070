"""How a process of the tables begins and ends: told by the server over a socket, and gone as soon as the server is.

Run as `python -m heptalog.service.tables.NAME SOCKET NICENESS PLACE`: the number of an open socket, and a `Place` as
JSON. Its standard input is a pipe that nobody writes to, and that ends with the server, however that ends.
"""

import gc
import logging
import os
import select
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from heptalog.analytics.own_process import without_last_words, without_pandas
from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.config import LOG_FORMAT
from heptalog.service.tables.messages import Alive, Command, Reply, Wire, failed
from heptalog.service.tables.room import check_room

ALIVE_SECONDS: Final = 5.0
_log = logging.getLogger(__name__)


class Server:
    """The server as such a process has it: tells, and is told that we live."""

    def __init__(self, wire: Wire[Reply, Command]) -> None:
        self._wire = wire
        self._sending = Lock()

    def receive(self) -> Command:
        """What it tells next. Raises EOFError where it is gone."""
        return self._wire.receive()

    def send(self, reply: Reply) -> None:
        """Tell it something. Raises OSError where it is gone."""
        with self._sending:
            self._wire.send(reply)

    def live(self) -> None:
        """Say that we live, unless something is being said."""
        if self._sending.acquire(blocking=False):
            try:
                self._wire.send(Alive())
            finally:
                self._sending.release()


class Place(Struct, frozen=True):
    """Where the log is given, beside what the tables are, and what is left free on their disk beside what always is."""

    feed: str
    database: str
    reserve_bytes: int | None = None

    def check_room(self) -> None:
        """Raise Unavailable where the disk is nearly full."""
        check_room(Path(self.database).parent, self.reserve_bytes)


Work: TypeAlias = Callable[[Server, Place], None]


def serve(work: Work) -> None:
    """Do the work of a process until it is done or in vain."""
    number, niceness, place = sys.argv[1:]
    without_pandas()
    without_last_words()
    # The server ends us in order, also when both are told to end at once.
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.SIG_IGN)
    os.nice(int(niceness))
    # Rows are many small tuples without cycles: to look for these takes a fifth of the time.
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    logging.basicConfig(stream=sys.stderr, format=LOG_FORMAT)
    server = Server(Wire(socket.socket(fileno=int(number)), Command))
    given = msgspec.json.decode(place, type=Place)
    Thread(target=_watch, args=(server, Path(given.feed).parent), daemon=True).start()
    try:
        work(server, given)
    except EOFError:
        pass  # the server is gone
    except Exception as error:  # noqa: BLE001  # the server is told of it, and decides
        with suppress(OSError):
            server.send(failed(_meaning(error)))


def _watch(server: Server, feed_folder: Path) -> None:
    """Tell now and then that we live, and end as soon as the server does, in the middle of whatever is done."""
    with suppress(OSError):
        while not select.select([sys.stdin], [], [], ALIVE_SECONDS)[0]:
            server.live()
    # A server that was killed has left it behind.
    shutil.rmtree(feed_folder, ignore_errors=True)
    os._exit(0)


def _meaning(error: Exception) -> HeptalogError:
    """What failed, as it can be told to who asks: of a bug of ours the text stays here."""
    if isinstance(error, HeptalogError):
        return error
    if isinstance(error, OSError):
        path = {} if error.filename is None else {"path": str(error.filename)}
        return Unavailable(Code.TABLES_BEHIND, rule="api", problem=error.strerror or type(error).__name__, **path)
    if isinstance(error, MemoryError):
        return Unavailable(Code.TABLES_BEHIND, rule="api", problem="there is not enough memory")
    _log.error("the tables were not kept", exc_info=error)
    return Unavailable(Code.TABLES_BEHIND, rule="api", problem="the process that keeps them failed")
