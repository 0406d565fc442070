"""Checkpoints and proofs as texts: the examples of the standards, what must be refused, and who must have signed."""

import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt
from heptalog.replay.evidence.checkpoints import (
    CheckpointBody,
    checkpoint_in,
    format_checkpoint,
    open_checkpoint,
    parse_checkpoint,
)
from heptalog.replay.evidence.merkle import Frontier, inclusion_proof, leaf_hash, node_hash
from heptalog.replay.evidence.notes import Note, Signed, format_note, parse_keys, parse_note
from heptalog.replay.evidence.proofs import LogProof, check_proof, format_proof, parse_proof
from heptalog.replay.evidence.texts import NUMBER_MAX, from_base64, to_base64
from heptalog.service.evidence.keys import Keyring, SigningKey, verify
from heptalog.service.store.memory import MemoryStore
from tests.evidence.given import LOG, NEXT, OTHER, SECONDS, WITNESS, code_of, refusal
from tests.service.asking import new_game
from tests.support.serving import Service

# The example of C2SP tlog-cosignature: a checkpoint, signed by its log and by a witness.
EXAMPLE: Final = (
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "— example.com/behind-the-sofa "
    "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    "— witness.example.com/w1 "
    "jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"
)
DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "evidence.md"
ROOT: Final = leaf_hash(b"root")
BODY: Final = CheckpointBody(LOG.name, 12, ROOT)
TEXT: Final = format_checkpoint(BODY)


def signed(body: CheckpointBody, *keys: SigningKey) -> str:
    text = format_checkpoint(body)
    return format_note(Note(text, tuple(line for key in keys for line in key.sign(text, SECONDS))))


def test_the_example_of_the_standard_is_a_checkpoint() -> None:
    note = parse_note(EXAMPLE)
    body = checkpoint_in(EXAMPLE)
    assert (body.origin, body.size, body.extensions) == ("example.com/behind-the-sofa", 20852163, ())
    assert to_base64(body.root) == "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
    assert format_checkpoint(body) == note.text
    assert format_note(note) == EXAMPLE
    # The time that the standard says the witness has signed at.
    assert int.from_bytes(note.signatures[1].signature[:8], "big") == 1679315147
    assert len(note.signatures[1].signature) == 8 + 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        TEXT.removesuffix("\n"),
        f"{TEXT}\n",
        TEXT.replace("\n", "\n\n", 1),
        f"\n{TEXT}",
        TEXT.replace("12", "012"),
        TEXT.replace("12", "+12"),
        TEXT.replace("12", "-12"),
        TEXT.replace("12", "1_2"),
        TEXT.replace("12", " 12"),
        TEXT.replace("12", "12 "),
        TEXT.replace("12", "1e1"),
        TEXT.replace("12", "\N{ARABIC-INDIC DIGIT ONE}\N{ARABIC-INDIC DIGIT TWO}"),
        TEXT.replace("12", ""),
        TEXT.replace("12", "00"),
        TEXT.replace("12", str(NUMBER_MAX + 1)),
        TEXT.replace("12", "9" * 5000),
        TEXT.replace("=", ""),
        TEXT.replace("=\n", "=\r\n"),
        TEXT.replace(to_base64(ROOT), ROOT.hex()),
        TEXT.replace(to_base64(ROOT), to_base64(ROOT[:-1])),
        TEXT.replace(to_base64(ROOT), to_base64(ROOT + b"\0")),
        TEXT.replace(to_base64(ROOT), to_base64(ROOT).replace("/", "_").replace("+", "-").replace("=", "=\t")),
        "\n".join(TEXT.split("\n")[:2]) + "\n",
        f"{TEXT}one\n\nother\n",
    ],
)
def test_what_is_no_checkpoint_is_told(text: str) -> None:
    assert refusal(parse_checkpoint, text).code is Code.NOTE_INVALID


@given(
    st.text(st.characters(blacklist_categories=["Cc", "Cs"]), min_size=1),
    st.integers(0, NUMBER_MAX),
    st.binary(min_size=32, max_size=32),
    st.lists(st.text(st.characters(blacklist_categories=["Cc", "Cs"]), min_size=1), max_size=3),
)
def test_a_checkpoint_is_read_as_it_was_written(origin: str, size: int, root: bytes, extensions: list[str]) -> None:
    body = CheckpointBody(origin, size, root, tuple(extensions))
    assert parse_checkpoint(format_checkpoint(body)) == body


@given(st.text(max_size=100))
def test_anything_is_a_checkpoint_or_is_told(text: str) -> None:
    assert code_of(parse_checkpoint, text) in (None, Code.NOTE_INVALID)


@given(st.text("AQgw/+=-_\n 4é", max_size=12))
def test_base64_has_one_spelling(text: str) -> None:
    data = from_base64(text)
    assert data is None or to_base64(data) == text


def test_a_checkpoint_tells_who_signed_it_and_when() -> None:
    note = signed(BODY, LOG, WITNESS)
    plain, cosigning = LOG.verifiers
    (witness,) = WITNESS.verifiers
    assert open_checkpoint(note, [plain], verify) == (BODY, (Signed(plain),))
    assert open_checkpoint(note, [*LOG.verifiers, witness], verify) == (
        BODY,
        (Signed(plain), Signed(cosigning, SECONDS), Signed(witness, SECONDS)),
    )


@pytest.mark.parametrize("keys", [WITNESS.verifiers, OTHER.verifiers, NEXT.verifiers, ()])
def test_without_the_key_of_the_log_nothing_is_proved(keys: tuple[object, ...]) -> None:
    """Not by a witness, by another log, by another key of this name, or by nobody."""
    note = signed(BODY, LOG, WITNESS, OTHER)
    with pytest.raises(Corrupt) as missing:
        open_checkpoint(note, keys, verify)  # type: ignore[arg-type]  # each has keys
    assert missing.value.code is Code.SIGNATURE_MISSING


def test_either_key_of_a_rotation_is_enough() -> None:
    note = signed(BODY, LOG, NEXT)
    for keys in (LOG.verifiers, NEXT.verifiers, (*LOG.verifiers, *NEXT.verifiers)):
        body, found = open_checkpoint(note, keys, verify)
        assert body == BODY
        assert [item.key for item in found] == list(keys)
    assert LOG.verifiers[0].key_id != NEXT.verifiers[0].key_id


# Proofs.


LEAVES: Final = tuple(leaf_hash(bytes([number])) for number in range(13))


def nodes(level: int, index: int) -> bytes:
    return LEAVES[index] if not level else node_hash(nodes(level - 1, 2 * index), nodes(level - 1, 2 * index + 1))


def proof_of(index: int, *keys: SigningKey, extra: bytes = b"") -> LogProof:
    frontier = Frontier()
    for leaf in LEAVES:
        frontier.append(leaf)
    note = signed(CheckpointBody(LOG.name, len(LEAVES), frontier.root()), *(keys or (LOG,)))
    return LogProof(index, inclusion_proof(index, len(LEAVES), nodes), note, extra)


@pytest.mark.parametrize("extra", [b"", b"\0", b"anything"])
@pytest.mark.parametrize("index", range(len(LEAVES)))
def test_a_proof_is_read_as_it_was_written(index: int, extra: bytes) -> None:
    proof = proof_of(index, extra=extra)
    text = format_proof(proof)
    assert parse_proof(text) == proof
    assert text.startswith("c2sp.org/tlog-proof@v1\n" + (f"extra {to_base64(extra)}\n" if extra else "index "))
    body, found = check_proof(proof, LEAVES[index], LOG.verifiers, verify)
    assert (body.size, len(found)) == (13, 2)


def test_the_proof_of_a_log_of_one_has_no_hash() -> None:
    note = signed(CheckpointBody(LOG.name, 1, LEAVES[0]), LOG)
    text = f"c2sp.org/tlog-proof@v1\nindex 0\n\n{note}"
    assert parse_proof(text) == LogProof(0, (), note)
    assert format_proof(parse_proof(text)) == text
    check_proof(parse_proof(text), LEAVES[0], LOG.verifiers, verify)


GOOD: Final = format_proof(proof_of(5, extra=b"more"))
HASH: Final = to_base64(proof_of(5).hashes[1])


@pytest.mark.parametrize(
    "text",
    [
        "",
        GOOD.replace("@v1", "@v2"),
        f" {GOOD}",
        f"\n{GOOD}",
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("extra bW9yZQ==", "extra bW9yZR=="),
        GOOD.replace("extra bW9yZQ==", "extra bW9yZQ"),
        GOOD.replace("extra bW9yZQ==", "extra "),
        GOOD.replace("extra bW9yZQ==", "extra bW9yZQ==\nextra bW9yZQ=="),
        GOOD.replace("extra bW9yZQ==\nindex 5", "index 5\nextra bW9yZQ=="),
        GOOD.replace("extra", "Extra"),
        GOOD.replace("index 5", "index 05"),
        GOOD.replace("index 5", "index -5"),
        GOOD.replace("index 5", "index  5"),
        GOOD.replace("index 5", "index"),
        GOOD.replace("index 5\n", ""),
        GOOD.replace("index 5\n", "index 5\nindex 5\n"),
        GOOD.replace(HASH, HASH[:-1]),
        GOOD.replace(HASH, to_base64(bytes(31))),
        GOOD.replace(f"{HASH}\n", f"{HASH}\n" * 64),
        GOOD.replace(f"{HASH}\n", f"{HASH}\n\n"),
        GOOD.partition("\n\n")[0],
        GOOD.partition("\n\n")[0] + "\n\n",
        GOOD.rpartition("\n\n")[0] + "\n",
        f"{GOOD}\n",
        GOOD.replace("bW9yZQ==", to_base64(bytes(600_000))),
    ],
)
def test_what_is_no_proof_is_told(text: str) -> None:
    assert refusal(parse_proof, text).code is Code.NOTE_INVALID


def test_a_proof_of_another_leaf_place_or_log_proves_nothing() -> None:
    proof = proof_of(5)
    foul = [
        (proof, LEAVES[6]),
        (LogProof(4, proof.hashes, proof.checkpoint), LEAVES[5]),
        (LogProof(13, proof.hashes, proof.checkpoint), LEAVES[5]),
        (LogProof(5, proof.hashes[1:], proof.checkpoint), LEAVES[5]),
        (LogProof(5, proof.hashes[::-1], proof.checkpoint), LEAVES[5]),
        (LogProof(5, proof.hashes, signed(CheckpointBody(LOG.name, 13, ROOT), LOG)), LEAVES[5]),
        (LogProof(5, proof.hashes, signed(CheckpointBody(LOG.name, 5, ROOT), LOG)), LEAVES[5]),
    ]
    for changed, leaf in foul:
        with pytest.raises(Corrupt) as broken:
            check_proof(changed, leaf, LOG.verifiers, verify)
        assert broken.value.code is Code.PROOF_BROKEN


def test_no_letter_of_a_proof_can_be_changed() -> None:
    """Except in what is extra, which nothing vouches for, and in the other one of the log's two signatures."""
    good = parse_proof(GOOD)
    plain = LOG.verifiers[:1]
    codes = set()
    for place, letter in enumerate(GOOD):
        changed = GOOD[:place] + chr(ord(letter) ^ 1) + GOOD[place + 1 :]
        code = code_of(lambda text: check_proof(parse_proof(text), LEAVES[5], plain, verify), changed)
        if code is None:
            proof = parse_proof(changed)
            assert (proof.index, proof.hashes) == (good.index, good.hashes)
            assert parse_note(proof.checkpoint).text == parse_note(good.checkpoint).text
            assert parse_note(proof.checkpoint).signatures[0] == parse_note(good.checkpoint).signatures[0]
        codes.add(code)
    assert codes == {
        None,
        Code.NOTE_INVALID,
        Code.PROOF_BROKEN,
        Code.SIGNATURE_BROKEN,
        Code.SIGNATURE_MISSING,
    }


@given(st.text(max_size=200))
def test_anything_is_a_proof_or_is_told(text: str) -> None:
    assert code_of(lambda: parse_proof(f"c2sp.org/tlog-proof@v1\n{text}")) in (None, Code.NOTE_INVALID)


# The document.


def test_the_document_has_a_note_of_another_program_that_ours_would_write_too() -> None:
    """aics-tlog 0.2.1 made the note in docs/evidence.md, with the keys of `given`, over the leaves a, b and c."""
    text = DOCUMENT.read_text()
    (note, keys) = (re.findall(rf"<!-- {name} -->\n```\n(.*?)```", text, re.DOTALL)[0] for name in ("note", "keys"))
    body, found = open_checkpoint(note, parse_keys(keys), verify)
    frontier = Frontier()
    for data in (b"a", b"b", b"c"):
        frontier.append(leaf_hash(data))
    assert body == CheckpointBody(LOG.name, 3, frontier.root())
    assert found == (Signed(LOG.verifiers[0]), Signed(WITNESS.verifiers[0], SECONDS))
    unsigned = format_checkpoint(body)
    lines = (LOG.sign(unsigned, SECONDS)[0], *WITNESS.sign(unsigned, SECONDS))
    assert format_note(Note(unsigned, lines)) == note


def test_the_example_of_the_document_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("season.pub").write_text("".join(f"{key.format()}\n" for key in LOG.verifiers))
    with Service(MemoryStore(), keys=Keyring((LOG,))) as service, service.client() as client:
        new_game(client, "final", remark_count=9)
        note = client.checkpoint(is_fresh=True).note
        program = compile(example.replace("127.0.0.1:7777", service.target), "evidence.md", "exec")
        Path("today.checkpoint").write_text(note)
        exec(program, {})
        # Signed as it should be, and over another log.
        other = format_checkpoint(replace(checkpoint_in(note), root=bytes(32)))
        Path("today.checkpoint").write_text(format_note(Note(other, LOG.sign(other, SECONDS))))
        with pytest.raises(Corrupt):
            exec(program, {})
