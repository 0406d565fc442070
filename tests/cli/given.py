"""Games for the tests of the program: as bare files, as recorded ones, and with something wrong in them."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from heptalog.replay.events import Event
from heptalog.replay.gamefile import encode_line
from heptalog.replay.registry import GAMES, REGISTRY
from heptalog.replay.rules import AnyRules
from tests.support.evidence import lines_of, recorded, redacted
from tests.support.play import play

SHARED: Final = Path(__file__).resolve().parents[3] / "shared" / "games"
UP: Final = REGISTRY["seven_up", 1]
BRIDGE: Final = REGISTRY["seven_bridge", 1]
ROCKS: Final = REGISTRY["seven_rocks", 1]


def bare(rules: AnyRules = UP, seed: int = 2, *, length: int = 60, with_rulings: bool = False) -> list[bytes]:
    """The lines of a game as somebody notes it down: nothing but what happened."""
    bodies = play(rules, seed, events_max=length, with_rulings=with_rulings, seat_count=4).bodies
    return [encode_line(Event(sequence, body)) for sequence, body in enumerate(bodies)]


def whole(rules: AnyRules = UP, seed: int = 2, *, length: int = 60, game_id: str = "game") -> list[bytes]:
    """The lines of a game as a service records it: ids, times, seals and a chain."""
    bodies = play(rules, seed, events_max=length, with_rulings=False, seat_count=4).bodies
    return lines_of(event for event, _ in recorded(bodies, game_id=game_id))


def without_secrets(rules: AnyRules = UP, seed: int = 2, *, length: int = 30) -> list[bytes]:
    """The lines of the copy that anybody may have."""
    bodies = play(rules, seed, events_max=length, with_rulings=False, seat_count=4).bodies
    return lines_of(redacted(event for event, _ in recorded(bodies)))


def write(path: Path, lines: Sequence[bytes]) -> Path:
    """A game file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def bad(lines: list[bytes]) -> list[bytes]:
    """A game that starts a second time: a fault of rule in its last line."""
    again = json.loads(lines[0])
    again.pop("eventId", None)
    return [*lines, json.dumps({**again, "sequence": len(lines)}).encode()]


def changed(line: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """A line with something changed in it."""
    tree = json.loads(line)
    change(tree)
    return json.dumps(tree).encode()


def folder_of_games(folder: Path, count: int = 3) -> Path:
    """Some games of each kind."""
    for rules in GAMES:
        for seed in range(count):
            write(folder / rules.key / f"{seed}.jsonl", bare(rules, seed, length=40 + seed, with_rulings=True))
    return folder


def copied(database: Path, path: Path) -> Path:
    """A copy of a database that nobody has open, with all that lies beside it."""
    for file in database.parent.glob(f"{database.name}*"):
        copy = path.with_name(path.name + file.name.removeprefix(database.name))
        if file.is_dir():
            shutil.copytree(file, copy)
        else:
            shutil.copyfile(file, copy)
    return path
