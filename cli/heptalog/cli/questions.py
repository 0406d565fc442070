"""Where the text of a question comes from: the command line, a file, or stdin."""

import sys
from pathlib import Path
from typing import BinaryIO, Final

from heptalog.cli.exits import WrongUse

# Nobody writes more by hand, and a server takes no more than a message.
_BYTES_MAX: Final = 1 << 20
_STDIN: Final = "-"


def question_of(given: str | None, file: Path | None) -> str:
    """The question: as it was given, or what a file or stdin has. Raises WrongUse, OSError."""
    if given is not None and file is not None:
        raise WrongUse("give the question itself or --file, not both")
    if given is not None and given != _STDIN:
        return given
    if file is None or str(file) == _STDIN:
        return _read(sys.stdin.buffer, "stdin")
    with file.open("rb") as opened:
        return _read(opened, str(file))


def _read(file: BinaryIO, name: str) -> str:
    data = file.read(_BYTES_MAX + 1)
    if len(data) > _BYTES_MAX:
        raise WrongUse(f"{name}: a question of more than 1 MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise WrongUse(f"{name}: a question is text in UTF-8") from None
