"""Appending: what is accepted, what is left out, and what stands in the log afterwards."""

from random import Random

import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.store import NO_GAME, Batch, Entry, Head, LogStore
from heptalog.service.store.memory import MemoryStore
from tests.contract.given import (
    appended,
    as_stored,
    begin,
    fill,
    game,
    random_commit,
    refusals,
    refused,
    whole_games,
)
from tests.support.recording import batch_of


def test_an_empty_store_has_nothing(store: LogStore) -> None:
    assert store.position() == 0
    assert store.head("game-1") is None
    assert list(store.heads()) == []
    assert list(store.read_all()) == []
    assert list(store.read_all(is_backwards=True)) == []
    assert list(store.read_game("game-1")) == []
    assert list(store.refusals()) == []


def test_nothing_to_append_is_no_error(store: LogStore) -> None:
    assert store.append([]) == []
    assert store.position() == 0


def test_the_answer_is_the_new_head(store: LogStore) -> None:
    entries = game(1)
    (head,) = appended(store, batch_of(entries[:5]))
    assert head == Head(4, entries[4].event.hash, 5)
    assert store.head("game-1") == head
    assert store.position() == 5


def test_what_is_read_is_what_was_written_byte_for_byte(store: LogStore) -> None:
    written = fill(store, whole_games())
    assert [stored.record for stored in store.read_all()] == [entry.record for entry in written]
    for entries in whole_games():
        records = [stored.record for stored in store.read_game(entries[0].event.game_id)]
        assert records == [entry.record for entry in entries]


def test_positions_have_no_gaps(store: LogStore) -> None:
    written = fill(store, [game(number) for number in range(7)], size=3)
    store.append([begin(0)])  # left out, so it takes no position
    appended(store, begin(99))
    assert list(store.read_all()) == as_stored([*written, game(99)[0]])


@pytest.mark.parametrize("expected", [0, 3, 5, 2**32 - 2])
def test_a_wrong_head_is_a_conflict(store: LogStore, expected: int) -> None:
    entries = game(1)
    (head,) = appended(store, batch_of(entries[:5]))
    code, facts = refused(store.append([_at(expected)])[0])
    assert code is Code.SEQUENCE_MISMATCH
    assert facts == {"expected": expected, "actual": 4, "head_hash": head.hash.hex()}
    assert store.head("game-1") == head
    assert store.position() == 5


def test_a_game_that_exists_cannot_begin(store: LogStore) -> None:
    appended(store, begin(1))
    code, facts = refused(store.append([begin(1)])[0])
    assert code is Code.GAME_EXISTS
    assert facts == {"game_id": "game-1"}
    assert store.position() == 1


def test_a_game_that_does_not_exist_cannot_go_on(store: LogStore) -> None:
    code, facts = refused(store.append([batch_of(game(1)[3:5])])[0])
    assert code is Code.SEQUENCE_MISMATCH
    assert facts == {"expected": 2, "actual": NO_GAME, "head_hash": ""}
    assert store.head("game-1") is None
    assert store.game("game-1") is None


def test_a_conflict_never_fails_its_neighbours(store: LogStore) -> None:
    appended(store, batch_of(game(1)[:4]))
    first, second, third = store.append([batch_of(game(2)[:3]), batch_of(game(1)[6:8]), batch_of(game(1)[4:6])])
    assert first == Head(2, game(2)[2].event.hash, 7)
    assert refused(second)[0] is Code.SEQUENCE_MISMATCH
    assert third == Head(5, game(1)[5].event.hash, 9)
    assert list(store.read_all()) == as_stored([*game(1)[:4], *game(2)[:3], *game(1)[4:6]])


def test_the_same_sequence_with_another_hash_conflicts(store: LogStore) -> None:
    """Somebody else may have recorded another event under the sequence that a batch names."""
    appended(store, batch_of(game(1)[:4]))
    entry = game(1)[4]
    other = Entry(entry.record, replace(entry.event, previous_hash=bytes(32)))
    code, facts = refused(store.append([batch_of([other])])[0])
    assert code is Code.SEQUENCE_MISMATCH
    assert facts == {"expected": 3, "actual": 3, "head_hash": game(1)[3].event.hash.hex()}
    assert store.position() == 4


def test_batches_of_one_game_in_one_commit_follow_each_other(store: LogStore) -> None:
    entries = game(1)
    heads = appended(store, batch_of(entries[:2]), begin(2), batch_of(entries[2:3]), batch_of(entries[3:7]))
    assert [head.sequence for head in heads] == [1, 0, 2, 6]
    assert [head.position for head in heads] == [2, 3, 4, 8]
    assert list(store.read_game("game-1")) == [
        stored for stored in as_stored([*entries[:2], game(2)[0], *entries[2:7]]) if stored.game_id == "game-1"
    ]


def test_one_game_begun_twice_in_one_commit_begins_once(store: LogStore) -> None:
    first, second = store.append([begin(1), begin(1)])
    assert isinstance(first, Head)
    assert refused(second)[0] is Code.GAME_EXISTS
    assert store.position() == 1


def test_the_same_batch_twice_in_one_commit_goes_in_once(store: LogStore) -> None:
    appended(store, begin(1))
    batch = batch_of(game(1)[1:4])
    first, second = store.append([batch, batch])
    assert isinstance(first, Head)
    assert refused(second)[1]["actual"] == 3
    assert store.position() == 4


def test_a_commit_of_many_games_and_events(store: LogStore) -> None:
    """Two thousand and more at once, most without a seat, so that no type is guessed from the first few."""
    games = [game(number, length=30) for number in range(100)]
    heads = appended(store, *(batch_of(entries) for entries in games))
    assert list(store.heads()) == [(entries[0].event.game_id, head) for entries, head in zip(games, heads, strict=True)]
    assert list(store.read_all()) == as_stored([entry for entries in games for entry in entries])


def test_refusals_alone_are_a_commit(store: LogStore) -> None:
    assert store.append([], refusals(2)) == []
    assert list(store.refusals()) == refusals(2)
    assert store.position() == 0


def test_refusals_are_kept_beside_a_conflict(store: LogStore) -> None:
    assert refused(store.append([batch_of(game(1)[3:5])], refusals(1))[0])[0] is Code.SEQUENCE_MISMATCH
    assert list(store.refusals()) == refusals(1)


@pytest.mark.parametrize("seed", range(3))
def test_any_commits_come_out_as_in_the_model(store: LogStore, seed: int) -> None:
    model = MemoryStore()
    random = Random(seed)
    games = [game(number, length=60) for number in range(8)]
    for _ in range(60):
        batches = list(random_commit(model, random, games))
        answers = zip(store.append(batches), model.append(batches), strict=True)
        for answer, right in answers:
            assert answer == right if isinstance(right, Head) else refused(answer) == refused(right)
    assert list(store.read_all()) == list(model.read_all())
    assert list(store.heads()) == list(model.heads())
    assert store.position() == model.position() > 300


def test_what_contradicts_itself_is_our_own_bug(store: LogStore) -> None:
    entries = game(1)
    for batch in (
        Batch("game-1", NO_GAME, ()),
        Batch("game-2", NO_GAME, entries[:1]),
        Batch("game-1", 1, entries[:1]),
        Batch("game-1", 0, (entries[1], entries[3])),
    ):
        with pytest.raises(AssertionError):
            store.append([begin(3), batch])
    assert store.position() == 0


def test_a_rest_changes_nothing_that_is_read(store: LogStore) -> None:
    store.rest()
    written = fill(store, [game(1), game(2)])
    store.rest()
    assert list(store.read_all()) == as_stored(written)
    appended(store, begin(3))


def test_a_closed_store_does_nothing(store: LogStore) -> None:
    appended(store, begin(1))
    store.close()
    store.close()
    for call in (
        lambda: store.append([begin(2)]),
        lambda: store.head("game-1"),
        store.heads,
        store.position,
        lambda: store.read_game("game-1"),
        store.read_all,
        lambda: store.game("game-1"),
        lambda: store.endings("game-1"),
        lambda: store.endings_of([]),
        lambda: store.endings_of(["game-1"]),
        store.refusals,
        store.refusal_count,
        store.tree_head,
        store.checkpoints,
        store.void_names,
    ):
        with pytest.raises(Unavailable) as caught:
            call()
        assert caught.value.code is Code.DRAINING


def _at(expected: int) -> Batch:
    """A batch for game 1 that expects some head, and is what a client would send who believes in it."""
    entries = game(1)
    if expected + 1 < len(entries):
        return batch_of(entries[expected + 1 : expected + 2])
    event = replace(entries[-1].event, sequence=expected + 1)
    return Batch("game-1", expected, (replace(entries[-1], event=event),))
