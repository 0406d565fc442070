"""Where it is kept how far an audit is, unless somebody says otherwise: in the auditor's own place.

Whoever can write a database can write beside it, and nothing in a state is secret: one that lay there could say that
all had been read and nothing found. So it lies in the home of who audits, and is taken from nobody else.
"""

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

_NAME_MAX: Final = 100  # characters of the name of a database; the hash after it tells two of them apart
_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


def own_state(database: Path) -> Path | None:
    """The file for the audit of a database; None where the auditor has no home."""
    place = own_place()
    if place is None:
        return None
    path = database.resolve()
    digest = sha256(os.fsencode(path)).hexdigest()[:32]
    return place / "audits" / f"{path.name[:_NAME_MAX]}.{digest}"


def own_place() -> Path | None:
    """The folder for what the program keeps for its user; None where there is no home."""
    said = os.environ.get("XDG_STATE_HOME", "")
    try:
        # A relative one is as good as none, says the standard that names it.
        home = Path(said) if Path(said).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return home / "heptalog"


def make_folders(path: Path) -> None:
    """Make the folders of a state, for nobody else; where that is not possible it shows when the state is written."""
    with suppress(OSError):
        path.parents[2].mkdir(parents=True, exist_ok=True)
        for folder in reversed(folders_of(path)):
            folder.mkdir(mode=0o700, exist_ok=True)


def folders_of(path: Path) -> tuple[Path, Path]:
    """The folders of a state that are the program's own."""
    return path.parents[0], path.parents[1]


def is_own(path: Path) -> bool:
    """Whether a file or a folder is the user's, and nobody else can write it; so is one that is not there."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    is_plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    return is_plain and status.st_uid == os.geteuid() and not status.st_mode & _OTHERS
