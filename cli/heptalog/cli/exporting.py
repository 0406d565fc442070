"""Writing recorded games as game files, whole or not at all."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from heptalog.cli.connections import Connections, shown
from heptalog.cli.examine import bad, placed
from heptalog.cli.exits import Exit, WrongUse
from heptalog.cli.files import Missing
from heptalog.cli.options import ARBITER
from heptalog.cli.output import write_bytes
from heptalog.cli.render import finding_text
from heptalog.cli.sources import Game
from heptalog.cli.spreading import spread
from heptalog.cli.verdicts import Found, Verdict
from heptalog.cli.viewers import viewer_named
from heptalog.replay.errors import Code, HeptalogError
from heptalog.replay.events import Event
from heptalog.replay.fold import fold_all
from heptalog.replay.gamefile import encode_line
from heptalog.replay.redaction import redacted_for

# What a name of a file may keep of a game's id; everything else is written as %XX.
_KEPT: Final = " !$&'()+,;=@[]{}^~#"
_NAME_MAX: Final = 200  # bytes
# Files that are brought to the disk at once: one alone waits for it most of the time.
_FILES_AT_ONCE: Final = 16
_ASKING: Final = Lock()  # for the mask
# What begins so is a log, its head record or a key, and no game that somebody wants replaced.
_KEEPSAKES: Final = re.compile(rb".{8}DUCK|heptalog head |PRIVATE\+KEY\+", re.DOTALL)


def events_of(game: Game, connections: Connections) -> list[Event]:
    """All events of a game as they are recorded. Raises Found where one cannot be read."""
    events: list[Event] = []
    try:
        events.extend(event for event, _ in game.entries(connections))
    except HeptalogError as error:
        raise Found(bad(game, len(events), error, placed(error, len(events)))) from error
    return events


def events_for(viewer: str, game: Game, connections: Connections) -> list[Event]:
    """What a viewer may have of a game: seals without values in place of what is hidden from it.

    Raises WrongUse for who is not at the table, Found where it cannot be told what is hidden, or cannot be left out.
    """
    events = events_of(game, connections)
    if viewer == ARBITER:
        return events
    try:
        fold = fold_all(event.body for event in events)
        return list(redacted_for(events, fold, viewer_named(viewer, fold.started.players)))
    except HeptalogError as error:
        raise Found(bad(game, 0, error, placed(error))) from error


class Exported(Struct, frozen=True):
    """What came of one game: where it was not written, why."""

    exit: Exit = Exit.FINE
    problem: str = ""


def exported(
    games: Iterable[Game | Missing], viewer: str, folder: Path, connections: Connections, *, jobs: int = 0
) -> Iterator[Exported]:
    """Write what a viewer may have of each game into a folder, and tell what came of it, in order.

    Raises Found where a file cannot be written. `jobs` is how many processes may work; 0 is one a core.
    """
    for _, result in spread(partial(_export, viewer, folder), games, connections, jobs=jobs):
        yield result


def _export(viewer: str, folder: Path, games: Sequence[Game | Missing], connections: Connections) -> list[Exported]:
    with ThreadPoolExecutor(_FILES_AT_ONCE) as writers:
        writing = [_begun(viewer, folder, game, connections, writers) for game in games]
        return [begun if isinstance(begun, Exported) else begun.result() for begun in writing]


def _begun(
    viewer: str, folder: Path, game: Game | Missing, connections: Connections, writers: ThreadPoolExecutor
) -> "Exported | Future[Exported]":
    """The game on its way into its file, or why there is none."""
    try:
        if isinstance(game, Missing):
            raise Found(bad(game, 0, game.error))
        events = events_for(viewer, game, connections)
    except Found as found:
        return Exported(found.verdict.exit, finding_text(found.verdict))
    except WrongUse as error:
        return Exported(Exit.WRONG_USE, f"{game.name}: {error}")
    lines = list(lines_of(events))
    return writers.submit(_written, folder / file_name(events[0].game_id), lines)


def _written(path: Path, lines: list[bytes]) -> Exported:
    write_whole(path, lines)
    return Exported()


def lines_of(events: Iterable[Event]) -> Iterator[bytes]:
    """The lines of the game file of these events."""
    return (encode_line(event) + b"\n" for event in events)


def write_out(out: Path | None, lines: Sequence[bytes]) -> None:
    """Write to a file, as `write_whole` does, or to stdout where none is named, or -."""
    if out is None or out == Path("-"):
        write_bytes(b"".join(lines))
    else:
        write_whole(out, lines)


def write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file, whole or not at all. Raises Found where it cannot be written.

    What is there and is no ordinary file, as a pipe, is written into and never replaced; a link stays a link.
    """
    try:
        known = _status(path)
        if known is None or stat.S_ISREG(known.st_mode):
            _replace(path, known, lines)
        elif stat.S_ISFIFO(known.st_mode) or stat.S_ISCHR(known.st_mode):
            _write_into(path, lines)
        else:
            raise _unwritable(path, "it is neither a file nor a pipe")
    except OSError as error:
        raise _unwritable(path, error.strerror or type(error).__name__) from error


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _replace(path: Path, known: os.stat_result | None, lines: Iterable[bytes]) -> None:
    """Write a file beside its place and put it there when it is whole."""
    target = Path(os.path.realpath(path))
    if known is not None and not (target.exists() and os.path.samestat(target.stat(), known)):
        # Open somewhere, and without a name of its own any more: /dev/stdout can lead to such a file.
        _write_into(path, lines)
        return
    if known is not None:
        with target.open("rb") as there:
            if _KEEPSAKES.match(there.read(16)):
                raise _unwritable(path, "a database, its head record or a private key is there")
    mode = 0o666 & ~_umask() if known is None else stat.S_IMODE(known.st_mode)
    with NamedTemporaryFile(dir=target.parent, prefix=".heptalog-", delete=False) as file:
        made = Path(file.name)
        try:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
            made.chmod(mode)
            made.replace(target)
        except BaseException:
            made.unlink()
            raise


def _write_into(path: Path, lines: Iterable[bytes]) -> None:
    # Nothing is made here: what was there a moment ago may be gone.
    with os.fdopen(os.open(path, os.O_WRONLY), "wb") as file:
        file.writelines(lines)


def _unwritable(path: Path, problem: str) -> Found:
    message = f"it cannot be written: {problem}"
    return Found(Verdict(shown(path), ok=False, events=0, code=Code.WRITE_FAILED, message=message))


def file_name(game_id: str) -> str:
    """The name of a game's file: its id, where that can be one; `verify` must take it for a game."""
    name = quote(game_id, safe=_KEPT)
    if len(name) > _NAME_MAX:
        # What is cut off still makes a difference.
        name = f"{name[:_NAME_MAX]}~{sha256(game_id.encode()).hexdigest()[:16]}"
    name = name.replace(".", "%2E") if name.startswith(".") or name.endswith(".expected") else name
    return f"{name}.jsonl"


def _umask() -> int:
    # There is no way to ask without setting it, and files are written by several threads.
    with _ASKING:
        mask = os.umask(0)
        os.umask(mask)
    return mask
