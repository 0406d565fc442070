"""Words on a log that stand outside of it: its head record, its last checkpoint, and what an auditor brings."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Unavailable
from heptalog.replay.evidence.bundles import is_bundle, parse_header
from heptalog.replay.evidence.checkpoints import CheckpointBody, checkpoint_in
from heptalog.replay.evidence.notes import NOTE_SIZE_MAX, VerifierKey
from heptalog.replay.gamefile import LINE_SIZE_MAX
from heptalog.service.auditing.findings import Tell, found, found_by
from heptalog.service.auditing.sources import Claim
from heptalog.service.auditing.spans import check_signed
from heptalog.service.store.heads import head_path, read_head
from heptalog.service.store.opening import checkpoint_path

# What has more than this before its first line ends is neither a checkpoint nor a bundle.
_SIZE_MAX: Final = max(4 * NOTE_SIZE_MAX, LINE_SIZE_MAX)  # bytes


def beside(database: Path, keys: Sequence[VerifierKey], tell: Tell, *, is_empty: bool) -> list[Claim]:
    """What the files beside a database say of it. Told is what cannot be read, and a head record that is not there."""
    claims = []
    path = head_path(database)
    try:
        head = read_head(path)
        if head is not None:
            claims.append(Claim(head.size, head.root, Code.HEAD_DIFFERS, path=path.name))
        elif not is_empty:
            tell(found(Code.HEAD_MISSING, path=path.name))
    except Corrupt as error:
        tell(found_by(Corrupt(error.code, rule=error.rule), path=path.name))
    path = checkpoint_path(database)
    if path.exists():
        note = _content(path)
        try:
            body = checkpoint_in(note)
        except HeptalogError as error:
            tell(found_by(error, path=path.name))
        else:
            claims.append(_claim(path, note, body, keys, tell, is_kept=True))
    return claims


def given(paths: Iterable[Path], keys: Sequence[VerifierKey], tell: Tell) -> list[Claim]:
    """What the checkpoints in some files say, and those in bundles; told of is one whose signature is not good.

    Raises Unavailable where a file cannot be read, Malformed where it is neither.
    """
    claims = []
    for path in paths:
        content = _content(path)
        try:
            note = _note_in_bundle(content) if is_bundle(content) else content
            body = checkpoint_in(note)
        except Malformed as error:
            error.facts["path"] = str(path)
            raise
        claims.append(_claim(path, note, body, keys, tell))
    return claims


def _claim(
    path: Path, note: bytes, body: CheckpointBody, keys: Sequence[VerifierKey], tell: Tell, *, is_kept: bool = False
) -> Claim:
    """What a checkpoint says; told is where it is not signed as it should be."""
    try:
        check_signed(note, keys)
    except HeptalogError as error:
        tell(found_by(error, path=path.name))
    return Claim(body.size, body.root, Code.CHECKPOINT_DIFFERS, path=path.name, is_kept=is_kept)


def _note_in_bundle(content: bytes) -> bytes:
    # The games themselves are in the log: only what was signed is asked for.
    return parse_header(content.split(b"\n", 1)[0]).proof.checkpoint.encode()


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_SIZE_MAX + 1)
    except FileNotFoundError as error:
        raise Unavailable(Code.SOURCE_NOT_FOUND, path=str(path)) from error
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem=error.strerror or "") from error
