"""The program on a terminal of its own: what is typed there, and what can be seen."""

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.cli.running import PROGRAM, WAIT_SECONDS

# What moves the cursor or changes colours, and is not to be read.
_CODES: Final = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>78]|\][^\x07]*\x07)")
_COLOUR: Final = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9\d)(?:;\d+)*m")

# Ctrl-C goes to whom a terminal belongs: a process takes its own, and becomes the program. Between a fork of
# these tests and the program no Python may run, for gRPC's threads are not there any more and their files are.
_OWNER: Final = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    """A terminal, and the program that it belongs to."""

    def __init__(self, process: "subprocess.Popen[bytes]", ours: int) -> None:
        self.process = process
        self._ours = ours
        self._seen = b""
        self._told = 0

    def type(self, text: str) -> None:
        """Press these keys."""
        os.write(self._ours, text.encode())

    def until(self, text: str) -> str:
        """Wait until this can be read, and give all that came since the last wait, up to it."""
        end = time.monotonic() + WAIT_SECONDS
        while (place := self._read_so_far.find(text, self._told)) < 0:
            assert time.monotonic() < end, self._read_so_far
            assert self._read(), self._read_so_far
        begin, self._told = self._told, place + len(text)
        return self._read_so_far[begin : self._told]

    def ended(self) -> tuple[int, str]:
        """The exit code, and what could still be read."""
        while self._read():
            pass
        return self.process.wait(WAIT_SECONDS), self._read_so_far[self._told :]

    @property
    def has_colours(self) -> bool:
        """Whether anything was in colour."""
        return _COLOUR.search(self._text) is not None

    @property
    def _read_so_far(self) -> str:
        return _CODES.sub("", self._text)

    @property
    def _text(self) -> str:
        # Only as a whole: what is read at once may end in the middle of a character, or of an end of a line.
        return self._seen.decode(errors="replace").replace("\r\n", "\n")

    def _read(self) -> bool:
        """Read what there is, once there is something; whether anybody holds the terminal still."""
        is_ready, _, _ = select.select([self._ours], [], [], WAIT_SECONDS)
        assert is_ready, self._read_so_far
        try:
            data = os.read(self._ours, 65536)
        except OSError:
            return False
        self._seen += data
        return True


@contextmanager
def terminal(*arguments: object, columns: int = 80, environment: dict[str, str] | None = None) -> Iterator[Terminal]:
    """The program, started on a terminal of that width."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    # Nobody here answers where the cursor is.
    variables = {**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", **(environment or {})}
    variables = {name: value for name, value in variables.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _OWNER, PROGRAM, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=variables,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            yield Terminal(process, ours)
        finally:
            process.kill()
            os.close(ours)
