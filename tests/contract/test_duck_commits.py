"""Commits that fail, and commits that take their time: what readers see, and what the store believes afterwards."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import duckdb
import pytest

from heptalog.replay.errors import Code, Conflict, Unavailable
from heptalog.service.store import Head
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_faults import NO_SPACE
from heptalog.service.store.space import Space
from tests.contract.given import appended, as_stored, begin, checkpoint_of, fill, game, refusals, writer_of
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


@pytest.mark.parametrize("word", ["BEGIN", "EXECUTE", "COMMIT"])
@pytest.mark.parametrize(
    "error", [duckdb.IOException("disk full"), duckdb.TransactionException("no"), KeyboardInterrupt()]
)
def test_a_commit_that_fails_changes_nothing(path: Path, word: str, error: BaseException) -> None:
    store = DuckStore(path)
    written = fill(store, [game(1)[:6], game(2)])
    heads = list(store.heads())
    _replace_writer(store, Faulty(writer_of(store).connection, word, error))
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


@pytest.mark.parametrize("is_alone", [False, True])
def test_a_commit_whose_answer_was_lost_is_found_again(path: Path, *, is_alone: bool) -> None:
    """It is on disk although COMMIT, or the only statement, has raised: the store believes the disk."""
    store = DuckStore(path)
    appended(store, begin(1))

    class Deaf(Faulty):
        def execute(self, statement: str, parameters: object = None) -> object:
            result = self._connection.execute(statement, parameters)
            if statement == "COMMIT" or is_alone:
                raise duckdb.IOException("the answer is lost")
            return result

    writer = writer_of(store).connection
    _replace_writer(store, Deaf(writer, "", KeyboardInterrupt()))
    with pytest.raises(Unavailable):
        store.append([batch_of(game(1)[1:4])], () if is_alone else refusals(1))
    _replace_writer(store, writer)
    assert store.position() == 4
    assert store.append([batch_of(game(1)[4:6])])[0] == store.head("game-1")
    assert list(store.read_all()) == as_stored(game(1)[:6])
    store.close()


@pytest.mark.parametrize("error", [duckdb.IOException("disk full"), KeyboardInterrupt()])
def test_a_commit_of_one_statement_that_fails_changes_nothing(path: Path, error: BaseException) -> None:
    store = DuckStore(path)
    appended(store, begin(1))
    _replace_writer(store, Faulty(writer_of(store).connection, "EXECUTE", error))
    with pytest.raises(Unavailable if isinstance(error, duckdb.Error) else KeyboardInterrupt):
        store.append([batch_of(game(1)[1:3])])
    assert list(store.read_all()) == as_stored(game(1)[:1])
    appended(store, batch_of(game(1)[1:2]))
    appended(store, batch_of(game(1)[2:4]))
    store.close()
    store = DuckStore(path)
    assert list(store.read_all()) == as_stored(game(1)[:4])
    store.close()


def test_the_connection_that_commits_is_asked_nothing(path: Path) -> None:
    """It plans without the optimizer, so that a question about a long log would read all of it."""
    store = DuckStore(path)
    told: list[str] = []

    class Told(Faulty):
        def execute(self, statement: str, parameters: object = None) -> object:
            told.append(statement.split()[0])
            return super().execute(statement, parameters)

    _replace_writer(store, Told(writer_of(store).connection, "COMMIT", duckdb.IOException("disk full")))
    with pytest.raises(Unavailable):
        appended(store, begin(1))
    appended(store, batch_of(game(1)[:4]))
    appended(store, batch_of(game(1)[4:6]))
    appended(store, begin(2))
    assert isinstance(store.append([begin(1)])[0], Conflict)
    assert store.head("game-1") == Head(5, game(1)[5].event.hash, 6)
    store.keep_checkpoint(checkpoint_of(7, store.tree_head().root))
    store.close()
    assert set(told) <= {"BEGIN", "EXECUTE", "INSERT", "COMMIT", "ROLLBACK"}
    assert told[:5] == ["BEGIN", "EXECUTE", "EXECUTE", "COMMIT", "ROLLBACK"]


def test_after_a_fatal_error_nothing_works_until_it_is_opened_anew(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = DuckStore(path)
    appended(store, begin(1))
    _replace_writer(store, Faulty(writer_of(store).connection, "COMMIT", duckdb.FatalException("invalidated")))
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
    # Who asks is not told why; whoever looks after the server is, once.
    assert [record.message for record in caplog.records] == [f"{path} must be opened anew: FatalException"]
    store.close()
    store = DuckStore(path)
    assert list(store.read_all()) == as_stored(game(1)[:1])
    appended(store, begin(2))
    store.close()


def test_what_cannot_be_asked_after_a_commit_that_failed_is_the_cause(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise duckdb.IOException("Could not write: No space left on device 'the ace of spades'")

    store = DuckStore(path)
    _replace_writer(store, Faulty(writer_of(store).connection, "COMMIT", duckdb.IOException("disk full")))
    monkeypatch.setattr("heptalog.service.store.duck_writer.count", fail)
    with pytest.raises(Unavailable):
        appended(store, begin(1))
    assert store.is_broken
    assert [record.message for record in caplog.records] == [f"{path} must be opened anew: {NO_SPACE}"]
    store.close()


def test_a_connection_that_cannot_be_closed_keeps_no_other_open(path: Path) -> None:
    class Stuck(Faulty):
        def close(self) -> None:
            raise duckdb.IOException("no")

    store = DuckStore(path)
    appended(store, begin(1))
    _replace_writer(store, Stuck(writer_of(store).connection, "", duckdb.IOException("")))
    store.close()
    # While it is open here nobody else may open it to write.
    script = "import duckdb, sys; duckdb.connect(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, timeout=60)


def test_readers_do_not_wait_for_the_writer_nor_see_what_it_has_not_finished(path: Path) -> None:
    store = DuckStore(path)
    written = fill(store, [game(1)])
    is_written, may_go_on = Event(), Event()

    class Slow(Faulty):
        def execute(self, statement: str, parameters: object = None) -> object:
            if statement == "COMMIT":
                is_written.set()
                assert may_go_on.wait(60)
            return self._connection.execute(statement, parameters)

    _replace_writer(store, Slow(writer_of(store).connection, "", KeyboardInterrupt()))
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


def test_the_name_of_a_new_write_ahead_log_is_durable_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine makes one after each time that it has put the file in order."""
    synced: list[Path] = []
    monkeypatch.setattr("heptalog.service.store.duck_writer.sync_folder", synced.append)
    monkeypatch.setattr("heptalog.service.store.duck_writer.REST_SIZE", 1)
    store = DuckStore(path)
    for number in range(3):
        appended(store, begin(number))
        appended(store, batch_of(game(number)[1:3]))
        assert synced == [path.parent] * (number + 1)
        store.rest()
    store.close()


def test_where_that_name_cannot_be_synced_nothing_is_acknowledged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(folder: Path) -> None:
        raise OSError(5, "Input/output error")

    store = DuckStore(path)
    with monkeypatch.context() as patch:
        patch.setattr("heptalog.service.store.duck_writer.sync_folder", fail)
        with pytest.raises(Unavailable) as caught:
            store.append([begin(1)])
    assert caught.value.code is Code.WRITE_FAILED
    assert store.position() == 1
    appended(store, begin(2))
    store.close()


def test_an_idle_moment_puts_the_file_in_order(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader in the middle of its work goes on; and a small write-ahead log is left alone."""
    store = DuckStore(path)
    written = fill(store, [game(number, length=200) for number in range(10)], size=200)
    wal = path.with_name(path.name + ".wal")
    size = wal.stat().st_size
    store.rest()
    assert wal.stat().st_size == size
    monkeypatch.setattr("heptalog.service.store.duck_writer.REST_SIZE", 1)
    reader = store.read_all()
    first = next(reader)
    store.rest()
    assert not wal.exists()
    assert [first, *reader] == as_stored(written)
    store.rest()
    appended(store, begin(90))
    store.close()
    store.rest()
    store = DuckStore(path)
    assert store.position() == len(written) + 1
    store.close()


def test_an_idle_moment_without_room_is_let_pass(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that fills up in the middle of a checkpoint the engine would be of no further use."""
    monkeypatch.setattr("heptalog.service.store.duck_writer.REST_SIZE", 1)
    room = [1 << 40]
    store = DuckStore(path, space=lambda _: Space(1 << 40, room[0]))
    appended(store, begin(1))
    wal = path.with_name(path.name + ".wal")
    room[0] = 2 * wal.stat().st_size - 1
    store.rest()
    assert wal.exists()
    room[0] += 1
    store.rest()
    assert not wal.exists()
    store.close()


def test_an_idle_moment_in_which_nothing_can_be_seen_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(database: Path) -> int:
        raise OSError(5, "Input/output error")

    store = DuckStore(path)
    monkeypatch.setattr("heptalog.service.store.duck_writer.wal_size", fail)
    with pytest.raises(Unavailable) as caught:
        store.rest()
    assert caught.value.code is Code.WRITE_FAILED
    assert not store.is_broken
    store.close()


def test_an_idle_moment_that_fails_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heptalog.service.store.duck_writer.REST_SIZE", 1)
    store = DuckStore(path)
    appended(store, begin(1))
    for error, is_broken in ((duckdb.TransactionException("no"), False), (duckdb.FatalException("full"), True)):
        writer = writer_of(store).connection
        _replace_writer(store, Faulty(writer, "CHECKPOINT", error))
        with pytest.raises(Unavailable):
            store.rest()
        _replace_writer(store, writer)
        assert store.is_broken is is_broken
    store.rest()
    store.close()
    store = DuckStore(path)
    assert list(store.read_all()) == as_stored(game(1)[:1])
    store.close()


def _replace_writer(store: DuckStore, writer: object) -> None:
    writer_of(store).connection = writer  # type: ignore[assignment]  # all that is asked of it is here
