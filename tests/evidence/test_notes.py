"""Signed notes and keys: what Go and the C2SP texts have, what must be refused, and that nothing can be altered."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heptalog.replay.errors import Code, Corrupt
from heptalog.replay.evidence.notes import (
    COSIGNATURE,
    ED25519,
    NOTE_SIZE_MAX,
    SIGNATURES_MAX,
    Note,
    Signature,
    Signed,
    VerifierKey,
    format_note,
    parse_keys,
    parse_note,
    signers,
    timed,
)
from heptalog.service.evidence.keys import SigningKey, verify
from tests.evidence.given import LOG, OTHER, SECONDS, WITNESS, code_of, refusal

# The keys and the note that the tests of Go's golang.org/x/mod/sumdb/note have.
PETER: Final = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETER_PRIVATE: Final = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
ENOCH: Final = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
TEXT: Final = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
PETER_SIGNED: Final = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
ENOCH_SIGNED: Final = (
    "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n"
)
NOTE: Final = f"{TEXT}\n{PETER_SIGNED}{ENOCH_SIGNED}"
# The first example of C2SP signed-note: an empty line in the text, and letters beyond ASCII.
POEM: Final = (
    "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n"
    "— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+"
    "EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n"
)


def signed(text: str, *keys: SigningKey) -> Note:
    return Note(text, tuple(line for key in keys for line in key.sign(text, SECONDS)))


def test_a_note_of_the_go_package_is_taken() -> None:
    note = parse_note(NOTE)
    assert note.text == TEXT
    assert [(item.name, item.key_id.hex()) for item in note.signatures] == [
        ("PeterNeumann", "c74f20a3"),
        ("EnochRoot", "af0cfe78"),
    ]
    keys = [VerifierKey.parse(PETER), VerifierKey.parse(ENOCH)]
    assert signers(note, keys, verify) == (Signed(keys[0]), Signed(keys[1]))
    assert signers(note, keys[:1], verify) == (Signed(keys[0]),)
    assert signers(note, keys[1:], verify) == (Signed(keys[1]),)
    assert format_note(note) == NOTE
    assert parse_note(NOTE.encode()) == note


def test_our_signature_is_the_one_that_the_go_package_makes() -> None:
    key = SigningKey.parse(PETER_PRIVATE)
    assert key.format() == PETER_PRIVATE
    assert key.verifiers[0].format() == PETER
    assert format_note(Note(TEXT, key.sign(TEXT, SECONDS)[:1])) == f"{TEXT}\n{PETER_SIGNED}"


def test_the_example_of_the_standard_is_a_note() -> None:
    note = parse_note(POEM)
    assert note.text == POEM.rpartition("\n—")[0]
    assert [item.name for item in note.signatures] == ["quasimodo.example/salvatore"]
    assert format_note(note) == POEM


@pytest.mark.parametrize("word", [PETER, ENOCH, *(key.format() for key in (*LOG.verifiers, *WITNESS.verifiers))])
def test_no_mangled_key_is_a_key(word: str) -> None:
    assert VerifierKey.parse(word).format() == word
    mangled = {word[i:j] for i in range(len(word)) for j in range(i, len(word) + 1)} - {word}
    mangled |= {word[:i] + chr(ord(word[i]) + 1) + word[i + 1 :] for i in range(len(word))}
    for text in mangled:
        assert refusal(VerifierKey.parse, text).code is Code.KEY_INVALID


@pytest.mark.parametrize(
    "word",
    [
        "",
        "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",  # longer, and its id fits
        "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",  # another kind, and its id fits
        PETER.replace("c74f20a3", "C74F20A3"),
        f" {PETER}",
        f"{PETER}\n",
        PETER.replace("Peter", "Peter "),
        PETER.replace("Peter", "Peter\N{NO-BREAK SPACE}"),
        PETER.replace("Peter", "Peter\x07"),
        PETER.replace("PeterNeumann", "x" * 256),
        "PeterNeumann+c74f20a3+",
        "PeterNeumann++",
    ],
)
def test_what_is_no_key_is_told(word: str) -> None:
    assert refusal(VerifierKey.parse, word).code is Code.KEY_INVALID


@pytest.mark.parametrize("kind", [ED25519, COSIGNATURE])
@pytest.mark.parametrize(
    "point",
    [
        "01" + "00" * 31,  # one under which the signature below is that of any text
        "01" + "00" * 30 + "80",
        "00" * 32,
        "ec" + "ff" * 30 + "7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "ee" + "ff" * 30 + "7f",  # the first, spelled otherwise
        "ff" * 32,
    ],
)
def test_a_key_for_which_anybody_could_sign_is_refused(point: str, kind: int) -> None:
    key = VerifierKey("anybody", kind, bytes.fromhex(point))
    assert refusal(VerifierKey.parse, key.format()).code is Code.KEY_INVALID


def test_why_such_a_key_is_refused() -> None:
    identity = b"\1" + bytes(31)
    assert verify(identity, b"whatever is said", identity + bytes(32))


def test_a_file_of_keys_has_one_on_a_line() -> None:
    keys = parse_keys(f"# two friends\n{PETER}\n\n  {ENOCH}  \n")
    assert [key.name for key in keys] == ["PeterNeumann", "EnochRoot"]
    for text in ("", "# nobody\n", "\n".join([PETER] * 65), f"{PETER} {ENOCH}"):
        assert refusal(parse_keys, text).code is Code.KEY_INVALID


_LINE: Final = PETER_SIGNED.removesuffix("\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\n\n",
        TEXT,
        f"{TEXT}\n",
        f"{TEXT}{PETER_SIGNED}",  # no empty line
        f"{TEXT}\n{_LINE}",  # no last newline
        f"{TEXT}\n{PETER_SIGNED}\n",
        f"{TEXT}\n{PETER_SIGNED}Unexpected line.\n",
        f"{TEXT}\n{PETER_SIGNED}{PETER_SIGNED}",  # twice
        f"{TEXT}\n{PETER_SIGNED.replace('—', '-')}",
        f"{TEXT}\n{PETER_SIGNED.replace('—', chr(0x2013))}",
        f"{TEXT}\n{PETER_SIGNED.replace('— ', '—')}",
        f"{TEXT}\n{PETER_SIGNED.replace('— ', '—  ')}",
        f"{TEXT}\n{PETER_SIGNED.replace('Neumann', ' Neumann')}",
        f"{TEXT}\n{PETER_SIGNED.replace('Neumann', '+Neumann')}",
        f"{TEXT}\n{PETER_SIGNED.replace('Neumann', chr(0x2003) + 'Neumann')}",
        f"{TEXT}\n{PETER_SIGNED.replace('PeterNeumann', '')}",
        f"{TEXT}\n{_LINE} \n",
        f"{TEXT}\n{_LINE} x\n",
        f"{TEXT}\n{_LINE}\r\n",
        f"{TEXT}\n— PeterNeumann x08go_ZJ\n",  # the other alphabet
        f"{TEXT}\n— PeterNeumann x08goA=\n",
        f"{TEXT}\n— PeterNeumann x08gow\n",  # without padding
        f"{TEXT}\n— PeterNeumann x08go/ZK=\n",
        f"{TEXT}\n— PeterNeumann x08go/Z=\n",
        f"{TEXT}\n— PeterNeumann x08gow==\n",  # an id and nothing else
        f"{TEXT}\n— PeterNeumann\n",
        f"{TEXT}\n— PeterNeumann {'A' * 4}\n",
        f"\x01{NOTE}",
        NOTE.replace("you", "you\t", 1),
        NOTE.replace("you", "you\r", 1),
        NOTE.replace("you", "you\0", 1),
        NOTE.replace("you", "\ud800", 1),
        b"\xff" + NOTE.encode(),
        NOTE.encode("utf-16"),
        TEXT + "\n" + "".join(f"— p{number} x08go/Y=\n" for number in range(SIGNATURES_MAX + 1)),
        "x" * NOTE_SIZE_MAX + "\n\n" + PETER_SIGNED,
    ],
)
def test_what_is_no_note_is_told(text: str | bytes) -> None:
    assert refusal(parse_note, text).code is Code.NOTE_INVALID


def test_base64_that_says_the_same_in_other_letters_is_refused() -> None:
    # The last letter but the padding has two bits to spare.
    other = PETER_SIGNED.replace("AM=", "AN=")
    assert refusal(lambda: parse_note(f"{TEXT}\n{other}")).code is Code.NOTE_INVALID


def test_as_many_signatures_as_the_standard_asks_for_are_taken() -> None:
    lines = "".join(f"— p{number} x08go/Y=\n" for number in range(SIGNATURES_MAX))
    assert len(parse_note(f"{TEXT}\n{lines}").signatures) == SIGNATURES_MAX >= 16


def test_a_log_key_signs_twice_and_says_when() -> None:
    plain, cosigning = LOG.verifiers
    assert (plain.kind, cosigning.kind) == (ED25519, COSIGNATURE)
    note = parse_note(format_note(signed(TEXT, LOG)))
    assert signers(note, LOG.verifiers, verify) == (Signed(plain), Signed(cosigning, SECONDS))
    assert signers(note, [plain], verify) == (Signed(plain),)
    assert signers(note, [cosigning], verify) == (Signed(cosigning, SECONDS),)


def test_a_witness_only_cosigns() -> None:
    note = signed(TEXT, LOG, WITNESS)
    (key,) = WITNESS.verifiers
    assert key.kind == COSIGNATURE
    assert signers(note, [key], verify) == (Signed(key, SECONDS),)


def test_a_signature_of_nobody_known_is_missing() -> None:
    note = signed(TEXT, LOG)
    (plain, _) = LOG.verifiers
    unknown = (
        OTHER.verifiers[0],
        # The same name and another key, the same key and another name, the same of the other kind.
        VerifierKey(plain.name, plain.kind, OTHER.verifiers[0].public),
        VerifierKey("other", plain.kind, plain.public),
    )
    for keys in ((), *((key,) for key in unknown), unknown):
        with pytest.raises(Corrupt) as missing:
            signers(note, keys, verify)
        assert missing.value.code is Code.SIGNATURE_MISSING


def test_a_broken_signature_of_a_known_key_spoils_the_note() -> None:
    note = signed(TEXT, LOG, WITNESS)
    for place, line in enumerate(note.signatures):
        for changed in (
            line.signature[:-1] + bytes([line.signature[-1] ^ 1]),
            bytes([line.signature[0] ^ 1]) + line.signature[1:],
            line.signature[:-1],
            line.signature + b"\0",
            b"\0",
            bytes(64),
            timed(SECONDS, bytes(64)),
            b"\xff" * 8 + line.signature[8:],
            bytes(8) + line.signature,
        ):
            lines = list(note.signatures)
            lines[place] = Signature(line.name, line.key_id, changed)
            with pytest.raises(Corrupt) as broken:
                signers(Note(note.text, tuple(lines)), [*LOG.verifiers, *WITNESS.verifiers], verify)
            assert broken.value.code is Code.SIGNATURE_BROKEN
            assert broken.value.facts["key_id"] == line.key_id.hex()


def test_a_signature_of_one_kind_is_none_of_the_other() -> None:
    plain, cosigning = LOG.sign(TEXT, SECONDS)
    keys = {key.kind: key for key in LOG.verifiers}
    for line, kind in ((cosigning.signature[8:], ED25519), (timed(SECONDS, plain.signature), COSIGNATURE)):
        note = Note(TEXT, (Signature(LOG.name, keys[kind].key_id, line),))
        with pytest.raises(Corrupt) as broken:
            signers(note, [keys[kind]], verify)
        assert broken.value.code is Code.SIGNATURE_BROKEN


def test_another_time_is_another_message() -> None:
    line = WITNESS.sign(TEXT, SECONDS)[0]
    note = Note(TEXT, (Signature(line.name, line.key_id, timed(SECONDS + 1, line.signature[8:])),))
    with pytest.raises(Corrupt):
        signers(note, WITNESS.verifiers, verify)


def test_two_keys_of_one_name_and_id_are_told_apart_by_nobody() -> None:
    class Colliding(VerifierKey, frozen=True):
        @property
        def key_id(self) -> bytes:
            return LOG.verifiers[0].key_id

    keys = [LOG.verifiers[0], Colliding(LOG.name, ED25519, OTHER.verifiers[0].public)]
    assert refusal(lambda: signers(signed(TEXT, LOG), keys, verify)).code is Code.KEY_INVALID
    # The same key twice is no harm.
    assert signers(signed(TEXT, LOG), [keys[0], keys[0]], verify) == (Signed(keys[0]),)


def test_no_byte_of_a_signed_note_can_be_changed() -> None:
    whole = format_note(signed(TEXT, LOG)).encode()
    keys = LOG.verifiers
    for place in range(len(whole)):
        for bit in (1, 0x80, 0x20):
            changed = whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]
            code = code_of(lambda data: signers(parse_note(data), keys, verify), changed)
            assert code in (None, Code.NOTE_INVALID, Code.SIGNATURE_BROKEN, Code.SIGNATURE_MISSING)
            if code is None:
                # One of the two lines has become a stranger's; the text is the one that was signed.
                assert parse_note(changed).text == TEXT
                assert len(signers(parse_note(changed), keys, verify)) == 1


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_anything_is_a_note_or_is_told(data: str | bytes) -> None:
    code = code_of(parse_note, data)
    assert code in (None, Code.NOTE_INVALID)
    if code is None:
        assert format_note(parse_note(data)) == (data if isinstance(data, str) else data.decode())


_NAMES = st.text(
    st.characters(blacklist_categories=["Cc", "Cs", "Zs", "Zl", "Zp"], blacklist_characters="+"), min_size=1
)
_TEXTS = st.text(st.characters(blacklist_categories=["Cc", "Cs"]) | st.just("\n")).map(lambda text: text + "\n")
_SIGNATURES = st.builds(Signature, _NAMES, st.binary(min_size=4, max_size=4), st.binary(min_size=1, max_size=80))


@given(_TEXTS, st.lists(_SIGNATURES, min_size=1, max_size=8, unique=True))
def test_a_note_is_read_as_it_was_written(text: str, lines: list[Signature]) -> None:
    note = Note(text, tuple(lines))
    assert parse_note(format_note(note)) == note
    assert parse_note(format_note(note).encode()) == note
