"""How far an audit is, as it can be written down and gone on from."""

from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.json import decode, encode

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.auditing.chapters import Listed
from heptalog.service.auditing.findings import Finding
from heptalog.service.store.files import replace_file

VERSION: Final = 2
# So many findings are kept one by one; of more there is only a count.
FINDINGS_MAX: Final = 100_000
_SIZE_MAX: Final = 1 << 30  # bytes of a state file
_BEGINNING: Final = b'{"bound":'


class Bound(Struct, frozen=True):
    """What an audit is of. One that was begun of anything else is not gone on with."""

    source: str
    events: int
    last: int
    root: bytes
    stamp: tuple[int, ...]  # when and how long the files were
    given: bytes  # a hash over the claims and keys that were brought


class Progress(Struct):
    """What is done, and what came of it."""

    bound: Bound
    version: int = VERSION
    # By position: the spans done, and the right edge over them, by levels.
    spans: int = 0
    edges: list[tuple[int, tuple[bytes, ...]]] = field(default_factory=list)
    is_whole: bool = True
    by_position: int = 0
    positions_total: bytes = b""
    checkpoints: int = 0
    checkpoint_size: int = 0
    root: bytes = b""
    # What was refused.
    has_refusals: bool = False
    refusals: int = 0
    # By game: the greatest number done.
    games_done: int | None = None
    last_game: Listed | None = None
    games: int = 0
    by_game: int = 0
    games_total: bytes = b""
    has_all_games: bool = True  # none that could not be read
    # What was found.
    has_begun: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, finding: Finding) -> None:
        """Take in a finding."""
        self.counts[finding.code] = self.counts.get(finding.code, 0) + 1
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append(finding)


def load(path: Path) -> Progress | None:
    """The state in a file; None where there is none, or none that could be used.

    Raises Unavailable, also where the file is something else: a state is written over and removed at the end.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_SIZE_MAX)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem=error.strerror or "") from error
    if data and not data.startswith(_BEGINNING):
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem="this is not the state of an audit")
    try:
        progress = decode(data, type=Progress)
    except ValueError:
        return None
    return progress if progress.version == VERSION else None


def save(path: Path, progress: Progress) -> None:
    """Put the state in place of the one that is there, whole or not at all. Raises Unavailable."""
    try:
        replace_file(path, encode(progress), mode=0o600)
    except OSError as error:
        raise Unavailable(Code.WRITE_FAILED, path=str(path), problem=error.strerror or "") from error
