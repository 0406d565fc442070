"""Fuzzing what proves something to a stranger: notes, checkpoints, proofs, bundles, keys, head records, backups."""

import gzip
import json
import re
import shutil
import tempfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from heptalog.replay.errors import Code
from heptalog.replay.events import Event
from heptalog.replay.evidence.bundles import events_in, examine, parse_header
from heptalog.replay.evidence.checkpoints import format_checkpoint, open_checkpoint, parse_checkpoint
from heptalog.replay.evidence.merkle import Frontier, leaf_hash
from heptalog.replay.evidence.notes import format_note, parse_keys, parse_note, signers
from heptalog.replay.evidence.proofs import LogProof, check_proof, format_proof, parse_proof
from heptalog.replay.registry import GAMES
from heptalog.replay.rules import ARBITER, PUBLIC, Viewer
from heptalog.replay.times import SECOND
from heptalog.service.backup.checking import Checker
from heptalog.service.backup.contents import Contents
from heptalog.service.backup.parts import parts_of
from heptalog.service.backup.taking import take
from heptalog.service.bundling import bundle_of, latest_covering
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring, SigningKey
from heptalog.service.evidence.keys import verify as verify_signature
from heptalog.service.evidence.proving import Prover
from heptalog.service.evidence.signing import Signer
from heptalog.service.store import GameFilter, TreeHead
from heptalog.service.store.heads import HeadFile, HeadRecord, make_head, read_head
from heptalog.service.store.memory import MemoryStore
from tests.evidence.given import LOG, SECONDS, WITNESS
from tests.fuzz.mutating import lines_spoilt, spoilt, turned
from tests.fuzz.targets import Target, taken
from tests.support.evidence import redact
from tests.support.recording import batches_of, recorded_game

TOKENS: Final = (
    *("\N{EM DASH} ".encode(), b"\n", b"\n\n", b" ", b"+", b"=", b"==", b"AAAA", b"index 0", b"extra QQ==", b"\r\n"),
    *(
        b"0",
        b"00",
        b"-1",
        b"9223372036854775807",
        b"9223372036854775808",
        b"\xff",
        b"\x00",
        b"\xc2\xa0",
        b"\xe2\x80\xa8",
    ),
)


class Proved(NamedTuple):
    """A small log with all that proves it."""

    store: MemoryStore
    notes: tuple[str, ...]
    proofs: tuple[tuple[bytes, LogProof], ...]  # each with its leaf
    bundles: tuple[bytes, ...]
    events: dict[bytes, Event]


@cache
def proved() -> Proved:
    """Two games of each kind, signed three times, once by a witness too."""
    store = MemoryStore()
    checkpoints = Checkpoints(store, WITNESS.verifiers)
    prover = Prover(store, checkpoints, Signer(store, checkpoints, Keyring((LOG,)), lambda: SECONDS * SECOND))
    events: dict[bytes, Event] = {}
    for rules in GAMES:
        for seed in range(2):
            game = recorded_game(rules, seed, event_count_max=40)
            events.update({entry.event.hash: entry.event for entry in game})
            store.append(batches_of(game, size=9))
        prover.sign()
    note = parse_note(prover.checkpoint().note)
    prover.cosign(format_note(replace(note, signatures=(*note.signatures, *WITNESS.sign(note.text, SECONDS)))))
    leaves = [leaf_hash(stored.record[36:68]) for stored in store.read_all()]
    proofs = []
    for position in (1, 2, 64, 100, store.position()):
        proof = prover.inclusion(position)
        assert proof.checkpoint is not None
        proofs.append((leaves[position - 1], LogProof(position - 1, proof.hashes, proof.checkpoint.note)))
    bundles = tuple(
        b"".join(bundle_of(store, entry.game_id, viewer, latest_covering(prover)))
        for entry in store.games(GameFilter())
        for viewer in (ARBITER, PUBLIC, Viewer(1))
    )
    return Proved(store, tuple(one.note for one in store.checkpoints()), tuple(proofs), bundles, events)


def _spoil_text(data: bytes, random: Random) -> bytes:
    match random.randrange(4):
        case 0:
            return b"\n".join(lines_spoilt(data.split(b"\n"), random))
        case 1:
            return turned(data, random)
        case 2:
            # Another number, another letter of base64: text that is still well-formed.
            places = [match.start() for match in re.finditer(rb"[0-9A-Za-z]", data)]
            place = random.choice(places or [0])
            return data[:place] + random.choice((b"A", b"B", b"0", b"1", b"9", b"/")) + data[place + 1 :]
        case _:
            return spoilt(data, random, TOKENS)


def check_note(data: bytes) -> bool:
    """A note has one spelling; whose signature holds has the text that was signed."""
    if not taken(lambda: parse_note(data)):
        return False
    note = parse_note(data)
    assert format_note(note).encode() == data
    if not taken(lambda: signers(note, (*LOG.verifiers, *WITNESS.verifiers), verify_signature)):
        return False
    assert note.text in {parse_note(one).text for one in proved().notes}
    if taken(lambda: parse_checkpoint(note.text)):
        assert format_checkpoint(parse_checkpoint(note.text)) == note.text
        taken(lambda: open_checkpoint(data, LOG.verifiers, verify_signature))
    return True


def check_proof_text(data: bytes) -> bool:
    """A proof has one spelling; one that holds for a leaf is the one that was made for it."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    if not taken(lambda: parse_proof(text)):
        return False
    proof = parse_proof(text)
    assert format_proof(proof) == text
    is_good = False
    for leaf, made in proved().proofs:
        if taken(lambda leaf=leaf: check_proof(proof, leaf, LOG.verifiers, verify_signature)):  # type: ignore[misc]
            assert (proof.index, proof.hashes) == (made.index, made.hashes)
            is_good = True
    return is_good


def check_bundle(data: bytes) -> bool:
    """A bundle that is good has the events that were recorded, whole or redacted as they stand."""
    lines = data.split(b"\n")
    events: list[Event] = []

    def kept() -> Any:
        for event in events_in(lines[1:-1] if lines[-1:] == [b""] else lines[1:]):
            events.append(event)
            yield event

    def examined() -> None:
        result = examine(parse_header(lines[0]), kept(), LOG.verifiers, verify_signature)
        if result.report.error is not None and result.report.error.code is not Code.VALUE_SEALED:
            raise result.report.error
        assert result.signed

    if not taken(examined):
        return False
    assert events[-1].sequence == len(events) - 1
    for event in events:
        made = proved().events[event.hash]
        assert replace(event, body=redact(event.body)) == replace(made, body=redact(made.body))
    return True


def check_key(data: bytes) -> bool:
    """A key has one spelling, and no error shows a private one."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    is_public = taken(lambda: parse_keys(text))
    if is_public:
        words = [line.strip() for line in text.splitlines()]
        assert [key.format() for key in parse_keys(text)] == [one for one in words if one and not one.startswith("#")]
    is_private = taken(lambda: SigningKey.parse(text))
    if is_private:
        assert SigningKey.parse(text).format() == text.strip()
    return is_public or is_private


_HEADS: Final = tuple(TreeHead(size, sha256(bytes([size])).digest()) for size in (7, 8, 9))


@cache
def _head_files() -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.head"
        make_head(path, _HEADS[0], SECONDS * SECOND)
        files = [path.read_bytes()]
        head_file = HeadFile(path)
        for head in _HEADS[1:]:
            head_file.write(head, SECONDS * SECOND + 1)
            files.append(path.read_bytes())
        head_file.close()
    return tuple(files)


def _spoil_head(data: bytes, random: Random) -> bytes:
    half = len(data) // 2
    match random.randrange(4):
        case 0:
            return data[half:] + data[:half]
        case 1:
            # Torn within one slot, as a crash would.
            place = random.randrange(len(data) + 1)
            return data[:place] + random.choice(_head_files())[place:]
        case _:
            return _spoil_text(data, random)


def check_head(data: bytes) -> bool:
    """A head record that can be read is one that was written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.head"
        path.write_bytes(data)
        found: list[HeadRecord | None] = []
        if not taken(lambda: found.append(read_head(path))):
            return False
        (record,) = found
        assert record is not None
        assert record.tree in _HEADS
        HeadFile(path).close()
    return True


# Backups: an input is the name of one of the files and its content; the others are as they were made.


@cache
def _backup() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "backup"
        store = proved().store
        take(folder, lambda have: parts_of(store, have), keys=LOG.verifiers, clock=lambda: SECONDS * SECOND)
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.stat().st_size}


def _backup_files() -> list[bytes]:
    return [name.encode() + b"\n" + content for name, content in _backup().items()]


def _spoil_backup(data: bytes, random: Random) -> bytes:
    name, _, content = data.partition(b"\n")
    if name.endswith(b".gz") and random.random() < 0.6:
        with suppress(OSError, EOFError, zlib.error):  # it is spoilt already
            return name + b"\n" + gzip.compress(spoilt(gzip.decompress(content), random), mtime=0)
    return name + b"\n" + _spoil_text(content, random)


def check_backup(data: bytes) -> bool:
    """A backup that is whole, its checksums made to fit, has the records of the log from the first on."""
    name, _, content = data.partition(b"\n")
    files = _backup()
    is_good = False
    with tempfile.TemporaryDirectory() as folder:
        for is_fitting in (False, True):
            shutil.rmtree(folder, ignore_errors=True)
            Path(folder).mkdir()
            for other, kept in files.items():
                (Path(folder) / other).write_bytes(kept)
            (Path(folder) / name.decode()).write_bytes(content)
            if is_fitting:
                _fit(Path(folder), name.decode())
            is_good |= _is_whole_backup(Path(folder))
    return is_good


def _is_whole_backup(folder: Path) -> bool:
    records: list[bytes] = []

    def read() -> None:
        contents = Contents(folder)
        entries = contents.entries(Checker(Frontier(), LOG.verifiers), contents.end_at(None))
        records.extend(entry.record for entry in entries)
        assert len(list(contents.refusals())) >= 0

    if not taken(read):
        return False
    assert records == [stored.record for stored in proved().store.read_all()][: len(records)]
    return True


def _fit(folder: Path, name: str) -> None:
    """Make the checksums fit what is there now, so that what stands behind them is tried as well."""
    path = folder / "manifest.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    digest = sha256((folder / name).read_bytes()).hexdigest()
    for index, line in enumerate(lines[:-1]):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("file") == name:
            lines[index] = json.dumps({**row, "sha256": digest}).encode() + b"\n"
    lines[-1:] = [json.dumps({"sha256": sha256(b"".join(lines[:-1])).hexdigest()}).encode() + b"\n"]
    path.write_bytes(b"".join(lines))


def _keys() -> Sequence[bytes]:
    public = "\n".join(key.format() for key in (*LOG.verifiers, *WITNESS.verifiers))
    return [f"# keys\n{public}\n".encode(), LOG.format().encode(), WITNESS.format().encode() + b"\n"]


PROOFS: Final[tuple[Target, ...]] = (
    Target("note", lambda: [note.encode() for note in proved().notes], _spoil_text, check_note, tries=1500),
    Target("proof", lambda: [format_proof(one).encode() for _, one in proved().proofs], _spoil_text, check_proof_text),
    Target("bundle", lambda: proved().bundles, _spoil_text, check_bundle, tries=300),
    Target("key", _keys, _spoil_text, check_key),
    Target("head", _head_files, _spoil_head, check_head, tries=500),
    Target("backup", _backup_files, _spoil_backup, check_backup, tries=150),
)
