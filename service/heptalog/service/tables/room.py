"""Room on the disk for tables: they are worth less than the log, so they stop growing long before it has to."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.sentences import shown_size
from heptalog.service.store.space import Space, reserve_of, space_at

# Beyond twice the reserve: what one step writes at most, merging included, is less.
_MARGIN: Final = 16 * 1024 * 1024


def check_room(folder: Path, reserve_bytes: int | None, *, space: Callable[[Path], Space] = space_at) -> None:
    """Raise Unavailable where so little is free on the disk of a folder that what is left is for the log."""
    try:
        found = space(folder)
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise Unavailable(Code.TABLES_BEHIND, rule="api", problem=problem, path=str(folder)) from error
    reserve = reserve_of(found) if reserve_bytes is None else reserve_bytes
    if found.free < 2 * reserve + _MARGIN:
        problem = f"the disk is nearly full, {shown_size(found.free)} are left for the log"
        raise Unavailable(Code.TABLES_BEHIND, rule="api", problem=problem)
