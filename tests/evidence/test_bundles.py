"""Bundles: one file that proves one game, for every game and viewer, and that nothing in it can be changed."""

import json
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, HeptalogError, NotFound, Refused, Unavailable
from heptalog.replay.evidence.bundles import bundle_lines, events_in, examine, is_bundle, parse_header
from heptalog.replay.evidence.notes import Note, format_note
from heptalog.replay.gamefile import read_events
from heptalog.replay.rules import ARBITER, PUBLIC, AnyRules, Viewer
from heptalog.replay.verify import verify
from heptalog.service.bundling import PIECE_SIZE, bundle_of, in_pieces, latest_covering
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import verify as verify_signature
from heptalog.service.evidence.proving import Prover
from heptalog.service.store.memory import MemoryStore
from tests.evidence.bundling import (
    BRIDGE,
    GAMES_EACH,
    ROCKS,
    covering,
    examined,
    failure,
    good,
    line_of,
    prover,
    small,
    store_with,
    with_proof,
)
from tests.evidence.given import LOG, OTHER, SECONDS, WITNESS
from tests.support.play import EACH_GAME
from tests.support.recording import batches_of, recorded_game


@EACH_GAME
def test_every_game_is_proved_to_every_viewer(rules: AnyRules) -> None:
    store = store_with(rules, length=90, ruling_rate=0.05)
    for game_id, head in store.heads():
        events = [stored.record for stored in store.read_game(game_id)]
        for viewer in (ARBITER, PUBLIC, Viewer(0), Viewer(1)):
            data = b"".join(bundle_of(store, game_id, viewer, covering(store), is_withheld=True))
            result = examined(data)
            assert good(result)
            assert (result.bundle.game_id, result.bundle.events, result.bundle.viewer) == (game_id, len(events), viewer)
            assert (result.position, result.log.size, result.log.origin) == (head.position, store.position(), LOG.name)
            assert [(signed.key, signed.time) for signed in result.signed] == [
                (LOG.verifiers[0], None),
                (LOG.verifiers[1], SECONDS),
            ]
            assert (result.hidden == 0) == (result.report.events == len(events))


@EACH_GAME
def test_all_but_the_first_line_is_a_game_file(rules: AnyRules) -> None:
    store = store_with(rules, length=60)
    for game_id, _ in store.heads():
        for viewer in (ARBITER, PUBLIC):
            header, *lines = bundle_of(store, game_id, viewer, covering(store))
            assert is_bundle(header)
            assert not any(map(is_bundle, lines))
            report = verify((event, None) for event in read_events(lines))
            assert report.error is None or report.error.code is Code.VALUE_SEALED
            assert bundle_lines(parse_header(header), read_events(lines)).__next__() == header


def test_the_roots_are_the_same_whoever_looks() -> None:
    store = store_with(ROCKS, length=20)
    results = [
        examined(b"".join(bundle_of(store, "seven_rocks-0", viewer, covering(store))))
        for viewer in (ARBITER, PUBLIC, Viewer(3))
    ]
    assert len({(result.log, result.position) for result in results}) == 1
    assert [result.hidden for result in results] == [0, 4, 3]


def test_no_byte_can_be_changed() -> None:
    """Exhaustive: every bit of every byte, and every byte left out or doubled.

    What still verifies says the same of the same game: the events are those recorded, under the same root and the same
    signature. What is left to change is how a line of the game file is written (its line break, white space, the time
    zone of a time), whom the copy says it is for, and signatures that are not of the given keys.
    """
    data = small()
    result = examined(data)
    original = list(events_in(data.splitlines(keepends=True)[1:]))
    assert good(result)
    accepted = 0
    for changed in changes(data):
        try:
            other = examined(changed)
        except HeptalogError:
            continue
        if not other.report.ok:
            continue
        accepted += 1
        assert list(events_in(BytesIO(changed).readlines()[1:])) == original
        assert (other.log, other.position) == (result.log, result.position)
        assert (other.bundle.game_id, other.bundle.events) == (result.bundle.game_id, result.bundle.events)
        assert set(other.signed) <= set(result.signed)
    assert accepted < len(data)


def changes(data: bytes) -> Iterator[bytes]:
    for place, byte in enumerate(data):
        for bit in range(8):
            yield data[:place] + bytes([byte ^ 1 << bit]) + data[place + 1 :]
        yield data[:place] + data[place + 1 :]
        yield data[:place] + bytes([byte]) + data[place:]
        yield data[:place]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda lines: lines[:-1], Code.BUNDLE_INVALID),
        (lambda lines: [*lines[:-1], lines[-1][:-9]], Code.NOT_JSON),
        (lambda lines: lines[:1], Code.GAME_EMPTY),
        (lambda lines: [*lines, lines[-1]], Code.SEQUENCE_GAP),
        (lambda lines: [lines[0], lines[0], *lines[1:]], Code.FIELD_UNKNOWN),
        (lambda lines: [lines[1], lines[0], *lines[2:]], Code.BUNDLE_INVALID),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], Code.SEQUENCE_GAP),
        (lambda lines: [*lines[:2], lines[2].replace(b"recordedBy", b"recordedby"), *lines[3:]], Code.FIELD_UNKNOWN),
        (lambda lines: [*lines[:2], lines[2].replace(b"table-1", b"table-2"), *lines[3:]], Code.CHAIN_BROKEN),
        (lambda lines: [lines[0].replace(b'"role":"PUBLIC"', b'"role":"ARBITER"'), *lines[1:]], Code.BUNDLE_INVALID),
        (lambda lines: [lines[0].replace(b'"role"', b'"seat":1,"role"'), *lines[1:]], Code.BUNDLE_INVALID),
        (lambda lines: [lines[0].replace(b'"events"', b' "events"'), *lines[1:]], Code.BUNDLE_INVALID),
        (lambda lines: [lines[0].replace(b'"events":4', b'"events":4,"events":4'), *lines[1:]], Code.BUNDLE_INVALID),
        (lambda lines: [lines[0].replace(b'Bundle":1', b'Bundle":0'), *lines[1:]], Code.BUNDLE_INVALID),
        (lambda lines: [lines[0].replace(b'Bundle":1', b'Bundle":2'), *lines[1:]], Code.RECORD_NEWER),
    ],
)
def test_what_is_wrong_with_it_is_told(change: Callable[[list[bytes]], list[bytes]], code: Code) -> None:
    assert failure(b"".join(change(small().splitlines(keepends=True)))).code is code


def test_the_line_of_a_fault_is_that_of_the_file() -> None:
    lines = small().splitlines(keepends=True)
    error = failure(b"".join([*lines[:2], b"{\n", *lines[3:]]))
    assert (error.code, error.facts["line"], error.facts["sequence"]) == (Code.NOT_JSON, 3, 1)


def test_a_proof_of_something_else_proves_nothing() -> None:
    store = store_with(ROCKS, length=20)
    one, other = (
        b"".join(bundle_of(store, f"seven_rocks-{seed}", PUBLIC, covering(store))) for seed in range(GAMES_EACH)
    )
    proofs = [json.loads(data.partition(b"\n")[0])["proof"] for data in (one, other)]
    assert failure(with_proof(one, proofs[1])).code is Code.PROOF_BROKEN
    # The same place in a log of another size; the same way up with a hash too few or too many; another index.
    store.append(batches_of(recorded_game(BRIDGE, 9, event_count_max=9)))
    later = prover(store).sign().note
    head, _, note = proofs[0].partition("\n\n")
    words = head.split("\n")
    for proof in (
        f"{head}\n\n{later}",
        "\n".join(words[:-1]) + f"\n\n{note}",
        "\n".join([*words, words[-1]]) + f"\n\n{note}",
        "\n".join([words[0], f"index {int(words[1].split()[1]) ^ 1}", *words[2:]]) + f"\n\n{note}",
        "\n".join([*words[:2], *reversed(words[2:])]) + f"\n\n{note}",
    ):
        assert failure(with_proof(one, proof)).code is Code.PROOF_BROKEN
    extra = "\n".join([words[0], "extra aGk=", *words[1:]]) + f"\n\n{note}"
    assert failure(with_proof(one, extra)).code is Code.BUNDLE_INVALID
    assert failure(with_proof(one, "nothing")).code is Code.NOTE_INVALID


def test_another_game_under_its_name_is_found() -> None:
    store = store_with(ROCKS, length=20)
    data = b"".join(bundle_of(store, "seven_rocks-0", PUBLIC, covering(store)))
    assert failure(line_of(data, lambda tree: tree.update(gameId="seven_rocks-1"))).code is Code.BUNDLE_INVALID
    assert failure(line_of(data, lambda tree: tree.update(events=19))).code is Code.BUNDLE_INVALID


def test_only_a_key_of_the_log_proves_it() -> None:
    data = small()
    assert failure(data, *OTHER.verifiers).code is Code.SIGNATURE_MISSING
    impostor = replace(LOG.verifiers[0], public=OTHER.verifiers[0].public)
    assert failure(data, impostor).code is Code.SIGNATURE_MISSING
    note = json.loads(data.partition(b"\n")[0])["proof"]
    broken = note[:-8] + ("A" if note[-8] != "A" else "B") + note[-7:]
    assert failure(with_proof(data, broken)).code is Code.SIGNATURE_BROKEN


def test_a_witness_is_told_with_its_time() -> None:
    store = store_with(ROCKS, length=20)
    proves = prover(store)
    text = proves.sign().note.rpartition("\n\n")[0] + "\n"
    proves.cosign(format_note(Note(text, WITNESS.sign(text, SECONDS + 60))))
    data = b"".join(bundle_of(store, "seven_rocks-0", PUBLIC, latest_covering(proves)))
    result = examined(data, *LOG.verifiers, *WITNESS.verifiers)
    assert [(signed.key.name, signed.time) for signed in result.signed] == [
        (LOG.name, None),
        (LOG.name, SECONDS),
        (WITNESS.name, SECONDS + 60),
    ]
    # A witness alone may have seen another log of this name.
    assert failure(data, *WITNESS.verifiers).code is Code.SIGNATURE_MISSING


def test_without_keys_nobody_is_said_to_have_signed() -> None:
    header, *lines = small().splitlines(keepends=True)
    result = examine(parse_header(header), events_in(lines), (), verify_signature)
    assert result.report.ok
    assert result.signed == ()


def test_without_keys_its_parts_must_fit_together_all_the_same() -> None:
    data = small()
    note = json.loads(data.partition(b"\n")[0])["proof"]
    header, *lines = with_proof(data, note.replace("index 7", "index 6")).splitlines(keepends=True)
    with pytest.raises(Corrupt) as corrupt:
        examine(parse_header(header), events_in(lines), (), verify_signature)
    assert corrupt.value.code is Code.PROOF_BROKEN


def test_a_bundle_carries_its_chain() -> None:
    header, *lines = small().splitlines(keepends=True)
    bare = [re.sub(rb'"(hash|previousHash)":"[^"]*",', b"", line) for line in lines]
    assert failure(b"".join([header, *bare])).code is Code.CHAIN_BROKEN


def test_a_checkpoint_that_reaches_far_enough_is_taken_before_a_new_one_is_made() -> None:
    store = store_with(ROCKS, length=20)
    keyless = latest_covering(Prover(store, Checkpoints(store)))
    with pytest.raises(Unavailable) as missing:
        bundle_of(store, "seven_rocks-0", PUBLIC, keyless)
    assert missing.value.code is Code.KEY_MISSING
    size = prover(store).sign().size
    store.append(batches_of(recorded_game(BRIDGE, 9, event_count_max=9)))
    for taken in (keyless, covering(store)):
        data = b"".join(bundle_of(store, "seven_rocks-0", PUBLIC, taken))
        assert examined(data).log.size == size
    with pytest.raises(Unavailable):
        bundle_of(store, "seven_bridge-9", PUBLIC, keyless)
    data = b"".join(bundle_of(store, "seven_bridge-9", PUBLIC, covering(store)))
    assert examined(data).log.size == size + 9


def test_a_game_that_is_not_there_or_not_whole_has_no_bundle() -> None:
    store = store_with(ROCKS, length=20)
    with pytest.raises(NotFound):
        bundle_of(store, "nothing", PUBLIC, covering(store))
    with pytest.raises(Refused) as refused:
        bundle_of(store, "seven_rocks-0", Viewer(4), covering(store))
    assert refused.value.code is Code.SEAT_UNKNOWN
    damaged = Damaged(store)
    with pytest.raises(Corrupt) as corrupt:
        bundle_of(damaged, "seven_rocks-0", PUBLIC, covering(store))
    assert (corrupt.value.code, corrupt.value.facts["at_sequence"]) == (Code.CHAIN_BROKEN, 3)


class Damaged(MemoryStore):
    """A store that gives one record with another in its place."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__()
        self.__dict__.update(store.__dict__)

    def read_game(self, game_id: str, **given: Any) -> Any:
        for stored in super().read_game(game_id, **given):
            yield (
                replace(stored, record=stored.record.replace(b"table-1", b"table-2"))
                if stored.sequence == 3
                else stored
            )


def test_pieces_are_bounded_and_lose_nothing() -> None:
    lines = [b"x" * size + b"\n" for size in (10, PIECE_SIZE - 20, 500, PIECE_SIZE, 3, 0)]
    pieces = list(in_pieces(lines))
    assert b"".join(pieces) == b"".join(lines)
    assert max(map(len, pieces)) <= PIECE_SIZE + max(map(len, lines))
    assert list(in_pieces([])) == []
