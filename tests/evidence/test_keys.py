"""Keys in files: what is written, who may read it, and what is refused without a word of the secret."""

import stat
from pathlib import Path

import pytest

from heptalog.replay.errors import Code, Malformed, Unavailable
from heptalog.replay.evidence.notes import COSIGNATURE, ED25519, VerifierKey
from heptalog.replay.sentences import sentence
from heptalog.service.evidence import keys
from heptalog.service.evidence.keys import SigningKey, load, load_public, load_ring, save, verify, write_new
from tests.evidence.given import LOG, NEXT, SECONDS, WITNESS, key_of, refusal

TEXT = "text\n"


@pytest.mark.parametrize("key", [LOG, WITNESS])
def test_a_key_is_read_as_it_was_written(key: SigningKey, tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    save(path, key)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = load(path)
    assert again.verifiers == key.verifiers
    assert again.sign(TEXT, SECONDS) == key.sign(TEXT, SECONDS)
    assert path.read_text() == f"{key.format()}\n"


def test_a_log_key_has_two_manners_and_a_witness_one() -> None:
    assert [key.kind for key in LOG.verifiers] == [ED25519, COSIGNATURE]
    assert [key.kind for key in WITNESS.verifiers] == [COSIGNATURE]
    assert len({key.key_id for key in (*LOG.verifiers, *NEXT.verifiers)}) == 4


def test_new_keys_differ() -> None:
    assert SigningKey.generate("a").verifiers != SigningKey.generate("a").verifiers


def test_the_signatures_are_those_of_the_public_key() -> None:
    plain = LOG.sign(TEXT, SECONDS)[0]
    public = LOG.verifiers[0].public
    assert verify(public, TEXT.encode(), plain.signature)
    assert not verify(public, b"other", plain.signature)
    assert not verify(NEXT.verifiers[0].public, TEXT.encode(), plain.signature)
    # No point of the curve, so the key of nobody.
    assert not verify(b"\2" + bytes(31), TEXT.encode(), plain.signature)


def test_a_key_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    save(path, LOG)
    with pytest.raises(Unavailable) as there:
        save(path, NEXT)
    assert there.value.code is Code.WRITE_FAILED
    assert load(path).verifiers == LOG.verifiers
    with pytest.raises(Unavailable):
        save(tmp_path / "nowhere" / "log.key", LOG)


def test_a_key_that_was_not_written_whole_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(keys, "sync_folder", fail)
        with pytest.raises(Unavailable) as caught:
            save(tmp_path / "log.key", LOG)
    assert sentence(caught.value).startswith("the key could not be written: No space left on device, path ")
    assert list(tmp_path.iterdir()) == []
    save(tmp_path / "log.key", LOG)


def test_a_link_to_a_file_that_is_not_there_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable):
        save(tmp_path / "link", LOG)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o660, 0o601])
def test_a_key_that_others_may_read_or_change_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    save(path, LOG)
    path.chmod(mode)
    refused = refusal(load, path)
    assert refused.code is Code.KEY_INVALID
    assert "0600" in str(refused.facts["problem"])
    path.chmod(0o400)
    assert load(path).name == LOG.name


def test_a_public_key_may_be_read_by_anybody(tmp_path: Path) -> None:
    path = tmp_path / "log.pub"
    write_new(path, "".join(f"{key.format()}\n" for key in LOG.verifiers))
    path.chmod(0o644)
    assert load_public([path]) == LOG.verifiers
    assert load_public([path, path]) == LOG.verifiers * 2
    assert refusal(load, path).code is Code.KEY_INVALID


def test_a_ring_has_private_keys_and_public_ones(tmp_path: Path) -> None:
    save(tmp_path / "new.key", NEXT)
    write_new(tmp_path / "old.pub", LOG.verifiers[0].format())
    ring = load_ring([tmp_path / "new.key", tmp_path / "old.pub"])
    assert [key.verifiers for key in ring.signing] == [NEXT.verifiers]
    assert ring.earlier == LOG.verifiers[:1]
    assert refusal(load_public, [tmp_path / "new.key"]).code is Code.KEY_INVALID


SECRET = LOG.format().rpartition("+")[2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "nonsense",
        LOG.format().replace("example", "exemple"),
        LOG.format().replace(SECRET, SECRET[:-1]),
        LOG.format().replace(SECRET, SECRET + "AAAA"),
        LOG.format().replace(SECRET, "Ag" + SECRET[2:]),
        LOG.format().replace("PRIVATE+KEY+", "PRIVATE+KEY+PRIVATE+KEY+"),
        LOG.format().replace("PRIVATE+KEY+", "PRIVATE+"),
        LOG.format().replace("PRIVATE+KEY+", ""),
        LOG.format().replace("example.org/season", ""),
        LOG.format().replace("example.org/season", "example.org/my season"),
        f"{LOG.format()}\n{NEXT.format()}",
        "\N{ZERO WIDTH NO-BREAK SPACE}" + LOG.format(),
    ],
)
def test_what_is_no_key_is_told_without_its_secret(text: str, tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    path.write_text(text)
    path.chmod(0o600)
    refused = refusal(load, path)
    assert refused.code is Code.KEY_INVALID
    assert refused.facts["path"] == str(path)
    assert SECRET[:20] not in f"{refused} {refused.__cause__} {refused.__context__}"
    with pytest.raises(Malformed):
        SigningKey.parse(text)


def test_a_key_shows_its_secret_in_no_other_text() -> None:
    for text in (repr(LOG), str(LOG), repr(vars(LOG)), repr(LOG.verifiers)):
        assert SECRET[:20] not in text


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    for path, code in ((tmp_path / "none", Code.SOURCE_NOT_FOUND), (tmp_path, Code.SOURCE_UNREADABLE)):
        with pytest.raises(Unavailable) as gone:
            load(path)
        assert gone.value.code is code
    for data in (b"\xff\xfe", b"x" * 70_000):
        (tmp_path / "file").write_bytes(data)
        assert refusal(load, tmp_path / "file").code is Code.KEY_INVALID


@pytest.mark.parametrize("name", ["", " ", "a b", "a+b", "a\nb", "a\N{EM SPACE}b", "\0", "x" * 256])
def test_a_name_that_could_sign_no_note_is_refused(name: str) -> None:
    assert refusal(key_of, name).code is Code.KEY_INVALID
    key = VerifierKey("good", ED25519, LOG.verifiers[0].public)
    assert VerifierKey.parse(key.format()) == key
