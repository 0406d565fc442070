"""`heptalog bundle`, `reveal`, and `verify` with a key: a game that is proved without the log it comes from."""

import json
import pickle
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from heptalog.cli.bundles import BundleGame, trusted_by
from heptalog.cli.connections import Connections
from heptalog.cli.examine import verdicts_on
from heptalog.cli.spreading import _elsewhere
from heptalog.service.evidence.keys import Keyring, save
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.memory import MemoryStore
from tests.cli.given import ROCKS, UP, bare, without_secrets, write
from tests.cli.running import only, run, run_program
from tests.evidence.given import LOG, NEXT, OTHER
from tests.support.recording import batches_of, recorded_game
from tests.support.serving import Service

GAME: Final = "seven_rocks-1"
LENGTH: Final = 40


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """The log's private key; the public ones of it and of another lie beside it."""
    save(tmp_path / "log.key", LOG)
    for name, key in (("log", LOG), ("next", NEXT), ("other", OTHER)):
        (tmp_path / f"{name}.pub").write_text("".join(f"{verifier.format()}\n" for verifier in key.verifiers))
    return tmp_path / "log.key"


@pytest.fixture
def season(tmp_path: Path) -> Path:
    """A database with the beginning of a game of dominoes, and one of Seven Up that is over."""
    path = tmp_path / "season.duckdb"
    store = DuckStore(path)
    store.append(batches_of(recorded_game(UP, 0)))
    store.append(batches_of(recorded_game(ROCKS, 1, event_count_max=LENGTH)))
    store.close()
    return path


@pytest.fixture
def bundle(season: Path, keys: Path) -> Path:
    """The game of dominoes for everybody."""
    path = season.with_name("final.bundle")
    assert run("bundle", f"{season}#{GAME}", "--key", keys, "--out", path).code == 0
    return path


def public(bundle: Path, name: str = "log") -> Path:
    return bundle.with_name(f"{name}.pub")


def test_a_bundle_is_proved_by_the_key_of_its_log(bundle: Path) -> None:
    ended = run("verify", bundle, "--key", public(bundle), "--format", "json")
    assert ended.code == 0
    verdict = only(ended.document)
    proof = verdict.pop("proof")
    assert verdict == {
        "source": str(bundle),
        "ok": True,
        "events": LENGTH,
        "sequence": None,
        "rule": None,
        "code": None,
        "message": None,
        "over": None,
    }
    (signature,) = proof.pop("signatures")
    assert (signature["name"], signature["keyIds"]) == (LOG.name, [each.key_id.hex() for each in LOG.verifiers])
    assert signature["time"].endswith("Z")
    assert len(b64decode(proof.pop("root"))) == 32
    assert proof.pop("size") == proof.pop("position")
    assert proof == {
        "isProved": True,
        "gameId": GAME,
        "viewer": "public",
        "hiddenParts": 4,
        "rulesCheckedTo": 28,
        "log": LOG.name,
        "revealed": [],
    }
    text = run("verify", bundle, "--key", public(bundle)).out
    assert text.startswith(
        f"ok   {bundle}  40 events\n     game {GAME}, for public: chain and proof good; 4 hidden parts"
    )
    assert f"signed by {LOG.name} ({', '.join(signature['keyIds'])}) at {signature['time']}\n" in text
    # The key itself does as well as its file.
    assert run("verify", bundle, "--key", LOG.verifiers[0].format()).out == text


def test_without_a_key_nothing_is_called_proved(bundle: Path) -> None:
    ended = run("verify", bundle, "--format", "jsonl")
    assert ended.code == 0
    proof = only(ended.lines)["proof"]
    assert (proof["isProved"], proof["signatures"]) == (False, [])
    assert "NOT PROVED: no key was given (--key)" in run("verify", bundle).out


def test_every_key_that_is_named_must_have_signed(bundle: Path) -> None:
    for named in (["other"], ["log", "other"], ["next"]):
        given = [word for name in named for word in ("--key", public(bundle, name))]
        ended = run("verify", bundle, *given)
        assert (ended.code, "[SIGNATURE_MISSING]" in ended.out) == (1, True)
    # A file with several keys, as of a log that has changed its key, names any of them.
    both = bundle.with_name("both.pub")
    both.write_text(public(bundle).read_text() + public(bundle, "next").read_text())
    assert run("verify", bundle, "--key", both).code == 0


def test_with_a_key_nothing_but_a_bundle_is_good(bundle: Path, season: Path) -> None:
    stripped = write(bundle.with_name("stripped.jsonl"), bundle.read_bytes().splitlines()[1:])
    ended = run("verify", stripped, bundle, "--key", public(bundle), "--format", "jsonl")
    assert ended.code == 1
    assert [(line["ok"], line["code"]) for line in ended.lines] == [(False, "BUNDLE_INVALID"), (True, None)]
    for wrong in (season, "grpc://127.0.0.1:1#game"):
        assert run("verify", wrong, "--key", public(bundle)).code == 2


def test_a_bundle_among_other_files_is_known_by_its_first_line(bundle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "all"
    write(folder / "plain.jsonl", bare())
    write(folder / "b.bundle", bundle.read_bytes().splitlines())
    write(folder / "c.jsonl", bundle.read_bytes().splitlines())
    write(folder / "d.jsonl", without_secrets())
    ended = run("verify", folder, "--format", "jsonl")
    assert [(Path(line["source"]).name, line["ok"], "proof" in line) for line in ended.lines] == [
        ("b.bundle", True, True),
        ("c.jsonl", True, True),
        ("d.jsonl", False, False),
        ("plain.jsonl", True, False),
    ]


def test_a_bundle_is_a_game_for_every_other_command(season: Path, keys: Path) -> None:
    path = season.with_name("whole.bundle")
    assert run("bundle", f"{season}#{GAME}", "--as", "arbiter", "--key", keys, "--out", path).code == 0
    assert run("replay", path).out == run("replay", f"{season}#{GAME}").out
    assert run("import", path, "--into", season.with_name("other.duckdb")).code == 0
    game = write(season.with_name("game.jsonl"), path.read_bytes().splitlines()[1:])
    assert game.read_text() == run("export", f"{season}#{GAME}").out


def test_the_line_of_a_fault_is_that_of_the_file(bundle: Path) -> None:
    lines = bundle.read_bytes().splitlines()
    broken = write(bundle, [*lines[:3], lines[3].replace(b"table-1", b"table-2"), *lines[4:]])
    ended = run("verify", broken, "--key", public(bundle), "--format", "jsonl")
    verdict = only(ended.lines)
    assert (verdict["sequence"], verdict["code"]) == (2, "CHAIN_BROKEN")
    assert verdict["message"].startswith("line 4: ")
    assert run("replay", broken).err.startswith(f"heptalog: {broken}: sequence 2: line 4: ")


def test_a_header_that_is_wrong_is_one_clear_error(bundle: Path) -> None:
    lines = bundle.read_bytes().splitlines()
    for first in (
        lines[0][:-1],
        lines[0].replace(b'"events":40', b'"events":41'),
        lines[0].replace(b"index", b"indax"),
    ):
        ended = run("verify", write(bundle, [first, *lines[1:]]), "--key", public(bundle), "--format", "jsonl")
        verdict = only(ended.lines)
        assert (ended.code, verdict["ok"]) == (1, False)
        assert verdict["code"] in ("BUNDLE_INVALID", "NOTE_INVALID")
    newer = run("verify", write(bundle, [lines[0].replace(b'Bundle":1', b'Bundle":2'), *lines[1:]]))
    assert (newer.code, "[RECORD_NEWER]" in newer.out) == (3, True)


def test_who_reads_it_is_named_in_many_ways(season: Path, keys: Path) -> None:
    assert run("bundle", f"{season}#{GAME}", "--key", keys).code == 0
    hidden: Callable[[str], Any] = lambda viewer: hands_in(run("bundle", f"{season}#{GAME}", "--as", viewer).out)  # noqa: E731
    assert hidden("public") == [False, False, False, False]
    assert hidden("arbiter") == [True, True, True, True]
    for viewer in ("seat:1", "1", "bo-1", "Bo"):
        assert hidden(viewer) == [False, True, False, False]
    for viewer in ("seat:4", "4", "nobody", "", "seat:", "seat:Bo"):
        assert run("bundle", f"{season}#{GAME}", "--as", viewer).code == 2


def hands_in(text: str) -> list[bool]:
    """Which hands of the last deal are there."""
    deals = [line["tilesDealt"]["hands"] for line in map(json.loads, text.splitlines()) if "tilesDealt" in line]
    return ["tiles" in hand for hand in deals[-1]]


def test_an_export_leaves_out_what_is_hidden_too(season: Path, keys: Path, tmp_path: Path) -> None:
    for viewer in ("public", "Bo"):
        exported = run("export", f"{season}#{GAME}", "--as", viewer)
        bundled = run("bundle", f"{season}#{GAME}", "--as", viewer, "--key", keys)
        assert (exported.code, exported.out) == (0, bundled.out.partition("\n")[2])
    assert run("export", f"{season}#{GAME}", "--as", "nobody").code == 2
    for viewer, count, code in (("public", 2, 0), ("Nobody", 0, 2)):
        folder = tmp_path / viewer
        assert run("export", season, "--as", viewer, "--out", folder).code == code
        assert len(list(folder.iterdir())) == count
    # What was recorded without seals cannot be left out, and is not given away.
    bare_game = write(tmp_path / "bare.jsonl", bare(ROCKS, length=9))
    ended = run("export", bare_game, "--as", "public")
    assert (ended.code, ended.out, "[SEAL_MISSING]" in ended.err) == (1, "", True)


def test_the_end_of_a_game_releases_it_unless_it_is_withheld(season: Path, keys: Path) -> None:
    counts = []
    for given in ([], ["--withhold"]):
        path = season.with_name("up.bundle")
        ended = run("bundle", f"{season}#seven_up-0", "--key", keys, *given, "--out", path)
        assert ended.code == 0
        verdict = only(run("verify", path, "--key", public(path), "--format", "jsonl").lines)
        counts.append((verdict["ok"], verdict["proof"]["hiddenParts"] > 0))
    assert counts == [(True, False), (True, True)]


def test_a_hidden_hand_can_be_shown_later(bundle: Path, season: Path, tmp_path: Path) -> None:
    ended = run("reveal", f"{season}#{GAME}", "--seat", "Chie", "--round", 2)
    assert ended.code == 0
    (line,) = ended.lines
    assert (line["sequence"], line["part"], len(line["tiles"])) == (29, "hands[2]", 7)
    shown = tmp_path / "shown.jsonl"
    shown.write_text(ended.out)
    seen = run("verify", bundle, "--key", public(bundle), "--reveal", shown, "--format", "jsonl")
    proof = only(seen.lines)["proof"]
    assert (seen.code, proof["revealed"]) == (0, [{"sequence": 29, "part": "hands[2]"}])
    assert (proof["hiddenParts"], proof["rulesCheckedTo"]) == (3, 28)
    assert "revealed: hands[2] of event 29\n" in run("verify", bundle, "--reveal", shown).out
    # All hands, from a fuller copy: the rules are asked to the end.
    shown.write_text(run("bundle", f"{season}#{GAME}", "--as", "arbiter").out)
    proof = only(run("verify", bundle, "--key", public(bundle), "--reveal", shown, "--format", "jsonl").lines)["proof"]
    assert ([each["part"] for each in proof["revealed"]], proof["hiddenParts"], proof["rulesCheckedTo"]) == (
        [f"hands[{seat}]" for seat in range(4)],
        0,
        39,
    )
    shown.write_text(run("export", f"{season}#{GAME}").out)
    assert run("verify", bundle, "--key", public(bundle), "--reveal", shown).code == 0


def test_what_is_shown_goes_into_a_file(season: Path, tmp_path: Path) -> None:
    reveal = ("reveal", f"{season}#{GAME}", "--seat", "Chie")
    printed, shown = run(*reveal), tmp_path / "shown.jsonl"
    ended = run(*reveal, "--out", shown)
    assert (ended.code, ended.out, ended.err) == (0, "", printed.err)
    assert shown.read_text() == printed.out == run(*reveal, "--out", "-").out


def test_what_was_not_dealt_cannot_be_shown(bundle: Path, season: Path, tmp_path: Path) -> None:
    (line,) = run("reveal", f"{season}#{GAME}", "--seat", 2, "--round", 2).lines
    shown = tmp_path / "shown.jsonl"
    for change in (
        {"tiles": line["tiles"][::-1]},
        {"tiles": [*line["tiles"][:-1], "0-0"]},
        {"salt": "AAAAAAAAAAAAAAAAAAAAAA=="},
        {"part": "hands[1]"},
    ):
        shown.write_text(json.dumps({**line, **change}) + "\n")
        ended = run("verify", bundle, "--key", public(bundle), "--reveal", shown, "--format", "jsonl")
        verdict = only(ended.lines)
        assert (ended.code, verdict["code"], verdict["sequence"]) == (1, "SEAL_BROKEN", 29)
    shown.write_text("{}\n")
    assert run("verify", bundle, "--reveal", shown).code == 1
    assert run("verify", bundle, bundle, "--reveal", shown).code == 2
    assert run("verify", bundle, "--reveal", tmp_path / "nothing").code == 3


def test_a_server_gives_the_same_bundle(tmp_path: Path, keys: Path) -> None:
    store = MemoryStore()
    store.append(batches_of(recorded_game(ROCKS, 1, event_count_max=LENGTH)))
    path = tmp_path / "served.bundle"
    with Service(store, keys=Keyring((LOG,))) as service:
        game = f"grpc://{service.target}#{GAME}"
        assert run("bundle", game, "--as", "Bo", "--out", path).code == 0
        assert run("bundle", game, "--key", keys).code == 2
        assert run("bundle", game, "--as", "nobody").code == 2
        assert run("bundle", f"grpc://{service.target}#nothing").code == 3
        arbiter = run("bundle", game, "--as", "arbiter").out
        assert run("export", game).out == arbiter.partition("\n")[2]
    proof = only(run("verify", path, "--key", public(path), "--format", "jsonl").lines)["proof"]
    assert (proof["isProved"], proof["viewer"], proof["hiddenParts"]) == (True, "seat:1", 3)


def test_a_server_without_a_key_says_so() -> None:
    store = MemoryStore()
    store.append(batches_of(recorded_game(ROCKS, 1, event_count_max=LENGTH)))
    with Service(store) as service:
        ended = run("bundle", f"grpc://{service.target}#{GAME}")
        # It is not made again and again: a key does not come by itself.
        assert (ended.code, "[KEY_MISSING]" in ended.err) == (3, True)


def test_what_cannot_be_bundled_is_told(season: Path, game: Path, tmp_path: Path) -> None:
    assert run("bundle", game).code == 2
    assert run("bundle", season).code == 2
    assert run("bundle", f"{season}#nothing").code == 3
    assert run("bundle", f"{tmp_path}/none.duckdb#nothing").code == 3
    assert not (tmp_path / "none.duckdb").exists()
    ended = run("bundle", f"{season}#{GAME}", "--out", tmp_path / "x.bundle")
    assert (ended.code, "[KEY_MISSING]" in ended.err) == (3, True)
    assert not (tmp_path / "x.bundle").exists()
    assert run("verify", game, "--key", tmp_path / "none.pub").code == 3
    assert run("verify", game, "--key", game).code == 2


def test_a_bundle_goes_into_a_folder_under_its_own_name(season: Path, keys: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    assert run("bundle", f"{season}#{GAME}", "--key", keys, "--out", folder).code == 0
    assert [path.name for path in folder.iterdir()] == [f"{GAME}.bundle"]


def test_other_processes_are_sent_the_keys(bundle: Path) -> None:
    game = BundleGame(bundle, trusted=trusted_by([str(public(bundle))]))
    assert pickle.loads(pickle.dumps(game)) == game
    (verdict,) = _elsewhere(verdicts_on, Connections.read_ahead, [game])
    assert verdict.ok
    with Connections() as connections:
        assert len(list(game.entries(connections))) == LENGTH


def test_the_program_itself_proves_a_bundle_from_a_pipe(bundle: Path) -> None:
    ended = run_program("verify", "--key", public(bundle), bundle)
    assert (ended.code, ended.err) == (0, "heptalog: 1 game good, 0 bad; 40 events accepted\n")
