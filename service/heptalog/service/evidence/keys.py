"""Ed25519 keys: made, kept in files, and used to sign. The cryptography is that of the package `cryptography`.

A private key is one line, as Go's `note` package writes it:

    PRIVATE+KEY+name+id+base64( kind | seed )

A log's key has the kind 01. It signs a note twice: as 01, which every verifier of signed notes takes, and as a
cosignature of kind 04, which says when. A witness has a key of kind 04, and cosigns only.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from heptalog.replay.errors import Code, Malformed, Unavailable
from heptalog.replay.evidence.notes import (
    COSIGNATURE,
    ED25519,
    Signature,
    VerifierKey,
    check_name,
    check_new_name,
    cosigned_message,
    key_invalid,
    parse_keys,
    timed,
)
from heptalog.replay.evidence.texts import from_base64, to_base64
from heptalog.service.store.files import sync_folder

SEED_SIZE: Final = 32
FILE_SIZE_MAX: Final = 64 * 1024  # bytes of a file of keys
_PREFIX: Final = "PRIVATE+KEY+"
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class SigningKey:
    """A private key and the name under which it signs. Its seed shows in no text but `format`."""

    def __init__(self, name: str, seed: bytes, *, is_witness: bool = False) -> None:
        check_name(name)
        self.name = name
        self.is_witness = is_witness
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        public = self._key.public_key().public_bytes_raw()
        kinds = (COSIGNATURE,) if is_witness else (ED25519, COSIGNATURE)
        self.verifiers = tuple(VerifierKey(name, kind, public) for kind in kinds)

    @classmethod
    def generate(cls, name: str, *, is_witness: bool = False) -> "SigningKey":
        """A new key, out of the randomness of the system. Raises Malformed for a name that none should have."""
        check_new_name(name)
        return cls(name, os.urandom(SEED_SIZE), is_witness=is_witness)

    @classmethod
    def parse(cls, text: str) -> "SigningKey":
        """The private key in a text. Raises Malformed where it is none; no part of it is in the error."""
        text = text.strip()
        name, *rest = text.removeprefix(_PREFIX).split("+", 2)
        data = from_base64(rest[1]) if text.startswith(_PREFIX) and len(rest) == 2 else None
        if data is None:
            raise key_invalid("a private key is PRIVATE+KEY+name+id+base64")
        check_name(name)
        kind, seed = data[:1], data[1:]
        if kind not in (bytes([ED25519]), bytes([COSIGNATURE])) or len(seed) != SEED_SIZE:
            raise key_invalid("only Ed25519 keys of the kinds 01 and 04 are known here", name=name)
        key = cls(name, seed, is_witness=kind[0] == COSIGNATURE)
        if rest[0] != key.verifiers[0].key_id.hex():
            raise key_invalid("the id is not that of this name and key", name=name)
        return key

    def format(self) -> str:
        """The private key as text: the secret itself."""
        first = self.verifiers[0]
        secret = bytes([first.kind]) + self._key.private_bytes_raw()
        return f"{_PREFIX}{self.name}+{first.key_id.hex()}+{to_base64(secret)}"

    def sign(self, text: str, time: int) -> tuple[Signature, ...]:
        """The signatures of a note's text, one for each of `verifiers`; `time` is in seconds since 1970."""
        return tuple(self._signed(verifier, text, time) for verifier in self.verifiers)

    def _signed(self, verifier: VerifierKey, text: str, time: int) -> Signature:
        if verifier.kind == COSIGNATURE:
            data = timed(time, self._key.sign(cosigned_message(text, time)))
        else:
            data = self._key.sign(text.encode())
        return Signature(self.name, verifier.key_id, data)


class Keyring(NamedTuple):
    """The keys of one log: those that sign, and public ones that sign no more but have signed before."""

    signing: tuple[SigningKey, ...]
    earlier: tuple[VerifierKey, ...] = ()


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether this is the Ed25519 signature of a public key over a message."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def save(path: Path, key: SigningKey) -> None:
    """Write a private key into a new file that nobody else may read. Raises Unavailable where there is a file."""
    write_new(path, key.format() + "\n", mode=stat.S_IRUSR | stat.S_IWUSR)


def write_new(path: Path, text: str, *, mode: int = 0o666) -> None:
    """Write a file that is not there yet; a key is never written over. Raises Unavailable."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            sync_folder(path.parent)
        except BaseException:
            # A part of it is no key, and would only stand in the way of the next one.
            with suppress(OSError):
                path.unlink()
            raise
    except FileExistsError as error:
        raise _unwritten(path, "a key is never written over") from error
    except OSError as error:
        raise _unwritten(path, error.strerror or "") from error


def load(path: Path) -> SigningKey:
    """The private key in a file. Raises Malformed, Unavailable."""
    ring = load_ring([path])
    if not ring.signing:
        raise key_invalid("a private key is needed here, and this is a public one", path=str(path))
    return ring.signing[0]


def load_public(paths: Iterable[Path]) -> tuple[VerifierKey, ...]:
    """The public keys in these files, all of them. Raises Malformed, Unavailable."""
    ring = load_ring(paths)
    if ring.signing:
        raise key_invalid("a public key is needed here, and this is a private one", name=ring.signing[0].name)
    return ring.earlier


def load_signing(paths: Iterable[Path]) -> Keyring:
    """The keys in these files, of which at least one can sign. Raises Malformed, Unavailable."""
    ring = load_ring(paths)
    if not ring.signing:
        raise key_invalid("a private key is needed here, and this is a public one", name=ring.earlier[0].name)
    return ring


def load_ring(paths: Iterable[Path]) -> Keyring:
    """The private keys in these files, and the public ones. Raises Malformed, Unavailable."""
    signing: list[SigningKey] = []
    earlier: list[VerifierKey] = []
    for path in paths:
        text, is_secret = _text_of(path)
        try:
            if not text.lstrip().startswith(_PREFIX):
                earlier += parse_keys(text)
                continue
            if not is_secret:
                # Who else can read it can sign with it too, and then its signatures say nothing of who signed.
                raise key_invalid("others may read or change this private key; it needs mode 0600")
            signing.append(SigningKey.parse(text))
        except Malformed as error:
            error.facts.setdefault("path", str(path))
            raise
    return Keyring(tuple(signing), tuple(earlier))


def _text_of(path: Path) -> tuple[str, bool]:
    """What is in a file of keys, and whether nobody else may read or change it."""
    try:
        with path.open("rb") as file:
            is_secret = not stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _OTHERS
            data = file.read(FILE_SIZE_MAX + 1)
    except FileNotFoundError as error:
        raise Unavailable(Code.SOURCE_NOT_FOUND, path=str(path)) from error
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, problem=error.strerror or "", path=str(path)) from error
    try:
        if len(data) > FILE_SIZE_MAX:
            raise key_invalid(f"a file of keys has at most {FILE_SIZE_MAX} bytes", path=str(path))
        return data.decode(), is_secret
    except UnicodeDecodeError as error:
        raise key_invalid("a file of keys is UTF-8", path=str(path)) from error


def _unwritten(path: Path, problem: str) -> Unavailable:
    return Unavailable(Code.WRITE_FAILED, what="key", problem=problem, path=str(path))
