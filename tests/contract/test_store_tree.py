"""The Merkle tree over all events, its tiles and its checkpoints, and reading refusals from a place on."""

from collections.abc import Iterator
from itertools import count
from threading import Event, Thread

import pytest

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Malformed, NotFound
from heptalog.replay.evidence.merkle import (
    EMPTY_ROOT,
    TILE_WIDTH,
    check_consistency,
    check_inclusion,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    nodes_from_tiles,
    root_at,
)
from heptalog.replay.registry import GAMES
from heptalog.service.store import Checkpoint, LogStore, TreeHead
from tests.contract.given import appended, begin, checkpoint_of, fill, game, refusals
from tests.support.recording import batch_of, batches_of, recorded_game

LONG = 70_000  # more than a whole tile of the first level above the leaves


def root_of(leaves: list[bytes]) -> bytes:
    """The root as RFC 9162 defines it."""
    if not leaves:
        return EMPTY_ROOT
    if len(leaves) == 1:
        return leaves[0]
    middle = 1 << (len(leaves) - 1).bit_length() - 1
    return node_hash(root_of(leaves[:middle]), root_of(leaves[middle:]))


def test_an_empty_tree(store: LogStore) -> None:
    assert store.tree_head() == TreeHead(0, EMPTY_ROOT)
    with pytest.raises(NotFound):
        store.tile(0, 0, 1)


def test_the_leaves_are_the_hashes_of_the_events_in_the_order_of_acceptance(store: LogStore) -> None:
    written = fill(store, [game(number) for number in range(7)], size=3)
    leaves = [leaf_hash(entry.event.hash) for entry in written]
    assert store.tile(0, 0, len(leaves)) == leaves
    assert store.tree_head() == TreeHead(len(leaves), root_of(leaves))


def test_the_head_grows_with_each_commit_and_only_with_events(store: LogStore) -> None:
    leaves: list[bytes] = []
    for entry in game(1):
        appended(store, batch_of([entry]))
        leaves.append(leaf_hash(entry.event.hash))
        assert store.tree_head() == TreeHead(len(leaves), root_of(leaves))
    store.append([begin(1)], refusals(2))
    assert store.tree_head() == TreeHead(len(leaves), root_of(leaves))


def test_tiles_of_every_level_and_proofs_through_them(store: LogStore) -> None:
    entries = recorded_game(GAMES[0], 0, game_id="long", event_count_max=LONG, ruling_rate=1.0)
    for batch in batches_of(entries, 9_999):
        appended(store, batch)
    leaves = [leaf_hash(entry.event.hash) for entry in entries]
    head = store.tree_head()
    assert head == TreeHead(LONG, root_of(leaves))
    for index in (0, 1, 100, 255, 256, 272):
        first = TILE_WIDTH * index
        assert store.tile(0, index, 256) == leaves[first : first + 256]
    assert store.tile(0, 273, 112) == leaves[TILE_WIDTH * 273 :]
    assert store.tile(1, 0, 256) == [root_of(leaves[start : start + 256]) for start in range(0, 65_536, 256)]
    assert store.tile(1, 1, 17) == [root_of(leaves[start : start + 256]) for start in range(65_536, 69_888, 256)]
    assert store.tile(2, 0, 1) == [root_of(leaves[:65_536])]
    nodes = nodes_from_tiles(store.tile, size=head.size)
    for index, size in ((0, LONG), (LONG - 1, LONG), (65_535, 65_536), (300, 301), (40_000, 69_999)):
        root = root_at(size, nodes)
        assert root == root_of(leaves[:size])
        check_inclusion(leaves[index], index, size, inclusion_proof(index, size, nodes), root)
        check_consistency(size, root, LONG, head.root, consistency_proof(size, LONG, nodes))


@pytest.mark.parametrize(
    ("level", "index", "width"), [(0, 1, 45), (0, 2, 1), (1, 0, 2), (1, 1, 1), (2, 0, 1), (9, 0, 1), (0, 2**60, 256)]
)
def test_what_is_not_complete_is_not_found(store: LogStore, level: int, index: int, width: int) -> None:
    for batch in batches_of(recorded_game(GAMES[0], 0, event_count_max=300, ruling_rate=1.0)):
        appended(store, batch)
    assert len(store.tile(0, 1, 44)) == 44
    assert len(store.tile(1, 0, 1)) == 1
    with pytest.raises(NotFound) as caught:
        store.tile(level, index, width)
    assert (caught.value.code, caught.value.facts) == (Code.POSITION_AFTER_HEAD, {"head": 300})


def test_tiles_are_read_while_the_log_grows(store: LogStore) -> None:
    """Whatever is read at once is of the log: each head that was seen is one that the log came through."""
    entries = recorded_game(GAMES[0], 0, game_id="long", event_count_max=3_000, ruling_rate=1.0)
    leaves = [leaf_hash(entry.event.hash) for entry in entries]
    is_done = Event()
    failures: list[BaseException] = []
    seen: list[TreeHead] = []

    def read() -> None:
        try:
            is_last = False
            while not is_last:
                is_last = is_done.is_set()
                head = store.tree_head()
                nodes = nodes_from_tiles(store.tile, size=head.size)
                assert root_at(head.size, nodes) == head.root
                seen.append(head)
        except BaseException as error:  # noqa: BLE001  # it is raised again by the test itself
            failures.append(error)

    reader = Thread(target=read)
    reader.start()
    try:
        for batch in batches_of(entries, 50):
            appended(store, batch)
    finally:
        is_done.set()
        reader.join(60)
    assert failures == []
    assert all(head == TreeHead(head.size, root_of(leaves[: head.size])) for head in seen)
    assert seen[-1].size == 3_000


def test_checkpoints_come_by_size_the_last_note_of_each(store: LogStore) -> None:
    written = fill(store, [game(number) for number in range(3)])
    leaves = [leaf_hash(entry.event.hash) for entry in written]
    first, second, third = (checkpoint_of(size, root_of(leaves[:size])) for size in (0, 5, 36))
    assert list(store.checkpoints()) == []
    for checkpoint in (third, first, second):
        store.keep_checkpoint(checkpoint)
    assert list(store.checkpoints()) == [second, third]
    signed_again = checkpoint_of(5, root_of(leaves[:5]), name="another")
    store.keep_checkpoint(signed_again)
    assert list(store.checkpoints(after=-1)) == [first, signed_again, third]
    assert list(store.checkpoints(after=5)) == [third]
    assert list(store.checkpoints(after=36)) == []


def test_a_checkpoint_that_is_not_of_this_log_is_not_kept(store: LogStore) -> None:
    fill(store, [game(1)])
    right = store.tree_head()
    wrong: list[tuple[Checkpoint, type[HeptalogError], Code]] = [
        (checkpoint_of(12, bytes(32)), Corrupt, Code.CHECKPOINT_DIFFERS),
        (checkpoint_of(11, right.root), Corrupt, Code.CHECKPOINT_DIFFERS),
        (checkpoint_of(13, right.root), Corrupt, Code.CHECKPOINT_DIFFERS),
        (Checkpoint(12, "seven\n12\n\n"), Malformed, Code.NOTE_INVALID),
    ]
    for checkpoint, kind, code in wrong:
        with pytest.raises(kind) as caught:
            store.keep_checkpoint(checkpoint)
        assert caught.value.code is code
    assert list(store.checkpoints()) == []


def test_many_checkpoints(store: LogStore) -> None:
    roots = []
    for number in range(300):
        appended(store, begin(number))
        roots.append(store.tree_head().root)
        store.keep_checkpoint(checkpoint_of(number + 1, roots[-1]))
    assert list(store.checkpoints()) == [checkpoint_of(size, root) for size, root in zip(count(1), roots)]


def test_refusals_after_so_many(store: LogStore) -> None:
    mine, others = refusals(5), refusals(5, "never begun")
    for refusal, other in zip(mine, others, strict=True):
        store.append([], [refusal, other])
    everything = [one for pair in zip(mine, others, strict=True) for one in pair]
    for after in range(12):
        assert list(store.refusals(after=after)) == everything[after:]
        assert list(store.refusals("game-1", after=after)) == mine[after:]
        assert list(store.refusals("unknown", after=after)) == []
    assert store.refusal_count() == 10


@pytest.fixture(autouse=True)
def _is_whole(store: LogStore) -> Iterator[None]:
    """Whatever a test did: the tree is that of the events."""
    yield
    leaves = [leaf_hash(stored.record[36:68]) for stored in store.read_all()]
    assert store.tree_head() == TreeHead(len(leaves), root_of(leaves))
