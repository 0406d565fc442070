"""Whole games that were made ready elsewhere: in the log they are what batches of the same events are."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Unavailable
from heptalog.service.store import Entry, Refusal
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.packed import Packed, PackedTexts, packed_pieces
from heptalog.service.store.whole import WholeGame, whole_game
from tests.contract.given import appended, fill, game, refusals, whole_games
from tests.support.recording import batch_of, endings_of

TABLES = ("games", "events", "endings", "refusals", "tree")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.duckdb"


@pytest.fixture
def store(path: Path) -> Iterator[DuckStore]:
    with closing(DuckStore(path, reserve_bytes=0)) as opened:
        yield opened


def whole(entries: Sequence[Entry]) -> WholeGame:
    """A game as another process would give it."""
    return whole_game([entry.event for entry in entries], [entry.record for entry in entries], endings_of(entries))


def only(made: WholeGame, places: Iterable[int]) -> WholeGame:
    """Of a game that is ready only what is in these places."""
    kept = list(places)
    return replace(
        made,
        packed=packed_pieces([made.records[place] for place in kept]),
        columns=tuple(chosen(column, kept) for column in made.columns),
    )


def chosen(column: Packed, places: Sequence[int]) -> Packed:
    """Of a column the values in these places."""
    absent = bytes(column.absent[place] for place in places) if column.absent else b""
    if isinstance(column, PackedTexts):
        pieces = list(column.pieces())
        return packed_pieces([pieces[place] for place in places], absent)
    return Packed(b"".join(column.data[8 * place : 8 * place + 8] for place in places), absent)


def rows(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All that is in a database that nobody has open."""
    with duckdb.connect(str(path), read_only=True) as connection:
        return {table: connection.execute(f"FROM log.{table} ORDER BY ALL").fetchall() for table in TABLES}


def test_the_tables_are_those_that_batches_make(tmp_path: Path) -> None:
    games = whole_games(ruling_rate=0.02)
    one, other = tmp_path / "one.duckdb", tmp_path / "other.duckdb"
    with closing(DuckStore(one, reserve_bytes=0)) as store:
        store.append([batch_of(entries, endings_of(entries)) for entries in games], refusals(3))
        head = store.tree_head()
    with closing(DuckStore(other, reserve_bytes=0)) as store:
        heads = store.append_games([whole(entries) for entries in games], refusals(3))
        assert [found and found.hash for found in heads] == [entries[-1].event.hash for entries in games]
        assert store.tree_head() == head
        assert heads == [store.head(entries[0].event.game_id) for entries in games]
    assert rows(one) == rows(other)
    with closing(DuckStore(other)) as store:
        assert store.tree_head() == head


def test_a_game_that_is_there_is_left_out_and_stops_no_other(store: DuckStore) -> None:
    fill(store, [game(1)[:4], game(2)])
    before = store.position()
    heads = store.append_games([whole(game(number)) for number in (0, 1, 2, 3)])
    assert [found and found.position for found in heads] == [before + 12, None, None, before + 24]
    assert [game_id for game_id, _ in store.heads()] == ["game-1", "game-2", "game-0", "game-3"]
    with closing(store.read_game("game-1")) as records:
        assert [stored.record for stored in records] == [entry.record for entry in game(1)[:4]]
    assert store.append_games([whole(game(1))]) == [None]
    assert store.position() == before + 24


def test_it_goes_on_with_batches(store: DuckStore) -> None:
    store.append_games([whole(game(0)[:5]), whole(game(1)[:7])], refusals(2))
    appended(store, batch_of(game(0)[5:]), batch_of(game(1)[7:]))
    store.append_games([], refusals(1))
    assert store.refusal_count() == 3
    for number in (0, 1):
        with closing(store.read_game(f"game-{number}")) as records:
            assert [stored.record for stored in records] == [entry.record for entry in game(number)]


def test_nothing_is_nothing(store: DuckStore) -> None:
    assert store.append_games([]) == []
    assert (store.position(), store.refusal_count()) == (0, 0)


def test_of_a_commit_that_fails_nothing_is_there(store: DuckStore, path: Path) -> None:
    # A refusal of a game without a name fits no row, and comes after all the games.
    wrong: Any = None
    refusal: Refusal = replace(refusals(1)[0], kind=wrong)
    with pytest.raises(Unavailable):
        store.append_games([whole(game(0)), whole(game(1))], [refusal])
    assert store.head("game-0") is None
    assert store.append_games([whole(game(1))]) == [store.head("game-1")]
    store.close()
    assert {row[1] for row in rows(path)["games"]} == {"game-1"}
    assert len(rows(path)["events"]) == 12


@pytest.mark.parametrize(
    "broken",
    [
        lambda made: only(made, [0, *range(2, made.count)]),
        lambda made: only(made, range(1, made.count)),
        lambda made: replace(made, columns=only(made, range(1, made.count)).columns),
        lambda made: replace(made, game_id="another"),
    ],
    ids=["a gap", "no beginning", "columns of others", "two names"],
)
def test_a_game_that_contradicts_itself_is_our_bug(broken: Any, store: DuckStore) -> None:
    with pytest.raises(AssertionError):
        store.append_games([whole(game(1)), broken(whole(game(0)))])
    with pytest.raises(AssertionError):
        store.append_games([whole(game(1)), whole(game(1))])
    assert store.position() == 0
