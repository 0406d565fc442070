"""The checkpoints that a log keeps: the latest, one of a size, and what witnesses add to them."""

from collections.abc import Sequence
from contextlib import closing
from threading import RLock
from typing import Final

from heptalog.replay.errors import Code, Corrupt, Malformed, NotFound
from heptalog.replay.evidence.checkpoints import CheckpointBody, parse_checkpoint
from heptalog.replay.evidence.notes import (
    NOTE_SIZE_MAX,
    SIGNATURES_MAX,
    Note,
    Signature,
    VerifierKey,
    format_note,
    parse_note,
    signers,
)
from heptalog.service.evidence.keys import verify
from heptalog.service.store import Checkpoint, LogStore

_NOT_KEPT: Final = "it is not what was signed at this size"


class Checkpoints:
    """The checkpoints of one store. Every change is made under `lock`, so that no signature is lost to another."""

    def __init__(self, store: LogStore, witnesses: Sequence[VerifierKey] = ()) -> None:
        """Only these witnesses may add to them: of anybody else nobody could say whether a signature is one."""
        self.lock = RLock()
        self._store = store
        self._witnesses = {(key.name, key.key_id): key for key in witnesses}
        # How far they have been looked at: a log of years has a great many.
        self._known = 0

    def latest(self) -> Checkpoint | None:
        """The one of the greatest size, or None where there is none."""
        latest = None
        # From the one that was the latest on: it may have more signatures now.
        for checkpoint in self._store.checkpoints(after=max(self._known - 1, 0)):
            latest = checkpoint
        self._known = latest.size if latest is not None else 0
        return latest

    def demanded(self, size: int | None = None) -> Checkpoint:
        """The latest, or the one of this size. Raises NotFound."""
        found = self.latest() if size is None else self.of_size(size)
        if found is None:
            facts = {} if size is None else {"size": size}
            raise NotFound(Code.CHECKPOINT_NOT_FOUND, rule="api", **facts)
        return found

    def of_size(self, size: int) -> Checkpoint | None:
        """The one of exactly this size, or None."""
        if size <= 0:
            return None
        with closing(self._store.checkpoints(after=size - 1)) as checkpoints:
            found = next(checkpoints, None)
        return found if found is not None and found.size == size else None

    def keep(self, note: Note, size: int) -> Checkpoint:
        """Keep a note durably, in place of an earlier one of this size."""
        checkpoint = Checkpoint(size, format_note(note))
        self._store.keep_checkpoint(checkpoint)
        return checkpoint

    def cosign(self, text: str) -> Checkpoint:
        """Keep the signatures of witnesses that a note has and the kept one of its size has not.

        A key signs a checkpoint once: another line of the same key changes nothing. Raises Malformed where the text is
        another, or a line is of nobody who is a witness here, or false; NotFound where none of its size was kept.
        """
        given = parse_note(text)
        body = parse_checkpoint(given.text)
        with self.lock:
            checkpoint = self.demanded(body.size)
            kept = parse_note(checkpoint.note)
            if kept.text != given.text:
                raise Malformed(Code.NOTE_INVALID, rule="api", field="note", problem=_NOT_KEPT)
            added = self._added(kept, given, body)
            if not added:
                return checkpoint
            joined = Note(kept.text, (*kept.signatures, *added))
            if len(joined.signatures) > SIGNATURES_MAX or len(format_note(joined).encode()) > NOTE_SIZE_MAX:
                problem = f"a checkpoint has at most {SIGNATURES_MAX} signatures and {NOTE_SIZE_MAX} bytes"
                raise Malformed(Code.NOTE_INVALID, rule="api", field="note", problem=problem)
            return self.keep(joined, body.size)

    def _added(self, kept: Note, given: Note, body: CheckpointBody) -> list[Signature]:
        known = {(item.name, item.key_id) for item in kept.signatures}
        added = []
        for item in given.signatures:
            who = (item.name, item.key_id)
            if who in known:
                continue
            key = self._witnesses.get(who)
            if key is None or item.name == body.origin:
                problem = "one that signs it is no witness of this log (serve --witness)"
                raise Malformed(Code.NOTE_INVALID, rule="api", field="note", problem=problem, name=item.name)
            try:
                signers(Note(given.text, (item,)), [key], verify)
            except Corrupt as error:
                # What the caller brings is a fault of the request, not of the log.
                raise Malformed(error.code, rule="api", field="note", name=item.name) from error
            known.add(who)
            added.append(item)
        return added
