"""What is asked of a log on its way into a backup and out of it: one check for both.

Every record is the canonical form of an event whose hash is that of its content after the one before; the Merkle tree
goes on from where the backup stood, has the signed root at every checkpoint on the way, and ends in the root of the
moment. The rules are asked when a log is restored, not here.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, Unavailable
from heptalog.replay.events import Event, GameStarted
from heptalog.replay.evidence.chain import GENESIS, NOT_ITS_HASH, NOT_THE_NEXT, link
from heptalog.replay.evidence.checkpoints import CheckpointBody, checkpoint_in, open_checkpoint
from heptalog.replay.evidence.merkle import Frontier, leaf_hash
from heptalog.replay.evidence.notes import Signed, VerifierKey
from heptalog.service.config import EVENT_SIZE_MAX
from heptalog.service.evidence.keys import verify
from heptalog.service.store import Checkpoint

# Games whose heads are remembered; one that goes on after it was forgotten is checked when the log is restored.
GAMES_MAX: Final = 262_144


class Checker:
    """Follows a log from where a backup stands; raises Corrupt at the first thing that is wrong."""

    def __init__(self, tree: Frontier, keys: Sequence[VerifierKey] = ()) -> None:
        self.tree: Final = tree
        self.signed: tuple[Signed, ...] = ()  # the largest checkpoint, by the given keys
        self.checkpoint_size = 0
        self.checkpoint_count = 0
        self._keys = keys
        self._expected: dict[int, bytes] = {}
        self._heads: OrderedDict[str, tuple[int, bytes]] = OrderedDict()
        self._knows_all = not tree.size

    def checkpoint(self, checkpoint: Checkpoint) -> None:
        """A checkpoint, before the events that it covers. One of an earlier size is checked when a log is restored."""
        try:
            body = checkpoint_in(checkpoint.note)
        except Malformed as error:
            raise _differs(checkpoint.size, "it cannot be read") from error
        if body.size != checkpoint.size:
            raise _differs(checkpoint.size, "it is of another size")
        if self._expected.setdefault(body.size, body.root) != body.root:
            raise _differs(body.size, "there are two of this size")
        if body.size == self.tree.size:
            self._check_root(body.size)
        self.checkpoint_count += 1
        self._check_signatures(checkpoint, body)

    def event(self, position: int, record: bytes) -> Event:
        """The next event of all."""
        if position != self.tree.size + 1:
            problem = "events do not follow each other"
            raise Corrupt(Code.POSITION_DAMAGED, rule="evidence", problem=problem, position=position)
        if len(record) > EVENT_SIZE_MAX:
            raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", problem="it is too long", position=position)
        event, public = _decoded(position, record)
        if event.hash != link(event.previous_hash, public):
            raise _broken(position, event, NOT_ITS_HASH)
        self._follow(position, event)
        self.tree.append(leaf_hash(event.hash))
        self._check_root(self.tree.size)
        return event

    def check_signed(self) -> None:
        """Raise Corrupt where keys were given, and none of them has signed the largest checkpoint."""
        if self._keys and not self.signed:
            raise Corrupt(Code.SIGNATURE_MISSING, rule="evidence", size=self.checkpoint_size)

    def _check_root(self, size: int) -> None:
        root = self._expected.pop(size, None) if self._expected else None
        if root is not None and root != self.tree.root():
            raise Corrupt(Code.CHECKPOINT_DIFFERS, rule="evidence", size=size)

    def _check_signatures(self, checkpoint: Checkpoint, body: CheckpointBody) -> None:
        """A wrong signature is never right; that none of these keys has signed is so for checkpoints of older keys."""
        signed: tuple[Signed, ...] = ()
        if self._keys:
            try:
                _, signed = open_checkpoint(checkpoint.note, self._keys, verify)
            except Corrupt as error:
                if error.code is not Code.SIGNATURE_MISSING:
                    error.facts["size"] = body.size
                    raise
        if body.size >= self.checkpoint_size:
            self.checkpoint_size, self.signed = body.size, signed

    def _follow(self, position: int, event: Event) -> None:
        if not event.game_id or isinstance(event.body, GameStarted) != (event.sequence == 0):
            raise _broken(position, event, "a game starts once, and first")
        head = self._heads.pop(event.game_id, None)
        if head is None and (self._knows_all or event.sequence == 0):
            head = (-1, GENESIS)
        if head is not None and (event.sequence - 1, event.previous_hash) != head:
            raise _broken(position, event, NOT_THE_NEXT)
        self._heads[event.game_id] = (event.sequence, event.hash)
        if len(self._heads) > GAMES_MAX:
            self._heads.popitem(last=False)
            self._knows_all = False


def _decoded(position: int, record: bytes) -> tuple[Event, bytes]:
    try:
        return decode(record)
    except Unavailable as error:
        error.facts["position"] = position
        raise
    except HeptalogError as error:
        code = error.code if isinstance(error, Corrupt) else Code.RECORD_DAMAGED
        raise Corrupt(code, rule="evidence", position=position) from error


def _broken(position: int, event: Event, problem: str) -> Corrupt:
    facts = {"position": position, "game_id": event.game_id, "at_sequence": event.sequence}
    return Corrupt(Code.CHAIN_BROKEN, rule="evidence", problem=problem, **facts)


def _differs(size: int, problem: str) -> Corrupt:
    return Corrupt(Code.CHECKPOINT_DIFFERS, rule="evidence", problem=problem, size=size)
