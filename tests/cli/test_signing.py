"""keygen, checkpoint and cosign, and a server that signs."""

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from heptalog.replay.evidence.checkpoints import checkpoint_in, open_checkpoint
from heptalog.replay.evidence.notes import VerifierKey, parse_keys, parse_note
from heptalog.service.config import Settings
from heptalog.service.evidence.keys import Keyring, load_public, load_ring, verify
from heptalog.service.store.memory import MemoryStore
from tests.cli.given import bare, write
from tests.cli.running import run, serving
from tests.support.serving import Service


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A folder with the keys of a log and of a witness."""
    folder = tmp_path / "keys"
    folder.mkdir()
    for name, more in (("season", ()), ("witness", ("--cosigner",))):
        made = run("keygen", f"example.org/{name}", "--out", folder / f"{name}.key", *more)
        assert made.code == 0
        (folder / f"{name}.pub").write_text(made.out)
    return folder


@pytest.fixture
def signer(keys: Path) -> Iterator[str]:
    """A running server with a key, and no games."""
    settings = Settings("", checkpoint_seconds=3600.0)
    ring, witnesses = load_ring([keys / "season.key"]), load_public([keys / "witness.pub"])
    with Service(MemoryStore(), settings=settings, keys=ring, witnesses=witnesses) as service:
        yield f"grpc://{service.target}"


def test_a_key_is_made_once_and_its_public_half_is_printed(tmp_path: Path) -> None:
    out, public = tmp_path / "log.key", tmp_path / "log.pub"
    made = run("keygen", "example.org/season", "--out", out, "--public", public)
    assert (made.code, made.err) == (0, "")
    assert public.read_text() == made.out
    assert [key.kind for key in parse_keys(made.out)] == [1, 4]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert load_ring([out]).signing[0].verifiers == load_public([public])
    secret = out.read_text()
    for again in (("--out", out), ("--out", tmp_path / "new", "--public", public)):
        refused = run("keygen", "example.org/season", *again)
        assert (refused.code, refused.out) == (2, "")
    assert run("keygen", "a", "--out", tmp_path / "one", "--public", tmp_path / "one").code == 2
    assert out.read_text() == secret
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.key", "log.pub"]


def test_where_the_public_half_cannot_be_written_there_is_no_key(tmp_path: Path) -> None:
    made = run("keygen", "a", "--out", tmp_path / "log.key", "--public", tmp_path / "none" / "log.pub")
    assert (made.code, made.out) == (3, "")
    assert "the key could not be written" in made.err
    assert list(tmp_path.iterdir()) == []


def test_a_witness_has_one_manner(tmp_path: Path) -> None:
    made = run("keygen", "witness.example/one", "--cosigner", "--out", tmp_path / "key", "--format", "json")
    (key,) = made.document
    assert (key["name"], key["kind"]) == ("witness.example/one", 4)
    assert key["key"].startswith(f"witness.example/one+{key['keyId']}+")
    made = run("keygen", "a", "--out", tmp_path / "other", "--format", "jsonl")
    assert [line["kind"] for line in made.lines] == [1, 4]


@pytest.mark.parametrize("name", ["", "my log", "a+b", "tab\t"])
def test_a_name_that_no_note_could_have_is_wrong_use(tmp_path: Path, name: str) -> None:
    refused = run("keygen", name, "--out", tmp_path / "key")
    assert (refused.code, refused.out) == (2, "")
    assert "[KEY_INVALID]" in refused.err
    assert not list(tmp_path.iterdir())


def test_a_database_is_signed_and_says_what_was_signed(database: Path, keys: Path, tmp_path: Path) -> None:
    none = run("checkpoint", database)
    assert (none.code, none.out) == (3, "")
    assert "[CHECKPOINT_NOT_FOUND]" in none.err
    fresh = run("checkpoint", database, "--fresh", "--key", keys / "season.key")
    assert (fresh.code, fresh.err) == (0, "")
    body, _ = open_checkpoint(fresh.out, load_public([keys / "season.pub"]), verify)
    assert body.origin == "example.org/season"
    for ask in ((), ("--size", body.size), ("--fresh", "--key", keys / "season.key")):
        assert run("checkpoint", database, *ask).out == fresh.out
    assert run("checkpoint", database, "--size", body.size + 1).code == 3
    out = tmp_path / "checkpoint"
    assert run("checkpoint", database, "--out", out) == (0, "", "")
    assert out.read_text() == fresh.out


def test_a_change_of_keys_needs_both_once(database: Path, keys: Path) -> None:
    old, new = keys / "season.key", keys / "new.key"
    run("checkpoint", database, "--fresh", "--key", old)
    assert run("keygen", "example.org/season", "--out", new).code == 0
    alone = run("checkpoint", database, "--fresh", "--key", new)
    assert (alone.code, alone.out) == (2, "")
    assert "[KEY_INVALID]" in alone.err
    both = run("checkpoint", database, "--fresh", "--key", new, "--key", keys / "season.pub")
    assert both.code == 0
    assert len(parse_note(both.out).signatures) == 4
    assert run("checkpoint", database, "--fresh", "--key", new).out == both.out


def test_what_cannot_be_meant_is_told(database: Path, keys: Path, signer: str, tmp_path: Path) -> None:
    key = keys / "season.key"
    for wrong in (
        ("checkpoint", database, "--fresh"),
        ("checkpoint", database, "--key", key),
        ("checkpoint", database, "--fresh", "--key", key, "--size", 1),
        ("checkpoint", signer, "--fresh", "--key", key),
        ("checkpoint", signer, "--fresh", "--size", 1),
        ("checkpoint", f"{signer}#game"),
        ("checkpoint", tmp_path),
        ("checkpoint", database, "--fresh", "--key", keys / "witness.key"),
        ("checkpoint", database, "--fresh", "--key", database),
        ("cosign", database, "--key", key, "--log-key", keys / "season.pub", "--state", tmp_path / "state"),
        ("cosign", signer, "--key", key, "--log-key", keys / "season.pub", "--state", tmp_path / "state"),
        ("cosign", signer, "--key", keys / "witness.pub", "--log-key", key, "--state", tmp_path / "state"),
        ("cosign", signer, "--key", keys / "witness.key", "--log-key", key, "--state", tmp_path / "state"),
    ):
        refused = run(*wrong)
        assert (refused.code, refused.out) == (2, ""), wrong
    for unreachable in (
        ("checkpoint", tmp_path / "none.duckdb"),
        ("checkpoint", tmp_path / "file.jsonl"),
        ("checkpoint", tmp_path / "none.duckdb", "--fresh", "--key", key),
        ("checkpoint", database, "--fresh", "--key", tmp_path / "none"),
        ("checkpoint", "grpc://127.0.0.1:1"),
        ("checkpoint", signer, "--fresh"),
    ):
        refused = run(*unreachable)
        assert (refused.code, refused.out) == (3, ""), unreachable
    assert not (tmp_path / "none.duckdb").exists()


def test_a_server_is_watched_by_a_witness(signer: str, keys: Path, game: Path, tmp_path: Path) -> None:
    witness = ("cosign", signer, "--key", keys / "witness.key", "--log-key", keys / "season.pub")
    state = ("--state", tmp_path / "state")
    assert run(*witness, *state).code == 3
    assert run("import", game, "--into", signer).code == 0
    fresh = run("checkpoint", signer, "--fresh")
    assert run("checkpoint", signer).out == fresh.out
    cosigned = run(*witness, *state)
    assert cosigned.code == 0
    public = load_public([keys / "season.pub", keys / "witness.pub"])
    _, signed = open_checkpoint(cosigned.out, public, verify)
    assert [item.key.name for item in signed] == ["example.org/season"] * 2 + ["example.org/witness"]
    assert run("checkpoint", signer).out == run(*witness, *state).out == cosigned.out
    assert (tmp_path / "state").read_text() == cosigned.out
    quiet = run(*witness, *state, "--quiet")
    assert (quiet.code, quiet.out) == (0, "")
    assert "cosigned: " in quiet.err
    # A witness of another log's key has nothing to do here.
    run("keygen", "example.org/season", "--out", keys / "other.key", "--public", keys / "other.pub")
    wrong = run("cosign", signer, "--key", keys / "witness.key", "--log-key", keys / "other.pub", *state)
    assert (wrong.code, wrong.out) == (1, "")
    assert "[SIGNATURE_MISSING]" in wrong.err


def test_a_witness_says_when_a_log_was_written_anew(keys: Path, game: Path, tmp_path: Path) -> None:
    ring = load_ring([keys / "season.key"])
    witness = ("--key", keys / "witness.key", "--log-key", keys / "season.pub", "--state", tmp_path / "state")
    codes = []
    for played in (game, write(tmp_path / "other.jsonl", bare(seed=3))):
        with server_of(ring, load_public([keys / "witness.pub"])) as service:
            url = f"grpc://{service.target}"
            run("import", played, "--into", url)
            run("checkpoint", url, "--fresh")
            codes.append(run("cosign", url, *witness).code)
    assert codes == [0, 1]


def server_of(ring: Keyring, witnesses: Sequence[VerifierKey]) -> Service:
    settings = Settings("", checkpoint_seconds=3600.0)
    return Service(MemoryStore(), settings=settings, keys=ring, witnesses=witnesses)


def test_a_server_signs_at_its_end(tmp_path: Path, keys: Path, game: Path) -> None:
    database = tmp_path / "log.duckdb"
    key, witness = ("--key", str(keys / "season.key")), ("--witness", str(keys / "witness.pub"))
    with serving(database, "--no-tables", *key, *witness, "--checkpoint-seconds", "3600") as server:
        assert run("import", game, "--into", server.url).code == 0
        assert server.stopped() == 0
    kept = run("checkpoint", database)
    assert checkpoint_in(kept.out).size == len(game.read_bytes().splitlines())
    with serving(database, "--key", str(keys / "witness.key")) as refused:
        assert refused.announced == ""
        assert refused.process.wait(30) == 2
