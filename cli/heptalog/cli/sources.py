"""Where games come from, everywhere named alike: `FILE`, `DATABASE.duckdb#GAME` or `grpc://HOST:PORT#GAME`.

A folder, and a database or server without `#GAME`, stand for all the games in them. What is named is a small struct
that can be sent to another process; what it takes to read it is opened there, once (`Connections`).
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from heptalog.cli.connections import Connections, shown
from heptalog.cli.databases import Database, DatabaseGame, faults
from heptalog.cli.exits import WrongUse
from heptalog.cli.exports import ExportGame, exported_games, holds_export
from heptalog.cli.files import PATTERNS, FileGame, Missing, backup_text, games_in, unreadable
from heptalog.cli.servers import SCHEME, Server, ServerGame
from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold


class Game(Protocol):
    """One recorded game, wherever it is kept."""

    @property
    def name(self) -> str:
        """How a person names it."""
        ...

    @property
    def size(self) -> int:
        """About what it costs to examine, in bytes of a game file."""
        ...

    @property
    def has_lines(self) -> bool:
        """Whether its events are lines that a person can look at."""
        ...

    def entries(self, connections: Connections) -> Iterator[tuple[Event, bytes | None]]:
        """Its events in order, each with its public form where that is at hand. Raises any HeptalogError."""
        ...

    def check_derived(self, fold: Fold, connections: Connections) -> None:
        """Raise Corrupt where what is kept beside the events is not what follows from them."""
        ...


class Folder(Struct, frozen=True):
    """All game files of a folder, or all games of an export that it holds."""

    path: Path

    @property
    def name(self) -> str:
        """How a person names it."""
        return shown(self.path)

    def games(self, connections: Connections) -> Iterator[FileGame | ExportGame | Missing]:
        """Its games, by name; those of an export as they were begun."""
        del connections
        if holds_export(self.path):
            yield from exported_games(self.path)
            return
        is_empty = True
        for game in games_in(self.path):
            is_empty = False
            yield game
        if is_empty and any(self.path.rglob("*.parquet")):
            problem = "there are Parquet files, and no manifest of an export"
            yield Missing(self.name, Unavailable(Code.EXPORT_FOREIGN, problem=problem, path=self.name))
        elif is_empty:
            yield Missing(self.name, Unavailable(Code.SOURCE_NOT_FOUND, what=f"game file, {PATTERNS}, in it"))


Named: TypeAlias = FileGame | DatabaseGame | ServerGame | Folder | Database | Server

_DATABASE_SUFFIX: Final = ".duckdb"
# Eight bytes of a checksum stand before it.
_DATABASE_MARK: Final = b"DUCK"
_TARGET: Final = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+(?:%\w+)?)\]|[^\s:\[\]/#@]+):(?P<port>\d{1,5})")


def named(text: str) -> Named:
    """What a name on the command line stands for. Raises WrongUse where it is none."""
    if text.startswith(SCHEME):
        target, has_game, game_id = text.removeprefix(SCHEME).partition("#")
        if has_game and not game_id:
            raise WrongUse(f"{text}: a game's id follows the #")
        target = target_of(target)
        return ServerGame(target, game_id) if has_game else Server(target)
    if not text or "\0" in text:
        raise WrongUse("a name of a game is empty, or none that a file can have")
    path = Path(text)
    if not _exists(path) and (split := _split(text)):
        base, game_id = split
        if not game_id:
            raise WrongUse(f"{text}: a game's id follows the #")
        return DatabaseGame(Path(base), game_id)
    if path.is_dir():
        return Folder(path)
    return Database(path) if is_database(path) else FileGame(path, path.stat().st_size if path.is_file() else 0)


def log_named(text: str) -> Database | Server:
    """The database or the server that a name stands for.

    Raises WrongUse for a game and for a folder, Unavailable for a file that is no database.
    """
    match named(text):
        case (Database() | Server()) as log:
            return log
        case Folder(path=path, name=name):
            raise WrongUse(f"{name}: {backup_text(path) or 'a folder is no database'}")
        case FileGame(path=path):
            code = Code.DATABASE_FOREIGN if path.exists() else Code.SOURCE_NOT_FOUND
            raise Unavailable(code, path=shown(path))
        case game:
            raise WrongUse(f"{game.name}: name the database or the server, without a game")


def target_of(text: str) -> str:
    """The `HOST:PORT` of a server. Raises WrongUse."""
    match = _TARGET.fullmatch(text)
    if match is None or not 0 < int(match["port"]) < 65536:
        raise WrongUse(f"{SCHEME}{text}: a server is named {SCHEME}HOST:PORT, an IPv6 address in brackets")
    return text


def one_game(text: str) -> FileGame | DatabaseGame | ServerGame:
    """The one game that a name stands for. Raises WrongUse where it stands for many, Unavailable for a folder."""
    match named(text):
        case Folder(path=path):
            raise Unavailable(Code.SOURCE_UNREADABLE, problem="a folder, where one game is asked for", path=shown(path))
        case Database(path=path) if not path.exists():
            raise Unavailable(Code.SOURCE_NOT_FOUND, path=shown(path))
        case Database(name=name) | Server(name=name):
            raise WrongUse(f"{name}: name one of its games, as {name}#GAME")
        case game:
            return game


def all_games(texts: Iterable[str], connections: Connections) -> Iterator[Game | Missing]:
    """Every game that these names stand for, in their order; in place of what cannot be opened, why."""
    # All of them are looked at first: a wrong name is told before any work is done.
    for source in [named(text) for text in texts]:
        yield from games_of(source, connections)


def games_of(source: Named, connections: Connections) -> Iterator[Game | Missing]:
    """Every game of one source; before those of a database what is wrong with it as a whole."""
    if isinstance(source, DatabaseGame | Database):
        # Where it cannot be opened at all, its games tell of it.
        with suppress(HeptalogError):
            yield from faults(source.path, connections)
    if isinstance(source, FileGame | DatabaseGame | ServerGame):
        yield source
        return
    try:
        yield from source.games(connections)
    except HeptalogError as error:
        yield Missing(source.name, error)


def is_database(path: Path) -> bool:
    """Whether this is to be read as a database: by its name, or by how it begins."""
    if path.suffix == _DATABASE_SUFFIX:
        return True
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(12)[8:] == _DATABASE_MARK
    except OSError:
        # Reading it as a game will say what is wrong.
        return False


def _split(text: str) -> tuple[str, str] | None:
    """The database and the game in a name; a `#` may stand in either."""
    places = [place for place, character in enumerate(text) if character == "#"]
    for place in places:
        if Path(text[:place]).is_file() and is_database(Path(text[:place])):
            return text[:place], text[place + 1 :]
    for place in places:
        is_in_folder = "/" in text[place:] and Path(text).parent.is_dir()
        if text[:place].endswith(_DATABASE_SUFFIX) and not is_in_folder:
            return text[:place], text[place + 1 :]
    return None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        # A name too long to be one, a folder that may not be looked into.
        raise unreadable(path, error) from error
