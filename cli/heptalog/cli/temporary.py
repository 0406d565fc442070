"""A temporary folder that does not stay: it goes when the program is told to end, and so does what killed ones left."""

import fcntl
import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final

_PREFIX: Final = "heptalog-tables-"
_ENDINGS: Final = (signal.SIGTERM, signal.SIGHUP)
# Another that clears away may take one for left before it is held.
_TRIES: Final = 10


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone when this is left, also by a signal to end. Raises OSError."""
    _clear(Path(tempfile.gettempdir()))
    folder, descriptor = _held()
    try:
        with _ending_in_order():
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _held() -> tuple[Path, int]:
    for _ in range(_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with suppress(FileNotFoundError):
            descriptor = _opened(folder)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                folder.stat()
            except BaseException:
                os.close(descriptor)
                raise
            return folder, descriptor
    raise FileNotFoundError(f"{_PREFIX}* is cleared away as it is made")


def _clear(place: Path) -> None:
    """Remove the folders that nobody holds any more, of this user only."""
    for folder in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                descriptor = _opened(folder)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(descriptor)


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Meanwhile a signal to end is raised like Ctrl-C; one that is ignored, or that somebody hears, stays so."""
    changed: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():
        changed = [number for number in _ENDINGS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in changed:
            signal.signal(number, _end)
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:
    del frame
    # As a shell tells it.
    raise SystemExit(128 + number)
