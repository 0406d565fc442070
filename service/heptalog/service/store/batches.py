"""What every store asks of what it is given, and how it says no."""

from collections.abc import Sequence

from heptalog.replay.codec import hash_in
from heptalog.replay.errors import Code, Conflict
from heptalog.replay.events import GameStarted, snake_name
from heptalog.replay.evidence.chain import GENESIS
from heptalog.service.store import NO_GAME, Batch, Head


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


def ruleset_of(started: GameStarted) -> str:
    """The key of the rules that a game was started under, known here or not."""
    return snake_name(type(started.rules))


def rules_version_of(started: GameStarted) -> int:
    """The version of those rules; an absent one is 1 for ever."""
    return started.rules_version if isinstance(started.rules_version, int) else 1
