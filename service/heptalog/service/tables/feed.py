"""Gives the log to processes of this server: threads that read the store, behind a socket for its own user."""

import logging
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Event as Flag
from threading import Lock, Thread
from typing import Any, Final, TypeAlias, TypeVar

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.store import LogStore
from heptalog.service.tables.messages import (
    Answer,
    AskEnd,
    End,
    Question,
    ReadAll,
    ReadGames,
    ReadRefusals,
    Records,
    Refusals,
    Wire,
    failed,
)

# One piece: as many records, and about as many bytes.
_RECORDS_AT_ONCE: Final = 1000
_BYTES_AT_ONCE: Final = 1 << 20
# The follower has one or two, and so has each process that makes the tables anew.
_CONNECTIONS_MAX: Final = 256
# Where no connection can be taken, as where too many files are open.
_PAUSE_SECONDS: Final = 1.0
# Of an address of this kind, with its end.
_PATH_SIZE_MAX: Final = 100

_Connection: TypeAlias = Wire[Answer, Question]
T = TypeVar("T")
_log = logging.getLogger(__name__)


class Feed:
    """Listens at `path` until it is closed."""

    def __init__(self, store: LogStore) -> None:
        self._store = store
        self.folder: Final = _private_folder()
        self.path: Final = str(self.folder / "log")
        self._lock = Lock()
        self._connections: set[_Connection] = set()
        self._is_closed = False
        self._closing = Flag()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen()
        self._threads: set[Thread] = set()
        self._accepting = Thread(target=self._accept, name="heptalog-feed", daemon=True)
        self._accepting.start()

    def close(self) -> None:
        """Cut every connection, and wait until nobody reads the store any more."""
        with self._lock:
            self._is_closed = True
            self._closing.set()
            connections = list(self._connections)
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in connections:
            connection.close()
        self._accepting.join()
        for thread in list(self._threads):
            thread.join()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except OSError as error:
                if self._is_closed:
                    return
                _log.error("the log is given to nobody for a moment: %s", error)
                self._closing.wait(_PAUSE_SECONDS)
                continue
            connection: _Connection = Wire(accepted, Question)
            with self._lock:
                is_welcome = not self._is_closed and len(self._connections) < _CONNECTIONS_MAX
                if is_welcome:
                    self._connections.add(connection)
                    thread = Thread(target=self._serve, args=(connection,), name="heptalog-feed", daemon=True)
                    self._threads.add(thread)
                    thread.start()
            if not is_welcome:
                connection.close()

    def _serve(self, connection: _Connection) -> None:
        try:
            while True:
                self._answer(connection, connection.receive())
        except (EOFError, OSError):
            pass  # it has gone, and whoever it was comes again by itself
        except Exception:  # noqa: BLE001  # our own bug: who asked is cut off, and nobody else hears of it
            _log.exception("the log was not given")
        finally:
            connection.close()
            with self._lock:
                self._connections.discard(connection)
                self._threads = {thread for thread in self._threads if thread.is_alive()}

    def _answer(self, connection: _Connection, question: Question) -> None:
        try:
            for answer in self._answers(question):
                connection.send(answer)
        except HeptalogError as error:
            connection.send(failed(error))

    def _answers(self, question: Question) -> Iterator[Answer]:
        match question:
            case ReadAll(start=start, limit=limit):
                return _in_pieces(self._store.read_all(start=start, limit=limit), Records, "record")
            case ReadGames(game_ids=game_ids):
                return _in_pieces(self._store.read_games(game_ids), Records, "record")
            case ReadRefusals(game_id=game_id, after=after):
                return _in_pieces(self._store.refusals(game_id, after=after), Refusals, "content")
            case AskEnd():
                return iter([End(self._store.position(), self._store.refusal_count())])


def _in_pieces(items: Iterator[Any], form: Any, weighed: str) -> Iterator[Answer]:
    """What an iterator gives, some at a time; only the last piece may be empty."""
    try:
        is_last = False
        while not is_last:
            piece = []
            size = 0
            for item in islice(items, _RECORDS_AT_ONCE):
                piece.append(item)
                size += len(getattr(item, weighed))
                if size >= _BYTES_AT_ONCE:
                    break
            is_last = len(piece) < _RECORDS_AT_ONCE and size < _BYTES_AT_ONCE
            yield form(piece, is_last)
    finally:
        # The store holds a moment for whoever reads it.
        close = getattr(items, "close", None)
        if close is not None:
            close()


def _private_folder() -> Path:
    """A folder that only this user can enter, with a name short enough for a socket in it."""
    folder = Path(tempfile.mkdtemp(prefix="heptalog-"))
    if len(str(folder).encode()) < _PATH_SIZE_MAX:
        return folder
    folder.rmdir()
    try:
        return Path(tempfile.mkdtemp(prefix="heptalog-", dir="/tmp"))  # made for us alone
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path="/tmp", problem=error.strerror or "") from error  # noqa: S108
