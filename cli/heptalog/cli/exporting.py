"""Writing recorded games as game files, whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final
from urllib.parse import quote

from heptalog.cli.connections import Connections
from heptalog.cli.examine import bad, placed
from heptalog.cli.files import unwritable
from heptalog.cli.sources import Game
from heptalog.cli.verdicts import Found
from heptalog.replay.errors import HeptalogError
from heptalog.replay.events import Event
from heptalog.replay.gamefile import encode_line

# What a name of a file may keep of a game's id; everything else is written as %XX.
_KEPT: Final = " !$&'()+,;=@[]{}^~#"
_NAME_MAX: Final = 200  # bytes


def events_of(game: Game, connections: Connections) -> list[Event]:
    """All events of a game as they are recorded. Raises Found where one cannot be read."""
    events: list[Event] = []
    try:
        events.extend(event for event, _ in game.entries(connections))
    except HeptalogError as error:
        raise Found(bad(game, len(events), error, placed(error, len(events)))) from error
    return events


def lines_of(events: Iterable[Event]) -> Iterator[bytes]:
    """The lines of the game file of these events."""
    return (encode_line(event) + b"\n" for event in events)


def write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file beside its place and put it there when it is whole. Raises Unavailable."""
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=".heptalog-", delete=False) as file:
            made = Path(file.name)
            try:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
                made.chmod(0o666 & ~_umask())
                made.replace(path)
            except BaseException:
                made.unlink()
                raise
    except OSError as error:
        raise unwritable(path, error) from error


def file_name(game_id: str) -> str:
    """The name of a game's file: its id, where that can be one; `verify` must take it for a game."""
    name = quote(game_id, safe=_KEPT)
    if len(name) > _NAME_MAX:
        # What is cut off still makes a difference.
        name = f"{name[:_NAME_MAX]}~{sha256(game_id.encode()).hexdigest()[:16]}"
    name = name.replace(".", "%2E") if name.startswith(".") or name.endswith(".expected") else name
    return f"{name}.jsonl"


def _umask() -> int:
    # There is no way to ask without setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
