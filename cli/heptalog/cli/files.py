"""Game files, and the folders they lie in."""

import os
import stat
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from shlex import quote

from msgspec import Struct

from heptalog.cli.connections import Connections, shown
from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.evidence.bundles import events_in, is_bundle
from heptalog.replay.fold import Fold
from heptalog.replay.gamefile import LINE_SIZE_MAX, read_events
from heptalog.replay.plainfile import PlainFile, plain_file

_SUFFIXES = (".jsonl", ".bundle")
PATTERNS = " or ".join(f"*{suffix}" for suffix in _SUFFIXES)
# Bytes of a file that is looked at in one piece: the games that people play have a hundredth of it.
_TOGETHER_MAX = 8 << 20
_NOT_A_GAME = ".expected.jsonl"
# How the first line of a backup begins, and where it stands.
_BACKUP = b'{"format":"heptalog-backup",'
_MANIFEST = "manifest.jsonl"


class FileGame(Struct, frozen=True):
    """One game in one file."""

    path: Path
    size: int = 0
    has_lines: bool = True

    @property
    def name(self) -> str:
        """How a person names it."""
        return shown(self.path)

    def entries(self, connections: Connections) -> Iterator[tuple[Event, bytes | None]]:
        """The events in the file, be it a bundle or not. Raises Malformed with the line, Unavailable."""
        del connections
        return ((event, None) for event in _events(self.path))

    def plain(self) -> PlainFile | None:
        """The game, where it is plain and right in everything; None where it is not, or cannot be read in one piece.

        Then it is for `entries`, and who examines them, to say why.
        """
        try:
            # What is looked at in a pipe is gone.
            if not self.path.is_file():
                return None
            with self.path.open("rb") as file:
                content = file.read(_TOGETHER_MAX + 1)
        except OSError:
            return None
        if len(content) > _TOGETHER_MAX:
            return None
        lines = content.split(b"\n")
        return plain_file(lines if lines[-1] else lines[:-1])

    def at_once(self, connections: Connections) -> Fold | None:
        """Its fold, where it is plain and right in everything."""
        del connections
        plain = self.plain()
        return None if plain is None else plain.fold

    @property
    def lines_before(self) -> int:
        """How many lines stand before its first event: one in a bundle."""
        return 1 if is_bundle(first_line(self.path)) else 0

    def check_derived(self, fold: Fold, connections: Connections) -> None:
        """A file holds nothing but its events."""


class Missing(Struct, frozen=True):
    """What was named and could not be opened, in the place of its games."""

    name: str
    error: HeptalogError


def games_in(folder: Path) -> Iterator[FileGame | Missing]:
    """The game files of a folder and of those in it, by name; what was expected of a game is not one."""
    waiting: list[os.DirEntry[str] | Path] = [folder]
    while waiting:
        place = waiting.pop()
        if isinstance(place, Path) or place.is_dir(follow_symlinks=False):
            try:
                entries = sorted(os.scandir(place), key=lambda entry: entry.name, reverse=True)
            except OSError as error:
                path = Path(place)
                yield Missing(shown(path), unreadable(path, error))
            else:
                waiting += entries
        elif place.name.endswith(_SUFFIXES) and not place.name.endswith(_NOT_A_GAME):
            yield _game_at(place)


def _game_at(entry: os.DirEntry[str]) -> FileGame | Missing:
    path = Path(entry.path)
    try:
        status = entry.stat()
    except OSError as error:
        return Missing(shown(path), unreadable(path, error))
    if path.name == _MANIFEST and (backup := backup_text(path.parent)):
        return Missing(shown(path.parent), Unavailable(Code.SOURCE_UNREADABLE, problem=backup))
    if not stat.S_ISREG(status.st_mode):
        return Missing(shown(path), Unavailable(Code.SOURCE_UNREADABLE, problem="not a file", path=shown(path)))
    return FileGame(path, status.st_size)


def backup_text(folder: Path) -> str:
    """What is told where a folder is a backup; nothing where it is none."""
    manifest = folder / _MANIFEST
    if not (manifest.is_file() and first_line(manifest).startswith(_BACKUP)):
        return ""
    return f"this is a backup, which `heptalog restore {quote(shown(folder))} --check` checks"


def unreadable(path: Path, error: OSError) -> Unavailable:
    """Why a file or folder cannot be read."""
    if isinstance(error, FileNotFoundError):
        return Unavailable(Code.SOURCE_NOT_FOUND, path=shown(path))
    problem = error.strerror or type(error).__name__
    return Unavailable(Code.SOURCE_UNREADABLE, problem=problem, path=shown(path))


def first_line(path: Path) -> bytes:
    """How a file begins; nothing where it cannot be read, which reading it as a game will tell."""
    try:
        # What is looked at in a pipe is gone.
        return next(lines_in(path), b"") if path.is_file() else b""
    except (Unavailable, OSError):
        return b""


def lines_in(path: Path) -> Iterator[bytes]:
    """The lines of a file, none held longer than the longest that is allowed. Raises Unavailable."""
    try:
        with path.open("rb") as file:
            while line := file.readline(LINE_SIZE_MAX + 1):
                yield line
    except OSError as error:
        raise unreadable(path, error) from error


def _events(path: Path) -> Iterator[Event]:
    lines = lines_in(path)
    first = next(lines, b"")
    # What the first line of a bundle says is for verify; everything else takes the game that follows it.
    yield from events_in(lines) if is_bundle(first) else read_events(chain([first] if first else [], lines))
