"""Signing: over what was read back and only that, by every key, in a log that grows; and nothing once it differs."""

from collections.abc import Callable, Sequence
from itertools import count

import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, Malformed, NotFound, Unavailable
from heptalog.replay.evidence.checkpoints import CheckpointBody, checkpoint_in, format_checkpoint, open_checkpoint
from heptalog.replay.evidence.merkle import check_consistency, leaf_hash
from heptalog.replay.evidence.notes import Note, Signature, format_note, parse_note
from heptalog.replay.evidence.proofs import LogProof, check_proof
from heptalog.replay.registry import GAMES
from heptalog.replay.times import SECOND
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring, SigningKey, verify
from heptalog.service.evidence.proving import Prover
from heptalog.service.evidence.signing import Signer
from heptalog.service.store import Checkpoint, LogStore, Records, Stored, TreeHead
from heptalog.service.store.memory import MemoryStore
from tests.evidence.given import LOG, NEXT, OTHER, SECONDS, WITNESS, code_of, refusal
from tests.support.recording import batches_of, recorded_game
from tests.support.serving import TriedStore


def grow(store: LogStore, seed: int = 0) -> int:
    """A game of each kind more; the size of the log."""
    for rules in GAMES:
        for batch in batches_of(recorded_game(rules, seed, event_count_max=40), 7):
            store.append([batch])
    return store.position()


def signer_of(store: LogStore, *keys: SigningKey, earlier: Sequence[SigningKey] = ()) -> Signer:
    seconds = count(SECONDS)
    ring = Keyring(keys or (LOG,), tuple(verifier for key in earlier for verifier in key.verifiers[:1]))
    return Signer(store, Checkpoints(store), ring, lambda: next(seconds) * SECOND + 999_999_999)


def test_a_checkpoint_is_over_all_that_is_durable(store: LogStore) -> None:
    size = grow(store)
    checkpoint = signer_of(store).checkpoint()
    body, signed = open_checkpoint(checkpoint.note, LOG.verifiers, verify)
    assert body == CheckpointBody(LOG.name, size, store.tree_head().root)
    assert [item.time for item in signed] == [None, SECONDS]
    assert list(store.checkpoints()) == [checkpoint]


def test_a_log_without_events_has_no_checkpoint(store: LogStore) -> None:
    with pytest.raises(NotFound) as none:
        signer_of(store).checkpoint()
    assert none.value.code is Code.CHECKPOINT_NOT_FOUND
    assert not list(store.checkpoints())


def test_where_nothing_has_come_the_last_is_given_again(store: LogStore) -> None:
    grow(store)
    signer = signer_of(store)
    assert signer.checkpoint() == signer.checkpoint() == signer_of(store).checkpoint()
    assert len(list(store.checkpoints())) == 1


def test_every_checkpoint_begins_with_all_before_it_and_proves_every_event(store: LogStore) -> None:
    signer = signer_of(store)
    prover = Prover(store, Checkpoints(store), signer)
    made = []
    for seed in range(3):
        grow(store, seed)
        made.append(checkpoint_in(signer.checkpoint().note))
    assert [checkpoint.size for checkpoint in store.checkpoints()] == [body.size for body in made]
    for second in made:
        for first in made[: made.index(second) + 1]:
            proof = prover.consistency(first.size, second.size)
            assert proof.size == second.size
            check_consistency(first.size, first.root, second.size, second.root, proof.hashes)
    leaves = [leaf_hash(stored.record[36:68]) for stored in store.read_all()]
    for body in made:
        for position in range(1, body.size + 1):
            proof = prover.inclusion(position, body.size)
            assert proof.checkpoint is not None
            whole = LogProof(position - 1, proof.hashes, proof.checkpoint.note)
            check_proof(whole, leaves[position - 1], LOG.verifiers, verify)


def test_a_prover_says_where_there_is_nothing_to_show(store: LogStore) -> None:
    prover = Prover(store, Checkpoints(store))
    assert code_of(prover.checkpoint) is Code.CHECKPOINT_NOT_FOUND
    assert code_of(prover.inclusion, 1) is Code.CHECKPOINT_NOT_FOUND
    assert code_of(prover.consistency, 0) is Code.CHECKPOINT_NOT_FOUND
    assert code_of(prover.sign) is Code.KEY_MISSING
    size = grow(store)
    assert code_of(prover.inclusion, 0, size) is Code.FIELD_INVALID
    assert code_of(prover.inclusion, size + 1, size) is Code.POSITION_AFTER_HEAD
    assert code_of(prover.inclusion, 1, size + 1) is Code.POSITION_AFTER_HEAD
    assert code_of(prover.consistency, 1, size + 1) is Code.POSITION_AFTER_HEAD
    assert code_of(prover.consistency, 3, 2) is Code.POSITION_AFTER_HEAD
    # A proof needs no key and no checkpoint, only a size.
    assert prover.inclusion(1, size).checkpoint is None
    first = signer_of(store).checkpoint()
    grow(store, 1)
    last = signer_of(store).checkpoint()
    assert prover.inclusion(1) == prover.inclusion(1, last.size)
    assert prover.consistency(size) == prover.consistency(size, last.size)
    assert prover.consistency(size).checkpoint == prover.checkpoint() == last
    assert prover.checkpoint(size) == first
    assert code_of(prover.checkpoint, size - 1) is Code.CHECKPOINT_NOT_FOUND
    assert code_of(prover.checkpoint, 0) is Code.CHECKPOINT_NOT_FOUND
    assert list(prover.checkpoints(after=size)) == [last]


# Rotation.


def test_the_keys_of_a_log_change_without_a_break(store: LogStore) -> None:
    """Old alone, both together, new alone: whoever has either key can follow, and it is one log."""
    bodies = []
    for seed, keys in enumerate([(LOG,), (LOG, NEXT), (NEXT,)]):
        grow(store, seed)
        note = signer_of(store, *keys).checkpoint().note
        bodies.append(checkpoint_in(note))
        for key in keys:
            body, signed = open_checkpoint(note, key.verifiers, verify)
            assert (body, len(signed)) == (bodies[-1], 2)
        for key in {LOG, NEXT} - set(keys):
            assert code_of(open_checkpoint, note, key.verifiers, verify) is Code.SIGNATURE_MISSING
    prover = Prover(store, Checkpoints(store))
    for first, second in ((0, 1), (1, 2), (0, 2)):
        a, b = bodies[first], bodies[second]
        check_consistency(a.size, a.root, b.size, b.root, prover.consistency(a.size, b.size).hashes)


def test_a_new_key_signs_the_last_checkpoint_too(store: LogStore) -> None:
    grow(store)
    first = signer_of(store).checkpoint()
    cosigned = Checkpoints(store, WITNESS.verifiers).cosign(with_lines(first, WITNESS))
    second = signer_of(store, NEXT, LOG).checkpoint()
    assert second.size == first.size
    names = [(item.name, item.key_id) for item in parse_note(second.note).signatures]
    assert names == [(key.name, key.key_id) for key in (*LOG.verifiers, *WITNESS.verifiers, *NEXT.verifiers)]
    assert second.note.startswith(cosigned.note)
    assert list(store.checkpoints()) == [second]
    assert signer_of(store, NEXT).checkpoint() == second


def test_a_new_key_alone_needs_the_public_half_of_the_old(store: LogStore) -> None:
    grow(store)
    signer_of(store).checkpoint()
    assert refusal(signer_of, store, NEXT).code is Code.KEY_INVALID
    note = signer_of(store, NEXT, earlier=[LOG]).checkpoint().note
    open_checkpoint(note, NEXT.verifiers, verify)
    assert signer_of(store, NEXT).checkpoint().note == note


def test_keys_that_are_none_of_this_log_are_refused(store: LogStore) -> None:
    assert refusal(signer_of, store, WITNESS).code is Code.KEY_INVALID
    assert refusal(signer_of, store, LOG, OTHER).code is Code.KEY_INVALID
    assert refusal(signer_of, store, LOG, LOG).code is Code.KEY_INVALID
    with pytest.raises(Unavailable) as missing:
        Signer(store, Checkpoints(store), Keyring(()), lambda: 0)
    assert missing.value.code is Code.KEY_MISSING
    grow(store)
    signer_of(store).checkpoint()
    refused = refusal(signer_of, store, OTHER)
    assert refused.code is Code.KEY_INVALID
    assert (refused.facts["name"], refused.facts["origin"]) == (OTHER.name, LOG.name)


# Witnesses.


def with_lines(checkpoint: Checkpoint, *keys: SigningKey, seconds: int = SECONDS) -> str:
    """The note of a checkpoint with what these keys sign."""
    note = parse_note(checkpoint.note)
    added = [line for key in keys for line in key.sign(note.text, seconds)]
    return format_note(Note(note.text, (*note.signatures, *added)))


def test_the_signature_of_a_witness_is_kept(store: LogStore) -> None:
    grow(store)
    checkpoint = signer_of(store).checkpoint()
    checkpoints = Checkpoints(store, WITNESS.verifiers)
    note = with_lines(checkpoint, WITNESS)
    assert checkpoints.cosign(note) == Checkpoint(checkpoint.size, note)
    assert checkpoints.latest() == checkpoints.of_size(checkpoint.size) == Checkpoint(checkpoint.size, note)
    assert [item.key for item in open_checkpoint(note, [*LOG.verifiers, *WITNESS.verifiers], verify)[1]] == [
        *LOG.verifiers,
        *WITNESS.verifiers,
    ]
    # Again, and again with another time: a key signs once. The lines of the log need not come with it.
    assert checkpoints.cosign(note).note == note
    assert checkpoints.cosign(with_lines(checkpoint, WITNESS, seconds=SECONDS + 1)).note == note
    text = parse_note(note).text
    alone = format_note(Note(text, WITNESS.sign(text, SECONDS)))
    assert checkpoints.cosign(alone).note == note
    # And nothing that the log signs later takes it away.
    assert signer_of(store).checkpoint().note == note


def test_only_what_was_signed_here_can_be_cosigned(store: LogStore) -> None:
    size = grow(store)
    checkpoint = signer_of(store).checkpoint()
    checkpoints = Checkpoints(store, [*WITNESS.verifiers, *NEXT.verifiers])
    body = checkpoint_in(checkpoint.note)
    for other in (replace(body, root=leaf_hash(b"")), replace(body, origin="x"), replace(body, extensions=("x",))):
        text = format_checkpoint(other)
        assert code_of(checkpoints.cosign, format_note(Note(text, WITNESS.sign(text, 1)))) is Code.NOTE_INVALID
    text = format_checkpoint(replace(body, size=size - 1))
    assert code_of(checkpoints.cosign, format_note(Note(text, WITNESS.sign(text, 1)))) is Code.CHECKPOINT_NOT_FOUND
    assert code_of(checkpoints.cosign, "nonsense") is Code.NOTE_INVALID
    # Nobody else signs under the name of the log: a broken line there would spoil what a later key signs.
    text = format_checkpoint(body)
    foul = Note(text, (Signature(LOG.name, NEXT.verifiers[0].key_id, bytes(64)),))
    assert code_of(checkpoints.cosign, format_note(foul)) is Code.NOTE_INVALID
    assert list(store.checkpoints()) == [checkpoint]


def test_only_witnesses_of_the_log_cosign(store: LogStore) -> None:
    """What anybody could put there would take the place of others, or spoil what a witness says."""
    grow(store)
    checkpoint = signer_of(store).checkpoint()
    note = with_lines(checkpoint, WITNESS)
    assert code_of(Checkpoints(store).cosign, note) is Code.NOTE_INVALID
    text = parse_note(note).text
    (line,) = WITNESS.sign(text, SECONDS)
    false = Note(text, (replace(line, signature=bytes(72)),))
    assert code_of(Checkpoints(store, WITNESS.verifiers).cosign, format_note(false)) is Code.SIGNATURE_BROKEN
    assert list(store.checkpoints()) == [checkpoint]


def test_a_checkpoint_takes_only_so_many_signatures() -> None:
    store = MemoryStore()
    grow(store)
    checkpoint = signer_of(store).checkpoint()
    keys = [SigningKey(f"witness.example/{number}", bytes([number]) * 32, is_witness=True) for number in range(63)]
    checkpoints = Checkpoints(store, [key.verifiers[0] for key in keys])
    assert code_of(checkpoints.cosign, with_lines(checkpoint, *keys)) is Code.NOTE_INVALID
    checkpoints.cosign(with_lines(checkpoint, *keys[:62]))
    assert code_of(checkpoints.cosign, with_lines(checkpoint, keys[62])) is Code.NOTE_INVALID


# What differs is not signed.


class ForgedStore(TriedStore):
    """A store whose tree head, tiles or order are not what they should be."""

    def __init__(self, inner: LogStore) -> None:
        super().__init__(inner)
        self.forged: TreeHead | None = None
        self.is_forgetful = False
        self.is_swapped = False
        self.are_tiles_wrong = False

    def tree_head(self) -> TreeHead:
        return self.forged or super().tree_head()

    def tile(self, level: int, index: int, width: int) -> list[bytes]:
        tile = super().tile(level, index, width)
        return [leaf_hash(b""), *tile[1:]] if self.are_tiles_wrong else tile

    def read_all(self, *, start: int | None = None, limit: int = 0, is_backwards: bool = False) -> Records:
        records = list(super().read_all(start=start, limit=limit, is_backwards=is_backwards))
        if self.is_forgetful:
            del records[-1]
        if self.is_swapped:
            records[1:3] = [replace(records[2], position=2), replace(records[1], position=3)]
        yield from records


def flipped(place: int) -> Callable[[Stored], Stored]:
    """Change one bit of the record at position 20."""

    def damage(stored: Stored) -> Stored:
        if stored.position != 20:
            return stored
        record = bytearray(stored.record)
        record[place] ^= 1
        return replace(stored, record=bytes(record))

    return damage


@pytest.mark.parametrize("place", [0, 2, 20, 34, 36, 50, 67, 68, 69, 80, -1])
def test_one_bit_that_came_back_otherwise_is_never_signed(place: int) -> None:
    store = TriedStore(MemoryStore())
    grow(store)
    signer = signer_of(store)
    store.damage = flipped(place)
    with pytest.raises(Corrupt) as differs:
        signer.checkpoint()
    assert differs.value.code in (Code.RECORD_DAMAGED, Code.CHAIN_BROKEN, Code.COLUMNS_DIFFER)
    assert differs.value.facts["position"] == 20
    assert not list(store.checkpoints())
    # Nor ever after, until somebody has looked and started it anew.
    store.damage = None
    assert signer.is_broken
    assert code_of(signer.checkpoint) is differs.value.code
    assert not list(store.checkpoints())
    assert signer_of(store).checkpoint().size == store.position()


def forge_root(store: ForgedStore) -> None:
    store.forged = replace(store.inner.tree_head(), root=leaf_hash(b""))


def forge_moved(store: ForgedStore) -> None:
    store.damage = lambda stored: replace(stored, position=stored.position + (stored.position > 5))


def forge_end(store: ForgedStore) -> None:
    store.is_forgetful = True


def forge_order(store: ForgedStore) -> None:
    store.is_swapped = True


def forge_kept_as(store: ForgedStore) -> None:
    store.damage = lambda stored: replace(stored, game_id="other") if stored.position == 3 else stored


@pytest.mark.parametrize(
    ("forge", "code"),
    [
        (forge_root, Code.TREE_DIFFERS),
        (forge_moved, Code.POSITION_DAMAGED),
        (forge_end, Code.POSITION_DAMAGED),
        (forge_order, Code.TREE_DIFFERS),
        (forge_kept_as, Code.COLUMNS_DIFFER),
    ],
)
def test_what_was_read_back_must_be_the_tree_that_is_believed(forge: Callable[[ForgedStore], None], code: Code) -> None:
    store = ForgedStore(MemoryStore())
    grow(store)
    signer = signer_of(store)
    forge(store)
    with pytest.raises(Corrupt) as differs:
        signer.checkpoint()
    assert differs.value.code is code
    assert signer.is_broken
    assert not list(store.checkpoints())


def test_a_log_that_is_not_the_one_that_was_signed_is_signed_no_more() -> None:
    store = ForgedStore(MemoryStore())
    grow(store)
    signer = signer_of(store)
    first = signer.checkpoint()
    store.are_tiles_wrong = True
    grow(store, 1)
    with pytest.raises(Corrupt) as differs:
        signer.checkpoint()
    assert differs.value.code is Code.CHECKPOINT_DIFFERS
    assert list(store.checkpoints()) == [first]


def test_a_log_that_is_shorter_than_what_was_signed_is_signed_no_more() -> None:
    store = ForgedStore(MemoryStore())
    size = grow(store)
    before = store.tree_head()
    grow(store, 1)
    signer = signer_of(store)
    last = signer.checkpoint()
    store.forged = before
    with pytest.raises(Corrupt) as lost:
        signer.checkpoint()
    assert (lost.value.code, lost.value.facts) == (Code.EVENTS_LOST, {"first": size + 1, "last": last.size})
    assert signer.is_broken


@pytest.mark.parametrize("is_signed", [True, False])
@pytest.mark.parametrize("root", [None, leaf_hash(b"")])
def test_a_checkpoint_that_somebody_put_there_is_not_signed_on(root: bytes | None, is_signed: bool) -> None:
    store = MemoryStore()
    size = grow(store)
    text = format_checkpoint(CheckpointBody(LOG.name, size, root or store.tree_head().root))
    lines = [Signature(key.name, key.key_id, bytes(64)) for key in LOG.verifiers] if is_signed else OTHER.sign(text, 1)
    store._checkpoints[size] = Checkpoint(size, format_note(Note(text, tuple(lines))))
    with pytest.raises((Corrupt, Malformed)) as differs:
        signer_of(store)
    assert differs.value.code is (Code.SIGNATURE_BROKEN if is_signed else Code.KEY_INVALID)


def test_a_store_that_cannot_work_now_is_asked_again_later() -> None:
    class Resting(MemoryStore):
        is_resting = True

        def tree_head(self) -> TreeHead:
            if self.is_resting:
                raise Unavailable(Code.WRITE_FAILED)
            return super().tree_head()

    store = Resting()
    grow(store)
    signer = signer_of(store)
    assert code_of(signer.checkpoint) is Code.WRITE_FAILED
    store.is_resting = False
    assert signer.checkpoint().size == store.position()
