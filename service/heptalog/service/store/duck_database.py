"""An open database: a connection of its own for whoever asks, for as long as it is of any use."""

import logging
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final
from weakref import WeakSet

import duckdb

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.service.store.duck_faults import is_fatal, meaning, why_broken
from heptalog.service.store.duck_read import Snapshot

_log = logging.getLogger(__name__)


class Database:
    """What is there until it is closed, or broken: then it must be opened anew. Any thread."""

    def __init__(self, path: Path, root: duckdb.DuckDBPyConnection) -> None:
        """Take over a connection, which is only ever asked for further ones, by one thread at a time."""
        self.path: Final = path
        self.is_closed = False
        self.is_broken = False
        self._root = root
        self._opening = Lock()
        self._snapshots: WeakSet[Snapshot] = WeakSet()

    @property
    def is_usable(self) -> bool:
        """Whether it is neither."""
        return not (self.is_closed or self.is_broken)

    def check_open(self) -> None:
        """Raise Unavailable where it can do no work."""
        if self.is_closed:
            raise Unavailable(Code.DRAINING)
        if self.is_broken:
            raise Unavailable(Code.SOURCE_UNREADABLE, path=str(self.path), problem="it must be opened anew")

    def connected(self) -> duckdb.DuckDBPyConnection:
        """A connection to be closed by who asks for it."""
        with self._opening:
            self.check_open()
            return self._root.cursor()

    def snapshot(self, *, known: int) -> Snapshot:
        """A moment, at which this position is certainly there; to be closed, or else it ends with the database."""
        with self._opening:
            self.check_open()
            snapshot = Snapshot(self._root.cursor(), known=known, translate=self.meaning)
            self._snapshots.add(snapshot)
        return snapshot

    def meaning(self, error: duckdb.Error) -> HeptalogError:
        """What is raised in place of an error of the engine."""
        if self.is_closed:
            return Unavailable(Code.DRAINING)
        if is_fatal(error):
            self.wear_out(error)
        return meaning(error, self.path, is_open=True)

    def wear_out(self, cause: BaseException) -> None:
        """Do no work any more. Who asks is told only that it must be opened anew, so the cause is logged, once."""
        if not self.is_broken:
            self.is_broken = True
            _log.critical("%s must be opened anew: %s", self.path, why_broken(cause))

    def end(self) -> None:
        """Open nothing any more, and end every moment under the hands of whoever reads it."""
        with self._opening:
            self.is_closed = True
            snapshots = list(self._snapshots)
        for snapshot in snapshots:
            snapshot.abort()

    def close(self) -> None:
        """Let go of the file, once all other connections are closed."""
        with suppress(duckdb.Error):  # one that is broken cannot be put in order any more
            self._root.close()
