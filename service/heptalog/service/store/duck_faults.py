"""What a failure of the engine means, in the codes of Heptalog.

The engine tells most of its failures apart only by their text. That is ugly, so all of it is here, with tests that
bring about each of them for real.
"""

import os
import re
from pathlib import Path
from typing import Final

import duckdb

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable

_HOLDER: Final = re.compile(r"\(PID (\d+)\)")
_LOCKED: Final = ("Could not set lock on file",)
# This very process has the file open already.
_OPEN_HERE: Final = ("Unique file handle conflict",)
_FOREIGN: Final = ("is not a valid DuckDB database file", "WAL does not match")
_TRUNCATED: Final = ("Could not read enough bytes",)
_NEWER: Final = ("was created with a newer version of DuckDB",)
_DAMAGED: Final = ("Corrupt database file", "Corrupt WAL file", "Failure while replaying WAL")


def meaning(error: duckdb.Error, path: Path, *, is_open: bool) -> HeptalogError:
    """What is raised instead of an error of the engine about the database at `path`."""
    text = str(error)
    place = str(path)
    if any(words in text for words in _LOCKED):
        holder = _HOLDER.search(text)
        if holder is None:
            return Unavailable(Code.DATABASE_LOCKED, path=place)
        return Unavailable(Code.DATABASE_LOCKED, path=place, pid=int(holder[1]))
    if any(words in text for words in _OPEN_HERE):
        return Unavailable(Code.DATABASE_LOCKED, path=place, pid=os.getpid())
    if any(words in text for words in _FOREIGN):
        return Unavailable(Code.DATABASE_FOREIGN, path=place)
    if any(words in text for words in _TRUNCATED):
        # Nobody can tell what it was; but once we know that it is ours, it is damaged.
        return _damaged(place) if is_open else Unavailable(Code.DATABASE_FOREIGN, path=place)
    if any(words in text for words in _NEWER):
        return Unavailable(Code.DATABASE_NEWER, path=place)
    if any(words in text for words in _DAMAGED):
        return _damaged(place)
    # Only the kind of error: its text can quote values, and a value can be a hidden card.
    return Unavailable(Code.SOURCE_UNREADABLE, path=place, problem=type(error).__name__)


def is_fatal(error: duckdb.Error) -> bool:
    """Whether the engine is of no further use to this process until the database is opened anew."""
    return isinstance(error, duckdb.FatalException | duckdb.InternalException)


def _damaged(place: str) -> Corrupt:
    return Corrupt(Code.RECORD_DAMAGED, rule="evidence", path=place)
