"""What was asked at the prompt: kept from one session to the next, for its user alone, and not for ever.

One question a line, as JSON. Several sessions may write at once, for each line is one write at the end of the file.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

import msgspec
from prompt_toolkit.history import History

from heptalog.cli.auditstates import is_own, own_place

ENTRIES_MAX: Final = 1000
_ENTRY_MAX: Final = 64 << 10  # characters
_BYTES_MAX: Final = 4 << 20

_FLAGS: Final = os.O_CLOEXEC | os.O_NOFOLLOW


def own_history() -> Path | None:
    """The file of the user's history; None where there is no home."""
    place = own_place()
    return None if place is None else place / "history"


class OwnHistory(History):
    """A history in a file, or in memory where there can be none. What cannot be read or written is none."""

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        self._path = path
        if path is not None:
            with suppress(OSError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    def load_history_strings(self) -> Iterable[str]:
        """The newest first, and no more than are kept; the file is cut down to them."""
        lines = self._lines()
        if len(lines) > ENTRIES_MAX or sum(map(len, lines)) > _BYTES_MAX:
            lines = _newest(lines)
            with suppress(OSError):
                self._replace(lines)
        return [entry for line in reversed(lines) if (entry := _decoded(line)) is not None]

    def store_string(self, string: str) -> None:
        """Keep one more."""
        if self._path is None or len(string) > _ENTRY_MAX or not is_own(self._path):
            return
        with suppress(OSError):
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _FLAGS, 0o600)
            try:
                os.write(file, msgspec.json.encode(string) + b"\n")
            finally:
                os.close(file)

    def _lines(self) -> list[bytes]:
        # What somebody else has put there would be run by who presses a key too many.
        if self._path is None or not is_own(self._path) or not is_own(self._path.parent):
            return []
        try:
            with os.fdopen(os.open(self._path, os.O_RDONLY | _FLAGS), "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - 2 * _BYTES_MAX))
                return file.read(2 * _BYTES_MAX).splitlines()
        except OSError:
            return []

    def _replace(self, lines: list[bytes]) -> None:
        assert self._path is not None, "there was something to cut down"
        with NamedTemporaryFile(dir=self._path.parent, prefix=".history-", delete=False) as file:
            made = Path(file.name)
            try:
                file.writelines(line + b"\n" for line in lines)
                file.flush()
                made.replace(self._path)
            except BaseException:
                made.unlink()
                raise


def _newest(lines: list[bytes]) -> list[bytes]:
    """The last ones, half of what there may be: a file is not made anew for each."""
    kept: list[bytes] = []
    size = 0
    for line in reversed(lines[-(ENTRIES_MAX // 2) :]):
        size += len(line)
        if size > _BYTES_MAX // 2:
            break
        kept.append(line)
    return kept[::-1]


def _decoded(line: bytes) -> str | None:
    try:
        return msgspec.json.decode(line, type=str)
    except msgspec.DecodeError:
        return None
