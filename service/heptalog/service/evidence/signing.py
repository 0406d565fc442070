"""Checkpoints are signed here, and only over what was read back: a log once signed the flip of a bit, and was done for.

What was written since the last checkpoint is read from the store, decoded and hashed again, and put as leaves beside
the tree that the last checkpoint was signed over. Only where the root that comes out is the one that the store believes
in is it signed. Whatever differs is Corrupt: nothing is signed any more, and the service says NOT_SERVING.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import closing

from heptalog.replay import codec
from heptalog.replay.errors import Code, Corrupt, HeptalogError, NotFound, Unavailable
from heptalog.replay.evidence.chain import link
from heptalog.replay.evidence.checkpoints import CheckpointBody, format_checkpoint, parse_checkpoint
from heptalog.replay.evidence.merkle import Frontier, frontier_at, leaf_hash, nodes_from_tiles
from heptalog.replay.evidence.notes import Note, key_invalid, parse_note, signers
from heptalog.replay.times import SECOND
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring, SigningKey, verify
from heptalog.service.store import Checkpoint, LogStore, Stored

_log = logging.getLogger(__name__)


class Signer:
    """Signs the checkpoints of one store. Calls may come from any thread, and wait for each other."""

    def __init__(
        self,
        store: LogStore,
        checkpoints: Checkpoints,
        keys: Keyring,
        clock: Callable[[], int],
    ) -> None:
        """Raises Malformed where these are no keys for this log.

        So are a witness's, keys of two names, and keys of another name than the log's checkpoints have; keys of which
        none has signed the last one, for then nobody could tell that it is the log's own; and after a loss that was
        accepted keys of the name that had signed what was lost.
        """
        self._store = store
        self._checkpoints = checkpoints
        self._keys = keys.signing
        self._clock = clock
        self._verifiers = tuple(verifier for key in keys.signing for verifier in key.verifiers)
        self._trusted = (*self._verifiers, *keys.earlier)
        self._failure: HeptalogError | None = None
        self.origin = _origin_of(keys.signing)
        self._void_names = store.void_names()
        if self.origin in self._void_names:
            problem = "what was signed under this name holds no longer: the log goes on under another"
            raise key_invalid(problem, name=self.origin)
        last = checkpoints.latest()
        if last is not None:
            self._check_last(last)

    @property
    def is_broken(self) -> bool:
        """Whether something differed, so that it signs no more."""
        return self._failure is not None

    def checkpoint(self) -> Checkpoint:
        """A checkpoint over all that is durable now: the last one again, where nothing has come since.

        Raises NotFound for a log without any event, Corrupt where what was read back is not what was written.
        """
        with self._checkpoints.lock:
            if self._failure is not None:
                raise self._failure.again()
            try:
                return self._checkpoint()
            except (Unavailable, NotFound):
                raise
            except HeptalogError as error:
                _log.critical("no checkpoint is signed any more: %s", error)
                self._failure = error
                raise

    def _checkpoint(self) -> Checkpoint:
        last = self._checkpoints.latest()
        head = self._store.tree_head()
        if last is None and not head.size:
            raise NotFound(Code.CHECKPOINT_NOT_FOUND, rule="api", problem="there is no event yet")
        frontier = Frontier()
        said: Note | None = None
        if last is not None:
            body, note = self._check_last(last)
            if last.size == head.size and body.origin == self.origin:
                said = note
            if last.size > head.size:
                raise Corrupt(Code.EVENTS_LOST, rule="evidence", first=head.size + 1, last=last.size)
            frontier = frontier_at(last.size, nodes_from_tiles(self._store.tile, size=last.size))
            if frontier.root() != body.root:
                raise Corrupt(Code.CHECKPOINT_DIFFERS, rule="evidence", size=last.size)
        self._append(frontier, head.size)
        if frontier.root() != head.root:
            raise Corrupt(Code.TREE_DIFFERS, rule="evidence", size=head.size)
        if last is not None and said is not None and self._has_all(said):
            return last
        unsigned = Note(format_checkpoint(CheckpointBody(self.origin, head.size, head.root)), ())
        return self._checkpoints.keep(self._signed(said or unsigned), head.size)

    def _check_last(self, last: Checkpoint) -> tuple[CheckpointBody, Note]:
        """What the last checkpoint says. Raises Malformed for that of another log, Corrupt for one that is not ours."""
        note = parse_note(last.note)
        body = parse_checkpoint(note.text)
        if body.size != last.size:
            raise Corrupt(Code.CHECKPOINT_DIFFERS, rule="evidence", size=last.size)
        if body.origin in self._void_names:
            # The log had this name until events were lost that it had signed; up to here it still holds.
            return body, note
        if body.origin != self.origin:
            problem = "the checkpoints of this log have another origin than the name of the key"
            raise key_invalid(problem, name=self.origin, origin=body.origin)
        try:
            signers(note, self._trusted, verify)
        except Corrupt as error:
            if error.code is not Code.SIGNATURE_MISSING:
                raise
            problem = "none of these keys has signed the last checkpoint; give one that has too, if only its public key"
            raise key_invalid(problem, origin=body.origin, size=body.size) from error
        return body, note

    def _append(self, frontier: Frontier, size: int) -> None:
        """Read what came after the frontier back, and put it beside it."""
        expected = frontier.size
        if expected == size:
            return
        with closing(self._store.read_all(start=expected + 1, limit=size - expected)) as records:
            for stored in records:
                expected += 1
                if stored.position != expected:
                    raise Corrupt(Code.POSITION_DAMAGED, rule="evidence", position=expected, found=stored.position)
                frontier.append(leaf_hash(_checked_hash(stored)))
        if expected != size:
            raise Corrupt(Code.POSITION_DAMAGED, rule="evidence", position=expected + 1)

    def _has_all(self, note: Note) -> bool:
        """Whether every key of ours has signed this."""
        there = {(item.name, item.key_id) for item in note.signatures}
        return all((key.name, key.key_id) in there for key in self._verifiers)

    def _signed(self, note: Note) -> Note:
        """The note with the signatures of ours that it lacks, ours first in a new one."""
        there = {(item.name, item.key_id) for item in note.signatures}
        seconds = self._clock() // SECOND
        made = [item for key in self._keys for item in key.sign(note.text, seconds)]
        added = [item for item in made if (item.name, item.key_id) not in there]
        return Note(note.text, (*note.signatures, *added))


def _origin_of(keys: Sequence[SigningKey]) -> str:
    """The name of the log, which all of its keys have, one after the other."""
    if not keys:
        raise Unavailable(Code.KEY_MISSING, rule="evidence")
    for key in keys:
        if key.is_witness:
            raise key_invalid("a witness's key signs no log of its own", name=key.name)
        if key.name != keys[0].name:
            raise key_invalid("all keys of a log have its name", name=key.name, origin=keys[0].name)
    if len({key.verifiers[0].key_id for key in keys}) != len(keys):
        raise key_invalid("a key is given twice", name=keys[0].name)
    return keys[0].name


def _checked_hash(stored: Stored) -> bytes:
    """The chain hash of a record that was read back. Raises Corrupt where the record is not what it was hashed as."""
    place = {"game_id": stored.game_id, "at_sequence": stored.sequence, "position": stored.position}
    try:
        event, public = codec.decode(stored.record)
    except Unavailable:
        # A newer version has written it, into a log that others write too: that is no damage, and not for us to sign.
        raise
    except HeptalogError as error:
        code = error.code if isinstance(error, Corrupt) else Code.RECORD_DAMAGED
        raise Corrupt(code, rule="evidence", **place) from error
    if (event.game_id, event.sequence) != (stored.game_id, stored.sequence):
        raise Corrupt(Code.COLUMNS_DIFFER, rule="evidence", **place)
    if link(event.previous_hash, public) != event.hash:
        raise Corrupt(Code.CHAIN_BROKEN, rule="evidence", **place)
    return event.hash
