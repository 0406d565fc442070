"""What a checkpoint says, to the letter of C2SP tlog-checkpoint: whose log it is, how large, and its root.

origin
size
base64( root )
extension lines, if any
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from heptalog.replay.errors import Code, Corrupt
from heptalog.replay.evidence.chain import HASH_SIZE
from heptalog.replay.evidence.notes import Signed, VerifierKey, Verify, note_invalid, parse_note, signers
from heptalog.replay.evidence.texts import from_base64, from_decimal, to_base64

_LINES_MIN: Final = 3


class CheckpointBody(Struct, frozen=True):
    """The text that is signed: the log of this origin has this root at this size."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()


def parse_checkpoint(text: str) -> CheckpointBody:
    """What the text of a note says. Raises Malformed where it is no checkpoint."""
    lines = text.removesuffix("\n").split("\n")
    if not text.endswith("\n") or len(lines) < _LINES_MIN or not all(lines):
        raise note_invalid("a checkpoint is an origin, a size and a root, each a line")
    origin, size_text, root_text, *extensions = lines
    size, root = from_decimal(size_text), from_base64(root_text)
    if size is None:
        raise note_invalid("the size in a checkpoint is a number without leading zeros")
    if root is None or len(root) != HASH_SIZE:
        raise note_invalid(f"the root in a checkpoint is {HASH_SIZE} bytes in base64")
    return CheckpointBody(origin, size, root, tuple(extensions))


def format_checkpoint(body: CheckpointBody) -> str:
    """The text of a checkpoint, ready to be signed."""
    lines = (body.origin, str(body.size), to_base64(body.root), *body.extensions)
    return "".join(f"{line}\n" for line in lines)


def checkpoint_in(note: str | bytes) -> CheckpointBody:
    """What a signed checkpoint says, whoever signed it. Raises Malformed where it is none."""
    return parse_checkpoint(parse_note(note).text)


def open_checkpoint(
    note: str | bytes, keys: Iterable[VerifierKey], verify: Verify
) -> tuple[CheckpointBody, tuple[Signed, ...]]:
    """What a checkpoint says, and which of the keys signed it; raises Corrupt unless one of them is the log's own.

    A log's own keys have its origin for a name. A witness alone proves nothing: it may have seen another log.
    """
    parsed = parse_note(note)
    body = parse_checkpoint(parsed.text)
    signed = signers(parsed, keys, verify)
    if not any(item.key.name == body.origin for item in signed):
        raise Corrupt(Code.SIGNATURE_MISSING, rule="evidence", problem="only witnesses have", origin=body.origin)
    return body, signed
