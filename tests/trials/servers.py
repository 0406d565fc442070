"""Real servers for trials: `heptalog serve` in a process of its own, to be watched, stopped and killed.

    python -m tests.trials.servers THRESHOLD serve DATABASE …

is the same program with another threshold of the engine's own checkpoints, so that kills meet many of them.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from heptalog.service.evidence.keys import SigningKey, save

ROOT: Final = Path(__file__).parents[2]
PROGRAM: Final = Path(sys.executable).with_name("heptalog")
WAIT_SECONDS: Final = 120.0


# The key of every trial's log, and how often it signs: often, so that kills meet it.
KEY: Final = SigningKey("seven.example/log", bytes(range(32)))
PUBLIC_KEY: Final = KEY.verifiers[0].format()


def signing(folder: Path) -> tuple[str, ...]:
    """The arguments of a server that signs, with its key in this folder."""
    path = folder / "log.key"
    save(path, KEY)
    return ("--key", str(path), "--checkpoint-seconds", "0.2")


class Serving:
    """One server process, from its start to its end."""

    def __init__(
        self, database: Path, *arguments: str, threshold: str = "", program: Sequence[str | Path] = (PROGRAM,)
    ) -> None:
        if threshold:
            program = (sys.executable, "-m", "tests.trials.servers", threshold)
        self.database = database
        self.target = ""
        self.started_at = time.monotonic()
        self._errors = (database.parent / "server.log").open("ab")
        self._process = subprocess.Popen(
            [*program, "serve", database, "--port", "0", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def number(self) -> int:
        """The number that the operating system gave it."""
        return self._process.pid

    def listens(self) -> float:
        """Wait until it listens; how many seconds that took. Fails where it ends instead."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("listening on "), f"the server ended with {self._process.wait()}; see server.log"
        self.target = line.split()[-1]
        return time.monotonic() - self.started_at

    def kill(self) -> None:
        """SIGKILL, wherever it is. A second time does nothing."""
        self._process.kill()
        self._end()

    def terminate(self) -> int:
        """SIGTERM; the exit code of its own end."""
        self._process.send_signal(signal.SIGTERM)
        return self._end()

    def _end(self) -> int:
        code = self._process.wait(WAIT_SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()
        return code


def main(threshold: str, *arguments: str) -> None:
    """The program, with this threshold."""
    from heptalog.cli.app import main as program
    from heptalog.service.store import migrate

    migrate._SETTINGS["checkpoint_threshold"] = threshold
    sys.argv[1:] = arguments
    program()


if __name__ == "__main__":
    main(*sys.argv[1:])
