"""What every store asks of what it is given, and how it says no."""

from collections.abc import Sequence

from heptalog.replay.codec import hash_in
from heptalog.replay.errors import Code, Conflict, Corrupt, NotFound
from heptalog.replay.events import GameStarted, snake_name
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.evidence.checkpoints import checkpoint_in
from heptalog.replay.evidence.merkle import TILE_HEIGHT, TILE_WIDTH, Nodes, root_at
from heptalog.service.store import NO_GAME, Batch, Checkpoint, Head, TreeHead


def conflict(batch: Batch, head: Head | None) -> Conflict | None:
    """Why a batch may not follow this head, or None where it may."""
    actual = NO_GAME if head is None else head.sequence
    # Another writer may have taken the same sequence: only the hash says that it is the same event.
    if batch.expected == actual and batch.entries[0].event.previous_hash == (GENESIS if head is None else head.hash):
        return None
    if batch.expected == NO_GAME and head is not None:
        return Conflict(Code.GAME_EXISTS, rule="append", game_id=batch.game_id)
    head_hash = "" if head is None else head.hash.hex()
    return Conflict(Code.SEQUENCE_MISMATCH, rule="append", expected=batch.expected, actual=actual, head_hash=head_hash)


def assert_shape(batches: Sequence[Batch]) -> None:
    """Fail where a batch contradicts itself, which only our own bug could bring about."""
    for batch in batches:
        assert batch.entries, "a batch has an event"
        for sequence, entry in enumerate(batch.entries, start=batch.expected + 1):
            event = entry.event
            assert event.sequence == sequence, "the events of a batch follow the head that it expects"
            assert event.game_id == batch.game_id, "a batch has the events of one game"
            assert isinstance(event.body, GameStarted) == (sequence == 0), "a game starts once, and first"
            assert event.hash == hash_in(entry.record), "a record and its event are the same"
        for ending in batch.endings:
            assert 0 <= ending.sequence - batch.expected - 1 < len(batch.entries), (
                "an ending is of an event of its batch"
            )


def check_tile(level: int, index: int, width: int, *, size: int) -> None:
    """Raise NotFound where the first `width` entries of a tile are not all complete in a log of this size."""
    assert level >= 0, "a tile has a level"
    assert index >= 0, "a tile has a number"
    assert 0 < width <= TILE_WIDTH, "a tile has one entry or more, and no more than its width"
    if (TILE_WIDTH * index + width) << TILE_HEIGHT * level > size:
        raise NotFound(Code.POSITION_AFTER_HEAD, rule="api", head=size)


def check_checkpoint(checkpoint: Checkpoint, tree: TreeHead, nodes: Nodes) -> None:
    """Raise Corrupt where a checkpoint is not of this log, and Malformed where it is none.

    Who signed it is for others to check; but what is kept is held against the log whenever it is opened.
    """
    body = checkpoint_in(checkpoint.note)
    assert body.size == checkpoint.size, "a checkpoint has the size that it says"
    if body.size > tree.size or root_at(body.size, nodes) != body.root:
        raise Corrupt(Code.CHECKPOINT_DIFFERS, rule="evidence", size=body.size)


def ruleset_of(started: GameStarted) -> str:
    """The key of the rules that a game was started under, known here or not."""
    return snake_name(type(started.rules))


def rules_version_of(started: GameStarted) -> int:
    """The version of those rules; an absent one is 1 for ever."""
    return started.rules_version if isinstance(started.rules_version, int) else 1
