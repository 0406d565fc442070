"""The log through a socket: the same records, refusals and failures as from the store itself."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.service.store import LogStore, Stored
from heptalog.service.store.memory import MemoryStore
from heptalog.service.tables import feed as feeding
from heptalog.service.tables.feed import Feed
from heptalog.service.tables.messages import FRAME_SIZE_MAX
from heptalog.service.tables.source import RemoteSource, connected
from tests.service.backing import grow
from tests.support.serving import WAIT_SECONDS, TriedStore


@contextmanager
def fed(store: LogStore) -> Iterator[RemoteSource]:
    with closing(Feed(store)) as feed, connected(feed.path) as source:
        yield source


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
        assert list(source.read_all()) == list(filled.read_all())
        for start, limit in ((1, 1), (7, 3), (7, 0), (end, 5), (end + 1, 5)):
            assert list(source.read_all(start=start, limit=limit)) == list(filled.read_all(start=start, limit=limit))
        names = [game_id for game_id, _ in filled.heads()]
        for game_ids in (names, names[::-1], [], ["no-such-game"]):
            assert list(source.read_games(game_ids)) == list(filled.read_games(game_ids))
        for after in (0, 1, 3, 4):
            assert list(source.refusals(after=after)) == list(filled.refusals(after=after))
        assert list(source.refusals(names[0])) == list(filled.refusals(names[0]))


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
