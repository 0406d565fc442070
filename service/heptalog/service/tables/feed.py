"""Gives the log to processes of this server: threads that read the store, behind a socket for its own user."""

import logging
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from threading import Event as Flag
from threading import Lock, Thread
from typing import Any, Final, TypeAlias, TypeVar

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.recent import Recent
from heptalog.service.store import LogStore, Stored
from heptalog.service.tables.messages import (
    Answer,
    AskEnd,
    End,
    Question,
    ReadAll,
    ReadGames,
    ReadRefusals,
    ReadTile,
    Record,
    Records,
    Refusals,
    Tile,
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
_PREFIX: Final = "heptalog-feed-"
# A folder that is younger may be one whose server does not listen yet.
_LEFT_SECONDS: Final = 60.0
_LEFT_MAX: Final = 1000

_Connection: TypeAlias = Wire[Answer, Question]
T = TypeVar("T")
_log = logging.getLogger(__name__)


class Feed:
    """Listens at `path` until it is closed."""

    def __init__(self, store: LogStore, recent: Recent | None = None) -> None:
        self._store = store
        self._recent = recent or Recent()
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
                    is_welcome = self._begin(connection)
            if not is_welcome:
                connection.close()

    def _begin(self, connection: _Connection) -> bool:
        """Have a thread serve a connection; False where there can be none. Under the lock."""
        thread = Thread(target=self._serve, args=(connection,), name="heptalog-feed", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            _log.error("the log is not given to one who asks for it: %s", error)
            return False
        self._connections.add(connection)
        self._threads.add(thread)
        return True

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
                head = self._store.position()
                if recent := self._recent.read(start, min(start + limit - 1, head) if limit else head):
                    return _in_pieces(_records(stored for stored in recent), Records, "record")
                return _in_pieces(_records(self._store.read_all(start=start, limit=limit)), Records, "record")
            case ReadGames(game_ids=game_ids):
                return _in_pieces(_records(self._store.read_games(game_ids)), Records, "record")
            case ReadRefusals(game_id=game_id, after=after):
                return _in_pieces(self._store.refusals(game_id, after=after), Refusals, "content")
            case ReadTile(level=level, index=index, width=width):
                return iter([Tile(self._store.tile(level, index, width))])
            case AskEnd():
                return iter([End(self._store.position(), self._store.refusal_count())])


def _records(stored: Generator[Stored, None, None]) -> Generator[Record, None, None]:
    with closing(stored):
        for one in stored:
            yield Record(one.position, one.game_id, one.sequence, one.record)


def _in_pieces(items: Generator[Any, None, None], form: Any, weighed: str) -> Iterator[Answer]:
    """What is read, some at a time; only the last piece may be empty."""
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
        items.close()


def _private_folder() -> Path:
    """A folder that only this user can enter, with a name short enough for a socket in it."""
    _sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    if len(str(folder).encode()) < _PATH_SIZE_MAX:
        return folder
    folder.rmdir()
    try:
        return Path(tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp"))  # made for us alone
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path="/tmp", problem=error.strerror or "") from error  # noqa: S108


def _sweep(place: Path) -> None:
    """Take away what servers of this user have left that were killed with all their processes."""
    with suppress(OSError):
        for folder in islice(place.glob(f"{_PREFIX}*"), _LEFT_MAX):
            with suppress(OSError):
                found = folder.lstat()
                is_old = time.time() - found.st_mtime > _LEFT_SECONDS
                if is_old and found.st_uid == os.geteuid() and not _listens(folder / "log"):
                    shutil.rmtree(folder, ignore_errors=True)


def _listens(path: Path) -> bool:
    """Whether somebody does; a number of a process would say less, where several machines share a folder."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.setblocking(False)
        try:
            connection.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
    return True
