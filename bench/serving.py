"""Servers to measure: each in a process of its own, over a new database, and gone afterwards."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

# Longer than a server takes to end by itself; what it measured is told by then.
_ENDING_SECONDS: Final = 30.0


@contextmanager
def served(*options: str) -> Iterator[tuple[str, int]]:
    """A server over a new database on this disk: where it listens, and the number of its process."""
    folder = Path(tempfile.mkdtemp(prefix="heptalog-bench-", dir=Path.cwd()))
    command = [sys.executable, "-m", "heptalog.cli", "serve", str(folder / "log.duckdb"), "--port", "0", *options]
    try:
        with running(command) as found:
            yield found
    finally:
        shutil.rmtree(folder)


@contextmanager
def running(command: Sequence[str]) -> Iterator[tuple[str, int]]:
    """A server that says in its first line, at the end, where it listens."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1], server.pid
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def cpu_seconds(number: int) -> float:
    """The seconds of CPU that a process has used, without its children."""
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
