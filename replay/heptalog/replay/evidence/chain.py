"""The hash chain of one game: each event's hash covers the hash before it and its own public form.

    hash = SHA-256( "heptalog.link.v1" 00 | previous hash, 32 bytes | length, 8 bytes big-endian | public form )

The first event follows 32 zero bytes. The public form is the canonical protobuf of the event without its two chain
fields and without sealed values and salts, so that a redacted copy has the same hashes as the record. The whole is
described, with known answers, in docs/evidence.md; what is hashed can never change.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

GENESIS: Final = bytes(32)
HASH_SIZE: Final = 32  # bytes of a hash, and of a commitment
# What is wrong with an event whose link is not what it should be.
NOT_ITS_HASH: Final = "its hash is not that of its content"
NOT_THE_NEXT: Final = "it does not follow the event before it"
_TAG: Final = b"heptalog.link.v1\0"


def link(previous: bytes, public: bytes) -> bytes:
    """The hash of the event with this public form, after the event with the hash `previous`."""
    return sha256(_TAG + previous + len(public).to_bytes(8, "big") + public).digest()


def links(previous: bytes, publics: Iterable[bytes]) -> list[bytes]:
    """The hashes of events with these public forms, one after the other, the first after the hash `previous`."""
    digests = []
    for public in publics:
        previous = link(previous, public)
        digests.append(previous)
    return digests
