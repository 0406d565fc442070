"""Running the program in tests: in this process, which is fast, or as the real thing."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from typer.testing import CliRunner

from heptalog.cli.app import app

# How long what must happen is waited for; it is never waited for in vain.
WAIT_SECONDS: Final = 240.0
PROGRAM: Final = Path(sys.executable).with_name("heptalog")


class Ended(NamedTuple):
    """How a command ended: its exit code, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """Its result as JSON Lines."""
        return [json.loads(line) for line in self.out.split("\n") if line]

    @property
    def document(self) -> Any:
        """Its result as one JSON document."""
        return json.loads(self.out)


def run(*arguments: object) -> Ended:
    """A command in this process."""
    words = [str(argument) for argument in arguments]
    # Whoever runs the tests may serve something on the port that is the program's own.
    assert words[:1] != ["serve"] or {"--port", "--help"} & {*words}, "a server of a test listens on --port 0"
    result = CliRunner().invoke(app, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "internal error" not in result.stderr, result.stderr
    return Ended(result.exit_code, result.stdout, result.stderr)


def run_program(*arguments: object, environment: dict[str, str] | None = None) -> Ended:
    """A command as a user starts it."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, encoding="utf-8", timeout=WAIT_SECONDS, env=environment
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)


class Serving:
    """A server that was started by the program."""

    def __init__(self, process: "subprocess.Popen[str]", announced: str) -> None:
        self.process = process
        self.announced = announced

    @property
    def url(self) -> str:
        """How its games are named, up to the `#`."""
        return f"grpc://{self.announced.split()[-1]}"

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.announced.rsplit(":", 1)[1])

    def stopped(self) -> int:
        """The exit code, after SIGTERM."""
        self.process.terminate()
        return self.process.wait(WAIT_SECONDS)


@contextmanager
def serving(database: Path, *arguments: str) -> Iterator[Serving]:
    """`heptalog serve` in a process of its own, listening."""
    command: Sequence[str | Path] = [PROGRAM, "serve", database, "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield Serving(process, process.stdout.readline().rstrip("\n"))
        finally:
            process.kill()


def only(items: Sequence[Any], fits: Callable[[Any], bool] = lambda _: True) -> Any:
    """The one item that fits."""
    (found,) = [item for item in items if fits(item)]
    return found
