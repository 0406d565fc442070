"""What a failure of the engine means, in the codes of Heptalog.

The engine tells most of its failures apart only by their text. That is ugly, so all of it is here, with tests that
bring about each of them for real.
"""

import errno
import os
import re
from pathlib import Path
from typing import Final

import duckdb

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable

# What is said wherever the disk is full, for the engine and the system have each words of their own for it.
NO_SPACE: Final = "no space left on the disk"
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_HOLDER: Final = re.compile(r"\(PID (\d+)\)")
_LOCKED: Final = ("Could not set lock on file",)
# This very process has the file open already.
_OPEN_HERE: Final = ("Unique file handle conflict",)
_FOREIGN: Final = ("is not a valid DuckDB database file", "WAL does not match")
_TRUNCATED: Final = ("Could not read enough bytes",)
_NEWER: Final = ("was created with a newer version of DuckDB",)
# What it makes of a Ctrl-C that meets one of its queries.
_INTERRUPTED: Final = "Query interrupted"
_DAMAGED: Final = ("Corrupt database file", "Corrupt WAL file", "Failure while replaying WAL")


def meaning(error: duckdb.Error, path: Path, *, is_open: bool) -> HeptalogError:
    """What is raised instead of an error of the engine about the database at `path`."""
    text = str(error)
    place = str(path)
    # First, and the lack of memory with it: both stop the engine in the middle of what then looks damaged.
    if _is_full(error):
        return Unavailable(Code.WRITE_FAILED, path=place, problem=NO_SPACE)
    if isinstance(error, duckdb.OutOfMemoryException):
        return Unavailable(Code.SOURCE_UNREADABLE, path=place, problem=type(error).__name__)
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


def why_unwritten(error: duckdb.Error | OSError) -> str:
    """Why something could not be written, for a person; never the text of the engine, which can quote values."""
    if _is_full(error):
        return NO_SPACE
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def is_interrupt(error: BaseException) -> bool:
    """Whether somebody has interrupted what was asked: that says nothing of what it was asked of."""
    if isinstance(error, KeyboardInterrupt | duckdb.InterruptException):
        return True
    return isinstance(error, RuntimeError) and str(error) == _INTERRUPTED


def let_through(error: BaseException) -> None:
    """Raise KeyboardInterrupt where an error is an interrupt: said first by whoever makes a finding of any error."""
    if is_interrupt(error):
        raise KeyboardInterrupt from error


def why_broken(cause: BaseException) -> str:
    """Why a store can do no work any more, for a person; never a text that can quote values."""
    if isinstance(cause, HeptalogError):
        return str(cause.code)
    return why_unwritten(cause) if isinstance(cause, duckdb.Error | OSError) else type(cause).__name__


def is_fatal(error: duckdb.Error) -> bool:
    """Whether the engine is of no further use to this process until the database is opened anew."""
    return isinstance(error, duckdb.FatalException | duckdb.InternalException)


def _is_full(error: duckdb.Error | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in _FULL
    # The engine wraps what the system says into errors of many kinds.
    return any(os.strerror(number) in str(error) for number in _FULL)


def _damaged(place: str) -> Corrupt:
    return Corrupt(Code.RECORD_DAMAGED, rule="evidence", path=place)
