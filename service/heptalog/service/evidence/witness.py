"""A witness: cosigns the checkpoints of one log, and only while each goes on where the one before it stopped.

What it has cosigned last is in its state file: that checkpoint, with the witness's own signature. It is there, durably,
before the signature is given to anybody; so whatever happens, there are never two logs that it has vouched for.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Unavailable
from heptalog.replay.evidence.checkpoints import CheckpointBody, open_checkpoint, parse_checkpoint
from heptalog.replay.evidence.merkle import check_consistency
from heptalog.replay.evidence.notes import NOTE_SIZE_MAX, Note, Signature, VerifierKey, format_note, parse_note, signers
from heptalog.replay.times import SECOND
from heptalog.service.evidence.keys import SigningKey, verify
from heptalog.service.store.files import replace_file

# The hashes that show that the log of the second size begins with that of the first.
Consistency = Callable[[int, int], Sequence[bytes]]

_PROBLEM: Final = "this is no state of this witness"


class Witness:
    """A witness's key, the keys of the log that it watches, and the file in which it remembers."""

    def __init__(self, key: SigningKey, log_keys: Sequence[VerifierKey], state: Path, clock: Callable[[], int]) -> None:
        """Raises Malformed where the key is a log's: its name would be taken for the log's own."""
        if not key.is_witness:
            problem = "a witness's key is needed here, as `heptalog keygen --cosigner` makes it"
            raise Malformed(Code.KEY_INVALID, rule="evidence", problem=problem, name=key.name)
        self._key = key
        self._log_keys = log_keys
        self._state = state
        self._clock = clock

    def cosign(self, note: str, consistency: Consistency) -> str:
        """The checkpoint with the witness's signature; the same one as before where it has cosigned this already.

        Raises Corrupt where the log has not signed it, or it is not a later state of the log that was cosigned last.
        """
        body, _ = open_checkpoint(note, self._log_keys, verify)
        with self._alone():
            last = self._last()
            if last is not None:
                kept = parse_checkpoint(last.text)
                _check_follows(kept, body, consistency)
                if kept.size == body.size:
                    return self._joined(parse_note(note), last)
            signed = parse_note(note)
            lines = self._key.sign(signed.text, self._clock() // SECOND)
            cosigned = Note(signed.text, (*self._without_ours(signed), *lines))
            self._keep(format_note(cosigned))
            return format_note(cosigned)

    def _joined(self, note: Note, last: Note) -> str:
        """The note with the line that was written for it the first time, which may never have been handed over."""
        ours = [item for item in last.signatures if item.key_id == self._key.verifiers[0].key_id]
        return format_note(Note(note.text, (*self._without_ours(note), *ours)))

    def _without_ours(self, note: Note) -> list[Signature]:
        key = self._key.verifiers[0]
        return [item for item in note.signatures if (item.name, item.key_id) != (key.name, key.key_id)]

    def _last(self) -> Note | None:
        """What was cosigned last; None at the very first time. Raises Corrupt where the file is not ours."""
        try:
            with self._state.open("rb") as file:
                data = file.read(NOTE_SIZE_MAX + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self._state, error) from error
        try:
            note = parse_note(data)
            parse_checkpoint(note.text)
            signers(note, self._key.verifiers, verify)
        except HeptalogError as error:
            raise type(error)(error.code, rule=error.rule, problem=_PROBLEM, path=str(self._state)) from error
        return note

    def _keep(self, note: str) -> None:
        try:
            replace_file(self._state, note.encode())
        except OSError as error:
            raise Unavailable(Code.WRITE_FAILED, problem=error.strerror or "", path=str(self._state)) from error

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One at a time: between two, one could forget what the other has cosigned."""
        path = self._state.with_name(f"{self._state.name}.lock")
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise _unusable(path, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _check_follows(last: CheckpointBody, body: CheckpointBody, consistency: Consistency) -> None:
    if body.origin != last.origin:
        raise Corrupt(Code.CHECKPOINT_DIFFERS, rule="evidence", origin=body.origin, cosigned=last.origin)
    if body.size < last.size:
        raise Corrupt(Code.EVENTS_LOST, rule="evidence", first=body.size + 1, last=last.size)
    if body.size == last.size and body.root != last.root:
        raise Corrupt(Code.CHECKPOINT_DIFFERS, rule="evidence", size=body.size)
    if body.size > last.size:
        check_consistency(last.size, last.root, body.size, body.root, consistency(last.size, body.size))


def _unusable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(Code.SOURCE_UNREADABLE, problem=error.strerror or "", path=str(path))
