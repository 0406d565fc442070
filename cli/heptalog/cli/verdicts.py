"""What a command finds out about one game: a verdict on it, and how a bad one stops whatever was asked of it."""

from msgspec import UNSET, Struct, UnsetType

from heptalog.cli.exits import Exit, exit_of_code
from heptalog.replay.errors import Code
from heptalog.replay.evidence.reveals import Revealed


class SignedBy(Struct, frozen=True, rename="camel"):
    """Who signed a checkpoint, and when by their own word; null where no signature of theirs says."""

    name: str
    key_ids: tuple[str, ...]
    time: str | None


class Proved(Struct, frozen=True, rename="camel"):
    """What a bundle shows. Where no key was given nobody is said to have signed, and nothing `is_proved`."""

    is_proved: bool
    game_id: str
    viewer: str
    hidden_parts: int
    rules_checked_to: int
    log: str
    size: int
    position: int
    root: str
    signatures: tuple[SignedBy, ...]
    revealed: tuple[Revealed, ...]


class Verdict(Struct, frozen=True):
    """What `verify` says of one game; from `sequence` to `message` all is null where it is good.

    Only of a good one it is said whether the game is `over`, as far as that can be known, and of a good bundle also
    what it proves.
    """

    source: str
    ok: bool
    events: int
    sequence: int | None = None
    rule: str | None = None
    code: Code | None = None
    message: str | None = None
    over: bool | None = None
    proof: Proved | UnsetType = UNSET

    @property
    def is_redacted(self) -> bool:
        """Whether nothing is wrong but that a part is left out, after which the rules cannot be checked."""
        return self.code is Code.VALUE_SEALED

    @property
    def exit(self) -> Exit:
        """What the program ends with for it."""
        return Exit.FINE if self.code is None else exit_of_code(self.code)


class Found(Exception):
    """A game turned out to be bad, or could not be read on."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict)
        self.verdict = verdict
