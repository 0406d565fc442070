"""What a command finds out about one game: a verdict on it, and how a bad one stops whatever was asked of it."""

from msgspec import Struct

from heptalog.cli.exits import Exit, exit_of_code
from heptalog.replay.errors import Code


class Verdict(Struct, frozen=True):
    """What `verify` says of one game; the last four are null where it is good."""

    source: str
    ok: bool
    events: int
    sequence: int | None = None
    rule: str | None = None
    code: Code | None = None
    message: str | None = None

    @property
    def exit(self) -> Exit:
        return Exit.FINE if self.code is None else exit_of_code(self.code)


class Found(Exception):
    """A game turned out to be bad, or could not be read on."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict)
        self.verdict = verdict
