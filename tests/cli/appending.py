"""A game to record into by hand, and what is in it then."""

import json
from pathlib import Path
from typing import Any, Final

from typer.testing import CliRunner

from heptalog.cli.app import app
from tests.cli.given import write
from tests.cli.running import Ended, run

LINES: Final[tuple[dict[str, Any], ...]] = (
    {"gameStarted": {"players": [{"id": "ana"}, {"id": "bo"}, {"id": "chie"}, {"id": "dag"}], "sevenRocks": {}}},
    {
        "tilesDealt": {
            "hands": [
                {"tiles": hand.split()}
                for hand in (
                    "5-5 1-0 2-0 3-0 4-0 6-0 0-0",
                    "5-0 1-1 2-1 3-1 4-1 6-1 5-1",
                    "5-2 2-2 3-2 4-2 6-2 3-3 4-3",
                    "5-3 6-3 4-4 5-4 6-4 6-5 6-6",
                )
            ]
        }
    },
    {"openerDrawn": {"seat": 0}},
    {"tilePlayed": {"seat": 0, "tile": "5-5"}},
    {"tilePlayed": {"seat": 1, "tile": "5-0", "arm": "LEFT"}},
)
HEAD: Final = len(LINES) - 1
TAKEN_BACK: Final = ("movesRetracted", "toSequence=3", "reason=played out of turn")


def write_game(path: Path) -> Path:
    """The game of the README as far as it is played, in a file."""
    return write(
        path, [json.dumps({"sequence": at, "gameId": "final", **line}).encode() for at, line in enumerate(LINES)]
    )


def imported(log: str, folder: Path) -> str:
    """The name of that game in this log."""
    assert run("import", write_game(folder / "game.jsonl"), "--into", log).code == 0
    return f"{log}#final"


def events_of(game: str) -> list[Any]:
    """The lines of a recorded game."""
    ended = run("export", game)
    assert ended.code == 0, ended.err
    return ended.lines


def with_input(text: str, *arguments: object) -> Ended:
    """The command with something on stdin."""
    result = CliRunner().invoke(app, [*map(str, arguments)], input=text)
    assert "internal error" not in result.stderr, result.stderr
    return Ended(result.exit_code, result.stdout, result.stderr)
