"""The stored nodes of the Merkle tree: written now and then, never twice, and never more than can be derived."""

from pathlib import Path
from random import Random

import duckdb
import pytest
from msgspec.structs import astuple

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.evidence.merkle import Frontier, leaf_hash, node_hash
from heptalog.replay.registry import GAMES
from heptalog.service.store import Entry, duck_tree, tree
from heptalog.service.store.duck import DuckStore
from tests.contract.given import appended, writer_of
from tests.support.recording import batch_of, batches_of, recorded_game

LENGTH = 3_000


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return recorded_game(GAMES[0], 0, game_id="long", event_count_max=LENGTH, ruling_rate=1.0)


def root_of(entries: list[Entry]) -> bytes:
    frontier = Frontier()
    for entry in entries:
        frontier.append(leaf_hash(entry.event.hash))
    return frontier.root()


@pytest.mark.parametrize("seed", range(4))
def test_many_leaves_at_once_make_the_same_tree(seed: int) -> None:
    random = Random(seed)
    leaves = [leaf_hash(number.to_bytes(4, "big")) for number in range(70_000)]
    one, other = tree.Tree(Frontier()), tree.Tree(Frontier())
    start = 0
    while start < len(leaves):
        count = random.choice([1, 2, 100, 255, 256, 257, 511, 8_000])
        one.extend(leaves[start : start + count])
        for leaf in leaves[start : start + count]:
            other.extend([leaf])
        assert one.head == other.head
        assert sorted(one.waiting, key=astuple) == sorted(other.waiting, key=astuple)
        start += count
    assert one.head.root == _root_over(leaves)
    assert [node.level for node in one.waiting].count(2) == 1


def _root_over(leaves: list[bytes]) -> bytes:
    """The definition of the standard, word by word."""
    if len(leaves) == 1:
        return leaves[0]
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return node_hash(_root_over(leaves[:left]), _root_over(leaves[left:]))


@pytest.mark.parametrize("at_once", [1, 2, 5, 64])
@pytest.mark.parametrize("seed", range(2))
def test_opened_again_and_again_it_is_the_same_tree(
    path: Path, entries: list[Entry], monkeypatch: pytest.MonkeyPatch, at_once: int, seed: int
) -> None:
    monkeypatch.setattr(tree, "NODES_AT_ONCE", at_once)
    monkeypatch.setattr(duck_tree, "_PIECE", 100)
    random = Random(seed)
    done = 0
    while done < LENGTH:
        store = DuckStore(path)
        for _ in range(random.randrange(4)):
            size = min(random.choice([1, 10, 255, 256, 257, 600]), LENGTH - done)
            if size:
                appended(store, batch_of(entries[done : done + size]))
                done += size
            assert len(store._loaded().waiting) < at_once + 3
        assert store.tree_head().root == root_of(entries[:done])
        # Left as a killed process leaves it, or closed.
        if random.random() < 0.5:
            writer_of(store).close()
            store._writer = None
        store.close()
    DuckStore(path).close()
    assert _nodes(path) == [(1, index) for index in range(LENGTH // 256)]


def test_a_clean_end_stores_all_that_is_complete(path: Path, entries: list[Entry]) -> None:
    store = DuckStore(path)
    for batch in batches_of(entries, 700):
        appended(store, batch)
    assert len(store._loaded().waiting) == 11
    # A reader does not see where a node lies.
    before = store.tile(1, 0, 11)
    store.close()
    assert len(_nodes(path)) == 11
    store = DuckStore(path, is_read_only=True)
    assert store.tile(1, 0, 11) == before
    store.close()


@pytest.mark.parametrize("word", ["EXECUTE", "INSERT", "COMMIT"])
@pytest.mark.parametrize("is_durable", [False, True])
def test_a_commit_that_fails_stores_no_node_twice(
    path: Path, entries: list[Entry], monkeypatch: pytest.MonkeyPatch, word: str, *, is_durable: bool
) -> None:
    monkeypatch.setattr(tree, "NODES_AT_ONCE", 1)
    store = DuckStore(path)
    appended(store, batch_of(entries[:600]))
    writer = writer_of(store).connection

    class Failing:
        def execute(self, statement: str, parameters: object = None) -> object:
            if is_durable:
                writer.execute(statement, parameters)
            if statement.split()[0] == word:
                raise duckdb.IOException("no")
            return writer if is_durable else writer.execute(statement, parameters)

        def __getattr__(self, name: str) -> object:
            return getattr(writer, name)

    with monkeypatch.context() as patch:
        patch.setattr(writer_of(store), "connection", Failing())
        with pytest.raises(Unavailable):
            store.append([batch_of(entries[600:1200])])
    done = store.position()
    assert done == (1200 if is_durable and word == "COMMIT" else 600)
    assert store.tree_head().root == root_of(entries[:done])
    for start in range(done, LENGTH, 300):
        appended(store, batch_of(entries[start : start + 300]))
    assert store.tree_head().root == root_of(entries)
    store.close()
    assert _nodes(path) == [(1, index) for index in range(LENGTH // 256)]
    DuckStore(path).close()


DAMAGES: dict[str, str] = {
    "one is missing": "DELETE FROM log.tree WHERE index = 3",
    "one stands twice": "INSERT INTO log.tree SELECT * FROM log.tree WHERE index = 3",
    "one is of another level": "UPDATE log.tree SET level = 2 WHERE index = 10",
    "one is beyond the end": "INSERT INTO log.tree SELECT level, 11, hash FROM log.tree WHERE index = 3",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_nodes_that_cannot_be_of_this_log_are_told(path: Path, entries: list[Entry], damage: str) -> None:
    _made(path, entries)
    _alter(path, damage)
    for is_read_only in (False, True):
        with pytest.raises(Corrupt) as caught:
            DuckStore(path, is_read_only=is_read_only)
        assert caught.value.code is Code.TREE_DIFFERS


def test_a_node_of_another_log_makes_another_root(path: Path, entries: list[Entry]) -> None:
    _made(path, entries)
    _alter(path, "UPDATE log.tree SET hash = sha256('another')::BLOB WHERE index = 3")
    with pytest.raises(Corrupt) as caught:
        DuckStore(path)
    assert caught.value.code is Code.HEAD_DIFFERS


def test_nodes_that_are_missing_are_made_of_what_is_below(path: Path, entries: list[Entry]) -> None:
    """Where somebody takes them away while the log is open, readers do not notice."""
    _made(path, entries)
    store = DuckStore(path)
    before = store.tile(1, 0, 11)
    writer_of(store).connection.execute("DELETE FROM log.tree WHERE index IN (2, 7)")
    assert store.tile(1, 0, 11) == before
    store.close()


def test_the_file_behind_the_events_is_found_by_one_that_reads(path: Path, entries: list[Entry]) -> None:
    """A store that only reads loads the tree when it is asked for, where there is no head record to be held against."""
    _made(path, entries)
    path.with_name(path.name + ".head").unlink()
    store = DuckStore(path, is_read_only=True)
    assert store._tree is None
    assert store.tree_head().root == root_of(entries)
    store.close()


def _made(path: Path, entries: list[Entry]) -> None:
    store = DuckStore(path)
    for batch in batches_of(entries, 1_000):
        appended(store, batch)
    store.close()


def test_an_event_that_is_missing_is_told_with_its_place(path: Path, entries: list[Entry]) -> None:
    """Not that the log is another one: all the others are what they were."""
    store = DuckStore(path)
    appended(store, batch_of(entries[:20]))
    store.close()
    _alter(path, "DELETE FROM ours.log.events WHERE position = 5")
    for is_read_only in (True, False):
        with pytest.raises(Corrupt) as caught:
            DuckStore(path, is_read_only=is_read_only)
        assert (caught.value.code, caught.value.facts["position"]) == (Code.POSITION_DAMAGED, 5)


def test_a_database_that_comes_back_shorter_while_it_is_written_is_of_no_further_use(
    path: Path, entries: list[Entry]
) -> None:
    store = DuckStore(path)
    appended(store, batch_of(entries[:20]))
    with pytest.raises(Corrupt) as lost:
        writer_of(store).evidence.replace(tree.Tree(Frontier()))
    assert (lost.value.code, lost.value.facts) == (Code.EVENTS_LOST, {"first": 1, "last": 20})
    store.close()


def _alter(path: Path, statement: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("ATTACH ? AS ours", [str(path)])
        connection.execute("USE ours")
        connection.execute(statement)


def _nodes(path: Path) -> list[tuple[int, int]]:
    with duckdb.connect() as connection:
        connection.execute("ATTACH ? AS ours (READ_ONLY)", [str(path)])
        return connection.execute("SELECT level, index FROM ours.log.tree ORDER BY level, index").fetchall()
