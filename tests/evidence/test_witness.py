"""A witness: it follows one log, remembers before it speaks, and never vouches for two."""

from collections.abc import Sequence
from itertools import count, pairwise
from pathlib import Path

import pytest

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Unavailable
from heptalog.replay.evidence.checkpoints import checkpoint_in, open_checkpoint
from heptalog.replay.evidence.notes import parse_note
from heptalog.replay.registry import GAMES
from heptalog.replay.times import SECOND
from heptalog.service.evidence import witness as module
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring, SigningKey, verify
from heptalog.service.evidence.proving import Prover
from heptalog.service.evidence.signing import Signer
from heptalog.service.evidence.witness import Witness
from heptalog.service.store.memory import MemoryStore
from tests.evidence.given import LOG, NEXT, OTHER, SECONDS, WITNESS, code_of, key_of, refusal
from tests.support.recording import batches_of, recorded_game


class Log:
    """A log that grows, is signed, and is asked for what shows that it is one."""

    def __init__(self, *keys: SigningKey) -> None:
        self.store = MemoryStore()
        checkpoints = Checkpoints(self.store)
        signer = Signer(self.store, checkpoints, Keyring(keys or (LOG,)), lambda: SECONDS * SECOND)
        self.prover = Prover(self.store, checkpoints, signer)
        self.asked: list[tuple[int, int]] = []

    def signed(self, seed: int) -> str:
        """Another game, and the checkpoint over all of it."""
        entries = recorded_game(GAMES[seed % 3], seed, event_count_max=30)
        self.store.append(batches_of(entries))
        return self.prover.sign().note

    def consistency(self, first: int, second: int) -> Sequence[bytes]:
        self.asked.append((first, second))
        return self.prover.consistency(first, second).hashes


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "log.state"


def witness_of(state: Path, *keys: SigningKey, key: SigningKey = WITNESS) -> Witness:
    seconds = count(SECONDS + 10)
    log_keys = [verifier for log_key in (keys or (LOG,)) for verifier in log_key.verifiers]
    return Witness(key, log_keys, state, lambda: next(seconds) * SECOND)


def failure_of(witness: Witness, note: str, log: Log) -> HeptalogError:
    with pytest.raises(HeptalogError) as caught:
        witness.cosign(note, log.consistency)
    return caught.value


def test_a_log_that_grows_is_cosigned_again_and_again(state: Path) -> None:
    log = Log()
    sizes = []
    for seed in range(4):
        note = log.signed(seed)
        cosigned = witness_of(state).cosign(note, log.consistency)
        assert cosigned.startswith(note)
        body, signed = open_checkpoint(cosigned, [*LOG.verifiers, *WITNESS.verifiers], verify)
        assert signed[-1].key == WITNESS.verifiers[0]
        assert signed[-1].time == SECONDS + 10
        # What was told is what is remembered.
        assert state.read_text() == cosigned
        sizes.append(body.size)
    # The first is taken as it is, and every other follows on the one before.
    assert log.asked == list(pairwise(sizes))


def test_the_same_checkpoint_gets_the_same_signature(state: Path) -> None:
    """It may never have been handed over: the witness was killed between the file and the server."""
    log = Log()
    note = log.signed(0)
    witness = witness_of(state)
    first = witness.cosign(note, log.consistency)
    assert witness.cosign(note, log.consistency) == witness.cosign(first, log.consistency) == first
    assert not log.asked


def test_two_logs_of_one_key_are_told_apart(state: Path) -> None:
    """The log was written anew from its beginning, and signed with its true key."""
    log, other = Log(), Log()
    witness_of(state).cosign(log.signed(0), log.consistency)
    other.signed(1)
    remembered = state.read_text()
    failure = failure_of(witness_of(state), other.signed(2), other)
    assert isinstance(failure, Corrupt)
    assert failure.code is Code.PROOF_BROKEN
    assert state.read_text() == remembered


def test_another_log_of_the_same_size_is_told(state: Path) -> None:
    log, other = Log(), Log()
    first, second = log.signed(0), other.signed(3)
    assert checkpoint_in(first).size == checkpoint_in(second).size
    witness_of(state).cosign(first, log.consistency)
    assert failure_of(witness_of(state), second, other).code is Code.CHECKPOINT_DIFFERS


def test_a_log_that_became_shorter_is_told_with_the_positions(state: Path) -> None:
    log = Log()
    old = log.signed(0)
    witness_of(state).cosign(log.signed(1), log.consistency)
    failure = failure_of(witness_of(state), old, log)
    assert (failure.code, failure.facts) == (Code.EVENTS_LOST, {"first": 31, "last": 60})


def test_only_what_the_log_has_signed_is_cosigned(state: Path) -> None:
    log = Log()
    note = log.signed(0)
    assert failure_of(witness_of(state, OTHER), note, log).code is Code.SIGNATURE_MISSING
    assert failure_of(witness_of(state), note.replace("\n30\n", "\n31\n"), log).code is Code.SIGNATURE_BROKEN
    assert failure_of(witness_of(state), "nonsense", log).code is Code.NOTE_INVALID
    assert not state.exists()


def test_a_witness_follows_one_log_only(state: Path) -> None:
    log, other = Log(), Log(OTHER)
    witness_of(state).cosign(log.signed(0), log.consistency)
    failure = failure_of(witness_of(state, LOG, OTHER), other.signed(0), other)
    assert failure.code is Code.CHECKPOINT_DIFFERS
    assert failure.facts["origin"] == OTHER.name


def test_a_witness_follows_a_log_through_a_change_of_its_key(state: Path) -> None:
    log = Log(LOG, NEXT)
    witness_of(state, LOG).cosign(log.signed(0), log.consistency)
    cosigned = witness_of(state, NEXT).cosign(log.signed(1), log.consistency)
    open_checkpoint(cosigned, NEXT.verifiers, verify)


def test_a_proof_that_proves_nothing_is_not_enough(state: Path) -> None:
    log = Log()
    witness_of(state).cosign(log.signed(0), log.consistency)
    note = log.signed(1)
    for hashes in ((), (bytes(32),), (b"short",)):
        assert code_of(witness_of(state).cosign, note, lambda _first, _second, given=hashes: given) is Code.PROOF_BROKEN
    witness_of(state).cosign(note, log.consistency)


def test_a_log_key_is_no_witness(state: Path) -> None:
    assert refusal(lambda: witness_of(state, key=NEXT)).code is Code.KEY_INVALID


def test_a_state_that_is_not_its_own_is_refused(state: Path) -> None:
    log = Log()
    note = log.signed(0)
    cosigned = witness_of(state).cosign(note, log.consistency)
    later = log.signed(1)
    other = key_of("witness.example/two", is_witness=True)
    assert failure_of(witness_of(state, key=other), later, log).code is Code.SIGNATURE_MISSING
    for content in (b"", b"\xff", b"nonsense", note.encode(), cosigned.replace("\n30\n", "\n29\n").encode()):
        state.write_bytes(content)
        failure = failure_of(witness_of(state), later, log)
        assert isinstance(failure, Malformed | Corrupt)
        assert failure.facts["path"] == str(state)
        assert state.read_bytes() == content


def test_nothing_is_told_that_could_not_be_remembered(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log()
    note = log.signed(0)

    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "replace_file", full)
    failure = failure_of(witness_of(state), note, log)
    assert isinstance(failure, Unavailable)
    assert failure.code is Code.WRITE_FAILED
    assert not state.exists()
    assert failure_of(witness_of(tmp_path / "nowhere" / "state"), note, log).code is Code.SOURCE_UNREADABLE
    assert failure_of(witness_of(tmp_path), note, log).code is Code.SOURCE_UNREADABLE


def test_a_note_that_has_a_signature_of_ours_already_gets_no_second(state: Path, tmp_path: Path) -> None:
    """The state was lost, and is begun anew: one key signs one line."""
    log = Log()
    first = witness_of(state).cosign(log.signed(0), log.consistency)
    again = witness_of(tmp_path / "new").cosign(first, log.consistency)
    names = [item.name for item in parse_note(again).signatures]
    assert names == [LOG.name, LOG.name, WITNESS.name]
