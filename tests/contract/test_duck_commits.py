"""Commits that fail, and commits that take their time: what readers see, and what the store believes afterwards."""

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import duckdb
import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_write import write
from tests.contract.given import appended, as_stored, begin, fill, game, refusals
from tests.support.recording import batch_of


class Faulty:
    """A connection that fails at the first statement that begins with some word."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, word: str, error: BaseException) -> None:
        self._connection = connection
        self._word = word
        self._error: BaseException | None = error

    def execute(self, statement: str, parameters: object = None) -> object:
        if self._error is not None and statement.split()[0] == self._word:
            error, self._error = self._error, None
            raise error
        return self._connection.execute(statement, parameters)

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)


@pytest.mark.parametrize("word", ["BEGIN", "INSERT", "COMMIT"])
@pytest.mark.parametrize(
    "error", [duckdb.IOException("disk full"), duckdb.TransactionException("no"), KeyboardInterrupt()]
)
def test_a_commit_that_fails_changes_nothing(path: Path, word: str, error: BaseException) -> None:
    store = DuckStore(path)
    written = fill(store, [game(1)[:6], game(2)])
    heads = list(store.heads())
    _replace_writer(store, Faulty(store._writer, word, error))
    batches = [batch_of(game(1)[6:9]), begin(3), begin(2)]
    with pytest.raises(Unavailable if isinstance(error, duckdb.Error) else type(error)) as caught:
        store.append(batches, refusals(2))
    if isinstance(caught.value, Unavailable):
        assert caught.value.code is Code.WRITE_FAILED
    assert store.position() == len(written)
    assert list(store.heads()) == heads
    assert list(store.read_all()) == as_stored(written)
    assert store.game("game-3") is None
    assert list(store.refusals()) == []
    answers = store.append(batches, refusals(2))
    assert [type(answer).__name__ for answer in answers] == ["Head", "Head", "Conflict"]
    written += [*game(1)[6:9], game(3)[0]]
    assert list(store.read_all()) == as_stored(written)
    store.close()
    store = DuckStore(path)
    assert list(store.read_all()) == as_stored(written)
    store.close()


def test_a_commit_whose_answer_was_lost_is_found_again(path: Path) -> None:
    """It is on disk although COMMIT has raised: the store believes the disk."""
    store = DuckStore(path)
    appended(store, begin(1))

    class Deaf(Faulty):
        def execute(self, statement: str, parameters: object = None) -> object:
            result = self._connection.execute(statement, parameters)
            if statement == "COMMIT":
                raise duckdb.IOException("the answer is lost")
            return result

    writer = store._writer
    _replace_writer(store, Deaf(writer, "", KeyboardInterrupt()))
    with pytest.raises(Unavailable):
        store.append([batch_of(game(1)[1:4])])
    _replace_writer(store, writer)
    assert store.position() == 4
    assert store.append([batch_of(game(1)[4:6])])[0] == store.head("game-1")
    assert list(store.read_all()) == as_stored(game(1)[:6])
    store.close()


def test_after_a_fatal_error_nothing_works_until_it_is_opened_anew(path: Path) -> None:
    store = DuckStore(path)
    appended(store, begin(1))
    _replace_writer(store, Faulty(store._writer, "COMMIT", duckdb.FatalException("invalidated")))
    with pytest.raises(Unavailable) as caught:
        store.append([begin(2)])
    assert caught.value.code is Code.WRITE_FAILED
    assert store.is_broken
    calls: list[Callable[[], object]] = [
        lambda: store.append([begin(2)]),
        lambda: store.head("game-1"),
        lambda: list(store.read_all()),
        store.position,
        lambda: store.game("game-1"),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            call()
    store.close()
    store = DuckStore(path)
    assert list(store.read_all()) == as_stored(game(1)[:1])
    appended(store, begin(2))
    store.close()


def test_readers_do_not_wait_for_the_writer_nor_see_what_it_has_not_finished(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DuckStore(path)
    written = fill(store, [game(1)])
    is_written, may_go_on = Event(), Event()

    def write_and_wait(*given: Any) -> None:
        write(*given)
        is_written.set()
        assert may_go_on.wait(60)

    monkeypatch.setattr("heptalog.service.store.duck.write", write_and_wait)
    writer = Thread(target=lambda: store.append([batch_of(game(2))], refusals(1)))
    writer.start()
    try:
        assert is_written.wait(60)
        assert store.position() == len(written)
        assert list(store.read_all()) == as_stored(written)
        assert list(store.read_game("game-2")) == []
        assert store.head("game-2") is None
        assert store.game("game-2") is None
        assert [game_id for game_id, _ in store.heads()] == ["game-1"]
        assert list(store.refusals()) == []
    finally:
        may_go_on.set()
        writer.join(60)
    assert list(store.read_all()) == as_stored([*written, *game(2)])
    store.close()


def _replace_writer(store: DuckStore, writer: object) -> None:
    store._writer = writer  # type: ignore[assignment]  # all that is asked of it is here
