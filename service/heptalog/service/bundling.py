"""Bundles out of a store: a game as a viewer may have it, with the proof that it is in the log."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from typing import Final

from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, Corrupt, HeptalogError, NotFound, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.evidence.bundles import Bundle, bundle_lines
from heptalog.replay.evidence.checkpoints import checkpoint_in
from heptalog.replay.evidence.merkle import check_inclusion, inclusion_proof, leaf_hash, nodes_from_tiles
from heptalog.replay.evidence.proofs import LogProof
from heptalog.replay.redaction import redacted_for
from heptalog.replay.rules import Viewer
from heptalog.replay.verify import Examiner
from heptalog.service.evidence.proving import Prover
from heptalog.service.store import Checkpoint, LogStore

# A checkpoint over at least so many events.
Covering = Callable[[int], Checkpoint]

PIECE_SIZE: Final = 1 << 20  # bytes


def bundle_of(
    store: LogStore, game_id: str, viewer: Viewer, covering: Covering, *, is_withheld: bool = False
) -> Iterator[bytes]:
    """The lines of a bundle of a game as far as the tree has it now.

    The game is examined on the way: what would not verify is not given. Raises NotFound where there is no such game,
    Refused for a viewer who has no seat at it, Corrupt where the record is not whole, and whatever `covering` raises.
    """
    events, position, examiner = _read(store, game_id)
    fold = examiner.fold
    assert fold is not None, "a game has a beginning"
    copy = list(redacted_for(events, fold, viewer, is_withheld=is_withheld))
    return bundle_lines(Bundle(game_id, len(copy), viewer, _proof(store, events[-1], position, covering)), copy)


def latest_covering(prover: Prover) -> Covering:
    """The latest checkpoint that was kept, or where that does not reach far enough, a fresh one.

    The latest: it is signed by the keys that are in use, and by the witnesses that have seen the log last.
    """

    def covering(size: int) -> Checkpoint:
        with suppress(NotFound):
            latest = prover.checkpoint()
            if latest.size >= size:
                return latest
        if not prover.can_sign:
            raise Unavailable(Code.KEY_MISSING, rule="evidence", problem="no checkpoint reaches as far as this game")
        return prover.sign()

    return covering


def in_pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of about `PIECE_SIZE`, none larger than that and one line."""
    piece = bytearray()
    for line in lines:
        piece += line
        if len(piece) >= PIECE_SIZE:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def _read(store: LogStore, game_id: str) -> tuple[list[Event], int, Examiner]:
    """The events of a game, all examined, and the position of the last."""
    events: list[Event] = []
    examiner = Examiner()
    position = 0
    # For a moment after a commit its events can be read, and nothing proves them yet.
    size = store.tree_head().size
    with closing(store.read_game(game_id)) as records:
        for stored in records:
            if stored.position > size:
                break
            try:
                event, public = decode(stored.record)
                examiner.advance(event, public)
            except HeptalogError as error:
                raise _damaged(error, game_id, stored.sequence, stored.position) from error
            events.append(event)
            position = stored.position
    if not events:
        raise NotFound(Code.GAME_NOT_FOUND, rule="api", game_id=game_id)
    return events, position, examiner


def _damaged(error: HeptalogError, game_id: str, sequence: int, position: int) -> HeptalogError:
    """What a recorded game is, where a part of it cannot be taken in: damaged, unless it is newer than this program."""
    if isinstance(error, Unavailable):
        return error
    code = error.code if isinstance(error, Corrupt) else Code.RECORD_DAMAGED
    return Corrupt(code, rule="evidence", game_id=game_id, at_sequence=sequence, position=position)


def _proof(store: LogStore, head: Event, position: int, covering: Covering) -> LogProof:
    """The proof that this is an event of the log, checked before it is given away."""
    checkpoint = covering(position)
    nodes = nodes_from_tiles(store.tile, size=checkpoint.size)
    hashes = inclusion_proof(position - 1, checkpoint.size, nodes)
    log = checkpoint_in(checkpoint.note)
    check_inclusion(leaf_hash(head.hash), position - 1, log.size, hashes, log.root)
    return LogProof(position - 1, hashes, checkpoint.note)
