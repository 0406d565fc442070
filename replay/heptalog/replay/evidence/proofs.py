"""A proof that needs no server, to the letter of C2SP tlog-proof: where a leaf is, the way up, and the signed root.

c2sp.org/tlog-proof@v1
extra base64                  (omitted where there is nothing)
index N
base64( hash )                (from the sibling of the leaf up to the child of the root)
<empty line>
the checkpoint
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from heptalog.replay.evidence.chain import HASH_SIZE
from heptalog.replay.evidence.checkpoints import CheckpointBody, checkpoint_in, open_checkpoint
from heptalog.replay.evidence.merkle import check_inclusion
from heptalog.replay.evidence.notes import NOTE_SIZE_MAX, Signed, VerifierKey, Verify, note_invalid
from heptalog.replay.evidence.texts import from_base64, from_decimal, to_base64

HASHES_MAX: Final = 63  # as many levels as a log may have
PROOF_SIZE_MAX: Final = 2 * NOTE_SIZE_MAX  # characters
_FIRST_LINE: Final = "c2sp.org/tlog-proof@v1"
_EXTRA: Final = "extra "
_INDEX: Final = "index "


class LogProof(Struct, frozen=True):
    """Where a leaf is in the log, from 0; the hashes up to the root; and the checkpoint, a note, verbatim.

    Nothing vouches for what is in `extra`.
    """

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: str
    extra: bytes = b""


def parse_proof(text: str) -> LogProof:
    """The proof in a text. Raises Malformed where it is none; whether it proves anything is for `check_proof`."""
    if len(text) > PROOF_SIZE_MAX:
        raise note_invalid(f"a proof has at most {PROOF_SIZE_MAX} characters")
    head, separator, checkpoint = text.partition("\n\n")
    lines = head.split("\n")
    if not separator or lines.pop(0) != _FIRST_LINE:
        raise note_invalid(f"a proof begins with {_FIRST_LINE}, and has a checkpoint after an empty line")
    extra = b""
    if lines and lines[0].startswith(_EXTRA):
        extra = from_base64(lines.pop(0).removeprefix(_EXTRA)) or b""
        if not extra:
            raise note_invalid("what is extra in a proof is base64")
    index = from_decimal(lines[0].removeprefix(_INDEX)) if lines and lines[0].startswith(_INDEX) else None
    if index is None:
        raise note_invalid("a proof says the index of its leaf, a number without leading zeros")
    if len(lines) > HASHES_MAX + 1:
        raise note_invalid(f"a proof has at most {HASHES_MAX} hashes")
    hashes = tuple(digest for line in lines[1:] if (digest := from_base64(line)) and len(digest) == HASH_SIZE)
    if len(hashes) != len(lines) - 1:
        raise note_invalid(f"a hash in a proof is {HASH_SIZE} bytes in base64")
    checkpoint_in(checkpoint)
    return LogProof(index, hashes, checkpoint, extra)


def format_proof(proof: LogProof) -> str:
    """The text of a proof."""
    extra = (f"{_EXTRA}{to_base64(proof.extra)}",) if proof.extra else ()
    lines = (_FIRST_LINE, *extra, f"{_INDEX}{proof.index}", *map(to_base64, proof.hashes), "")
    return "\n".join(lines) + "\n" + proof.checkpoint


def check_proof(
    proof: LogProof, leaf: bytes, keys: Iterable[VerifierKey], verify: Verify
) -> tuple[CheckpointBody, tuple[Signed, ...]]:
    """The log that this leaf hash is in, and which of the keys signed it.

    Raises Corrupt where the proof does not lead from the leaf to the root, or the checkpoint is not signed by them.
    """
    body, signed = open_checkpoint(proof.checkpoint, keys, verify)
    check_inclusion(leaf, proof.index, body.size, proof.hashes, body.root)
    return body, signed
