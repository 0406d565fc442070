"""The log through a socket: the same records, refusals and failures as from the store itself."""

import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from heptalog.replay.errors import Code, Corrupt, NotFound, Unavailable
from heptalog.service.recent import Recent
from heptalog.service.store import Head, LogStore, Stored
from heptalog.service.store.memory import MemoryStore
from heptalog.service.tables import feed as feeding
from heptalog.service.tables.feed import Feed
from heptalog.service.tables.messages import FRAME_SIZE_MAX, Record
from heptalog.service.tables.source import RemoteSource, connected
from tests.service.backing import games, grow
from tests.support.recording import batches_of
from tests.support.serving import WAIT_SECONDS, TriedStore


@contextmanager
def fed(store: LogStore, recent: Recent | None = None) -> Iterator[RemoteSource]:
    with closing(Feed(store, recent)) as feed, connected(feed.path) as source:
        yield source


def plain(records: Iterable[Stored | Record]) -> list[tuple[int, str, int, bytes]]:
    """Records without their kind."""
    return [(one.position, one.game_id, one.sequence, one.record) for one in records]


@pytest.fixture
def filled(store: LogStore) -> Iterator[LogStore]:
    """Either store with games, and who closes it."""
    grow(store)
    yield store
    store.close()


@pytest.fixture(params=[3, 1000])
def pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few records, and of many."""
    monkeypatch.setattr(feeding, "_RECORDS_AT_ONCE", request.param)


@pytest.mark.usefixtures("pieces")
def test_a_source_behind_the_socket_is_the_store(filled: LogStore) -> None:
    with fed(filled) as source:
        end = filled.position()
        assert (source.position(), source.refusal_count()) == (end, filled.refusal_count())
        assert plain(source.read_all()) == plain(filled.read_all())
        for start, limit in ((1, 1), (7, 3), (7, 0), (end, 5), (end + 1, 5)):
            there = filled.read_all(start=start, limit=limit)
            assert plain(source.read_all(start=start, limit=limit)) == plain(there)
        names = [game_id for game_id, _ in filled.heads()]
        for game_ids in (names, names[::-1], [], ["no-such-game"]):
            assert plain(source.read_games(game_ids)) == plain(filled.read_games(game_ids))
        for after in (0, 1, 3, 4):
            assert list(source.refusals(after=after)) == list(filled.refusals(after=after))
        assert list(source.refusals(names[0])) == list(filled.refusals(names[0]))
        for width in (1, min(end, 256)):
            assert source.tile(0, 0, width) == filled.tile(0, 0, width)
        with pytest.raises(NotFound):
            source.tile(1, 0, 256)


@pytest.mark.usefixtures("pieces")
def test_who_stops_in_the_middle_gets_nothing_of_it_later_and_holds_nothing() -> None:
    store = TriedStore(MemoryStore())
    grow(store)
    with fed(store) as source:
        with closing(source.read_all()) as records:
            assert next(records).position == 1
        assert next(source.read_all(start=5)).position == 5
        with closing(source.read_all()) as first, closing(source.read_all(start=9)) as second:
            assert [(one.position, other.position) for one, other in zip(first, second, strict=False)][:2] == [
                (1, 9),
                (2, 10),
            ]
    assert store.all_closed.wait(WAIT_SECONDS)
    assert store.reader_count == 0


def test_what_the_store_raises_is_raised_at_the_other_end_and_the_next_question_is_answered() -> None:
    store = TriedStore(MemoryStore())
    grow(store)

    def damaged(stored: Stored) -> Stored:
        if stored.position == 5:
            raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", first=5, last=6)
        return stored

    store.damage = damaged
    with fed(store) as source:
        with pytest.raises(Corrupt) as caught:
            list(source.read_all())
        assert (caught.value.code, caught.value.facts) == (Code.RECORD_DAMAGED, {"first": 5, "last": 6})
        assert source.position() == store.position()
        store.close = lambda: None  # type: ignore[method-assign]
        store.inner.close()
        with pytest.raises(Unavailable) as gone:
            source.position()
        assert gone.value.code is Code.DRAINING


def test_a_bug_cuts_off_who_asked_and_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    store = TriedStore(MemoryStore())
    grow(store)

    def bug(_: Stored) -> Stored:
        raise ZeroDivisionError

    with fed(store) as source:
        store.damage = bug
        with pytest.raises(EOFError):
            list(source.read_all())
        store.damage = None
        assert len(list(source.read_all())) == store.position()
    assert "the log was not given" in caplog.text


def test_an_end_cuts_every_connection_and_leaves_nothing_behind() -> None:
    store = MemoryStore()
    grow(store)
    feed = Feed(store)
    with connected(feed.path) as source:
        records = source.read_all()
        next(records)
        feed.close()
        with pytest.raises((EOFError, OSError)):
            source.position()
        with pytest.raises(OSError, match=r"."):
            source.refusal_count()
    assert not feed.folder.exists()


def test_only_its_user_can_reach_it() -> None:
    with closing(Feed(MemoryStore())) as feed:
        assert feed.folder.stat().st_mode & 0o077 == 0


def test_what_is_no_question_is_not_answered() -> None:
    with closing(Feed(MemoryStore())) as feed:
        for sent in (b"\xff" * 8, (FRAME_SIZE_MAX + 1).to_bytes(4, "big"), b"\0\0\0\1\xc1"):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(WAIT_SECONDS)
                connection.connect(feed.path)
                connection.sendall(sent)
                with suppress(ConnectionResetError):
                    assert connection.recv(1) == b""
        with connected(feed.path) as source:
            assert source.position() == 0


def test_a_long_name_of_a_folder_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with closing(Feed(MemoryStore())) as feed, connected(feed.path) as source:
        assert source.position() == 0
    assert not list(long.iterdir())


def test_what_servers_left_that_were_killed_is_cleared_away_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with closing(Feed(MemoryStore())) as living:
        names = ["heptalog-feed-dead", "heptalog-feed-empty", "heptalog-feed-young", "heptalog-other"]
        dead, empty, young, other = [tmp_path / name for name in names]
        for folder in (dead, empty, young, other):
            folder.mkdir()
        for folder in (dead, young):
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(folder / "log"))
                listener.listen()
        for folder in (living.folder, dead, empty, other):
            os.utime(folder, (0, 0))
        with closing(Feed(MemoryStore())) as feed, connected(living.path) as source:
            assert source.position() == 0
            assert set(tmp_path.iterdir()) == {living.folder, feed.folder, young, other}


def test_where_no_thread_can_be_started_the_next_one_is_served(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Refusing(Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    with closing(Feed(MemoryStore())) as feed:
        with monkeypatch.context() as patch:
            patch.setattr(feeding, "Thread", Refusing)
            with pytest.raises((EOFError, OSError)), connected(feed.path) as source:
                source.position()
        with connected(feed.path) as source:
            assert source.position() == 0
    assert "can't start new thread" in caplog.text


def recorded(store: LogStore, recent: Recent, *, size: int) -> None:
    """Record games, and tell of every commit."""
    for entries in games(7):
        for batch in batches_of(entries, size):
            # Another writer was faster, once.
            batches = [batch, batch]
            recent.add(batches, store.append(batches))


@pytest.mark.parametrize("records_max", [1, 10, 1000])
def test_what_was_recorded_last_is_given_as_the_store_has_it(records_max: int) -> None:
    store, recent = TriedStore(MemoryStore()), Recent(records_max)
    grow(store)
    recorded(store, recent, size=3)
    end = store.position()
    with fed(store, recent) as source:
        for start in range(1, end + 2):
            for limit in (0, 1, 5):
                there = store.inner.read_all(start=start, limit=limit)
                assert plain(source.read_all(start=start, limit=limit)) == plain(there)
        reading_count = store.reading_count
        list(source.read_all(start=end))
        assert store.reading_count == reading_count


def test_what_others_have_recorded_in_between_is_read_from_the_store() -> None:
    store, recent = MemoryStore(), Recent()
    recorded(store, recent, size=3)
    grow(store, 1)
    with fed(store, recent) as source:
        assert plain(source.read_all()) == plain(store.read_all())
        (batch, *_) = batches_of(games(2)[0], 3)
        recent.add([batch], store.append([batch]))
        assert plain(source.read_all()) == plain(store.read_all())
        assert plain(source.read_all(start=store.position())) == plain(store.read_all(start=store.position()))


def test_others_that_have_recorded_in_the_middle_of_a_commit_are_no_gap_in_it() -> None:
    recent = Recent()
    (batch, *_) = batches_of(games(2)[0], 3)
    size = len(batch.entries)
    recent.add([batch, batch], [Head(size - 1, b"", size), Head(size - 1, b"", 3 * size)])
    assert not recent.read(1, 3 * size)
    assert [one.position for one in recent.read(2 * size + 1, 3 * size)] == list(range(2 * size + 1, 3 * size + 1))
    recent.clear()
    assert not recent.read(3 * size, 3 * size)
