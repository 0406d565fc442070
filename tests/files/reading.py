"""How tests ask the reader of game files about one line."""

import pytest

from heptalog.replay.errors import Malformed
from heptalog.replay.gamefile import read_events

# A note with more after it.
NOTE = '{"sequence":5,"noteAdded":{}%s}'


def put(line: str, value: str) -> str:
    """A line with a value in its place."""
    return line.replace("%s", value)


def as_bytes(line: str | bytes) -> bytes:
    """A line as it stands in a file."""
    return line if isinstance(line, bytes) else line.encode()


def refusal(line: str | bytes) -> Malformed:
    """How the reader refuses a line, as the third of a file whose first two are fine."""
    before = [b'{"noteAdded":{}}\n', b'{"sequence":1,"noteAdded":{}}\n']
    with pytest.raises(Malformed) as refused:
        list(read_events([*before, as_bytes(line)]))
    error = refused.value
    assert error.rule == "game-file"
    assert error.facts["line"] == 3
    return error
