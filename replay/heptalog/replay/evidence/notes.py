"""Signed notes and the keys that check them, to the letter of C2SP signed-note and tlog-cosignature.

    text of any number of lines
    <empty line>
    — name base64( key id (4) | signature )

The key id is the beginning of SHA-256( name | 0A | kind | public key ). A key of kind 01 signs the text itself. A key
of kind 04, which a witness has, signs the text after two more lines, `cosignature/v1` and `time SECONDS`, and its
signature begins with that time in 8 bytes. Both are Ed25519, which is passed in: this module knows no cryptography.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Final, Self, TypeAlias

from msgspec import Struct

from heptalog.replay.errors import Code, Corrupt, Malformed
from heptalog.replay.evidence.texts import NUMBER_MAX, from_base64, to_base64

NOTE_SIZE_MAX: Final = 256 * 1024  # bytes; signatures that fear no quantum computer have up to 5 kB each
SIGNATURES_MAX: Final = 64  # C2SP: at least 16
KEYS_MAX: Final = 64  # in one file
NAME_SIZE_MAX: Final = 255  # characters
ED25519: Final = 0x01
COSIGNATURE: Final = 0x04
PUBLIC_SIZE: Final = 32  # bytes of an Ed25519 public key
SIGNATURE_SIZE: Final = 64  # bytes of an Ed25519 signature
_ID_SIZE: Final = 4
_TIME_SIZE: Final = 8
# The points of small order: for such a public key anybody can sign, so who publishes one could deny every signature.
# A point is the number in the 255 lower bits; what is not below the prime is a second spelling of another.
_PRIME: Final = 2**255 - 19
_SMALL_ORDER: Final = frozenset(
    {
        0,
        1,
        _PRIME - 1,
        2707385501144840649318225287225658788936804267575313519463743609750303402022,
        55188659117513257062467267217118295137698188065244968500265048394206261417927,
    }
)
_DASH: Final = "\N{EM DASH} "

# Whether the signature is that of the public key over the message.
Verify: TypeAlias = Callable[[bytes, bytes, bytes], bool]


class Signature(Struct, frozen=True):
    """One signature line: who signed, by name and key id, and the bytes after the id."""

    name: str
    key_id: bytes
    signature: bytes


class Note(Struct, frozen=True):
    """A text, its last newline included, and who signed it. What it says counts only once `signers` has checked."""

    text: str
    signatures: tuple[Signature, ...]


class VerifierKey(Struct, frozen=True):
    """A public key: under which name it signs, and in which manner."""

    name: str
    kind: int
    public: bytes

    @property
    def key_id(self) -> bytes:
        """The four bytes by which a signature says that it is of this key."""
        return sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:_ID_SIZE]

    def format(self) -> str:
        """The key as one word: name, id and key, with a plus between."""
        return f"{self.name}+{self.key_id.hex()}+{to_base64(bytes([self.kind]) + self.public)}"

    @classmethod
    def parse(cls, word: str) -> Self:
        """The key in a word. Raises Malformed where it is none, or not of a kind known here."""
        name, *rest = word.split("+", 2)
        data = from_base64(rest[1]) if len(rest) == 2 else None
        if data is None:
            raise key_invalid("a public key is name+id+base64")
        check_name(name)
        kind, public = data[:1], data[1:]
        if kind not in (bytes([ED25519]), bytes([COSIGNATURE])):
            raise key_invalid("only Ed25519 keys of the kinds 01 and 04 are known here", name=name)
        if len(public) != PUBLIC_SIZE:
            raise key_invalid(f"an Ed25519 public key has {PUBLIC_SIZE} bytes", name=name)
        point = int.from_bytes(public, "little") % 2**255
        if point >= _PRIME or point in _SMALL_ORDER:
            raise key_invalid("this is a public key for which anybody could sign", name=name)
        key = cls(name, kind[0], public)
        if rest[0] != key.key_id.hex():
            raise key_invalid("the id is not that of this name and key", name=name)
        return key


class Signed(Struct, frozen=True):
    """That a key has signed; `time` is what it says of when, in seconds since 1970, where its kind says so."""

    key: VerifierKey
    time: int | None = None


def parse_keys(text: str) -> tuple[VerifierKey, ...]:
    """The public keys in a file, one on a line; lines that are empty or begin with # are passed over."""
    lines = [line.strip() for line in text.splitlines()]
    words = [line for line in lines if line and not line.startswith("#")]
    if not words or len(words) > KEYS_MAX:
        raise key_invalid(f"there are 1 to {KEYS_MAX} public keys in a file")
    return tuple(map(VerifierKey.parse, words))


def check_name(name: str) -> None:
    """Raise Malformed where a key may not have this name: it is not empty, and has neither spaces nor a plus."""
    # Control characters cannot be in a note, so a key of such a name could sign none.
    if (
        not name
        or len(name) > NAME_SIZE_MAX
        or any(letter.isspace() or letter in "+" or letter < " " for letter in name)
    ):
        raise key_invalid("a key's name is not empty and has neither spaces nor a plus", name=name)


def check_new_name(name: str) -> None:
    """Raise Malformed where a new key should not have this name; one that there is may have it.

    A log is named by an address without a scheme (C2SP tlog-checkpoint), and in a file of keys # begins a remark.
    """
    check_name(name)
    if "://" in name:
        raise key_invalid("a key's name is an address without a scheme, as example.org/season", name=name)
    if name.startswith("#") or not name.isprintable():
        raise key_invalid("a key's name is printable and does not begin with #", name=name)


def parse_note(data: str | bytes) -> Note:
    """The note in a text. Raises Malformed where it is none."""
    whole = _decoded(data)
    if any(letter < " " and letter != "\n" for letter in whole):
        raise note_invalid("there are no control characters in a note")
    text, separator, lines = whole.rpartition("\n\n")
    if not separator or not lines.endswith("\n"):
        raise note_invalid("a note is a text, an empty line and lines of signatures, with a newline at its end")
    words = lines[:-1].split("\n")
    if len(words) > SIGNATURES_MAX:
        raise note_invalid(f"a note has at most {SIGNATURES_MAX} signatures")
    if len(set(words)) != len(words):
        raise note_invalid("a signature stands twice")
    return Note(text + "\n", tuple(map(_signature, words)))


def format_note(note: Note) -> str:
    """The text of a note, as it is kept and sent."""
    lines = [f"{_DASH}{item.name} {to_base64(item.key_id + item.signature)}\n" for item in note.signatures]
    return f"{note.text}\n{''.join(lines)}"


def signers(note: Note, keys: Iterable[VerifierKey], verify: Verify) -> tuple[Signed, ...]:
    """What these keys have signed, in the order of the lines. Signatures of others are passed over.

    Raises Corrupt: SIGNATURE_BROKEN where a line says it is of one of the keys and is not, SIGNATURE_MISSING where none
    is of any.
    """
    known: dict[tuple[str, bytes], VerifierKey] = {}
    for key in keys:
        if known.setdefault((key.name, key.key_id), key) != key:
            raise key_invalid("two keys have one name and one id", name=key.name)
    signed = tuple(
        _checked(note.text, item.signature, found, verify)
        for item in note.signatures
        if (found := known.get((item.name, item.key_id)))
    )
    if not signed:
        raise Corrupt(Code.SIGNATURE_MISSING, rule="evidence")
    return signed


def cosigned_message(text: str, time: int) -> bytes:
    """What a key of kind 04 signs."""
    return f"cosignature/v1\ntime {time}\n{text}".encode()


def timed(time: int, signature: bytes) -> bytes:
    """The signature of a key of kind 04 as it stands in its line, after the key id."""
    return time.to_bytes(_TIME_SIZE, "big") + signature


def _checked(text: str, signature: bytes, key: VerifierKey, verify: Verify) -> Signed:
    if key.kind == COSIGNATURE:
        time = int.from_bytes(signature[:_TIME_SIZE], "big")
        signed, signature, message = Signed(key, time), signature[_TIME_SIZE:], cosigned_message(text, time)
        is_right = time <= NUMBER_MAX
    else:
        signed, message, is_right = Signed(key), text.encode(), True
    if not (is_right and len(signature) == SIGNATURE_SIZE and verify(key.public, message, signature)):
        raise Corrupt(Code.SIGNATURE_BROKEN, rule="evidence", name=key.name, key_id=key.key_id.hex())
    return signed


def _signature(line: str) -> Signature:
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    data = from_base64(encoded)
    if not line.startswith(_DASH) or data is None or len(data) <= _ID_SIZE:
        raise note_invalid("a signature is a line of an em dash, a name and base64")
    try:
        check_name(name)
    except Malformed as error:
        raise note_invalid("a signature is of a key whose name has neither spaces nor a plus") from error
    return Signature(name, data[:_ID_SIZE], data[_ID_SIZE:])


def _decoded(data: str | bytes) -> str:
    try:
        # A text that was not read from bytes may hold half a character.
        whole = data.encode() if isinstance(data, str) else data
        if len(whole) > NOTE_SIZE_MAX:
            raise note_invalid(f"a note has at most {NOTE_SIZE_MAX} bytes")
        return whole.decode()
    except UnicodeError as error:
        raise note_invalid("a note is UTF-8") from error


def note_invalid(problem: str) -> Malformed:
    """What is told of a text that is no note, checkpoint or proof."""
    return Malformed(Code.NOTE_INVALID, rule="evidence", problem=problem)


def key_invalid(problem: str, **facts: object) -> Malformed:
    """What is told of a text that is no key, and of a key that cannot be used."""
    return Malformed(Code.KEY_INVALID, rule="evidence", problem=problem, **facts)
