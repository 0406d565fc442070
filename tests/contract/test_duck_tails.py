"""Ends that were torn off: whatever a crash or a disk does to the last bytes, no acknowledged event is gone in silence.

What the files are is copied while the store is open, which is what a killed process leaves behind.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest

from heptalog.replay.errors import Code, Corrupt, HeptalogError
from heptalog.service.store import Stored, salvage
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.salvage import salvaged
from heptalog.service.store.space import Space
from tests.contract.given import appended, as_stored, begin, checkpoint_of, game
from tests.support.recording import batch_of

# How many places of a file are tried, beside its first and its last bytes.
PLACES = 24


class Crash(NamedTuple):
    """What a killed process leaves behind: seven commits of four events, the files after each, and what is in them."""

    folder: Path
    log: list[Stored]
    wal_sizes: list[int]

    def copied(self, folder: Path) -> Path:
        """The files as they were at the end, in a folder of their own."""
        shutil.copytree(self.folder / "7", folder, dirs_exist_ok=True)
        return folder / "log.duckdb"


@pytest.fixture(scope="module")
def crash(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    folder = tmp_path_factory.mktemp("crash")
    place = folder / "live"
    place.mkdir()
    path = place / "log.duckdb"
    store = DuckStore(path)
    entries = game(1, length=28)
    sizes = []
    for number in range(7):
        appended(store, batch_of(entries[4 * number : 4 * number + 4]))
        sizes.append(_wal(path).stat().st_size)
        if number == 4:
            store.keep_checkpoint(checkpoint_of(*_head(store)))
        shutil.copytree(place, folder / str(number + 1))
    store.close()
    return Crash(folder, as_stored(entries), sizes)


def test_what_a_killed_process_leaves_is_whole(crash: Crash, tmp_path: Path) -> None:
    for is_read_only in (True, False):
        store = DuckStore(crash.copied(tmp_path), is_read_only=is_read_only)
        assert list(store.read_all()) == crash.log
        assert store.tree_head().size == 28
        store.close()


def test_a_write_ahead_log_cut_anywhere_is_lost_events_by_their_positions(crash: Crash, tmp_path: Path) -> None:
    size = crash.wal_sizes[-1]
    lengths = {0, 1, 2, *crash.wal_sizes[:-1], *range(0, size, size // PLACES), size - 2, size - 1}
    lengths |= {length + 1 for length in crash.wal_sizes[:-1]} | {length - 1 for length in crash.wal_sizes[:-1]}
    for length in sorted(lengths):
        path = crash.copied(tmp_path / str(length))
        with _wal(path).open("r+b") as file:
            file.truncate(length)
        # What is left is as many commits as are whole.
        assert _refused(path) == (Code.EVENTS_LOST, 4 * sum(length >= size for size in crash.wal_sizes) + 1)


def test_every_changed_byte_of_the_last_commit_is_found(crash: Crash, tmp_path: Path) -> None:
    start, end = crash.wal_sizes[-2:]
    places = {*range(start, end, max(1, (end - start) // PLACES)), *range(start, start + 24), end - 1}
    codes = set()
    for place in sorted(places):
        path = crash.copied(tmp_path / str(place))
        _flip(_wal(path), place)
        codes.add(_refused(path))
    assert codes == {(Code.EVENTS_LOST, 25), (Code.RECORD_DAMAGED, 1)}


def _flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)


def _the_wal_of_another_log(crash: Crash, path: Path) -> None:
    other = path.parent / "other" / path.name
    other.parent.mkdir()
    store = DuckStore(other)
    appended(store, begin(2))
    shutil.copy(_wal(other), _wal(path))
    store.close()
    shutil.rmtree(other.parent)


def _another_database(crash: Crash, path: Path) -> None:
    path.unlink()
    _wal(path).unlink()
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE games AS SELECT 1 AS number")


# What the engine refuses, and how many events can be read of it all the same; None where that is none at all.
UNREAD: dict[str, tuple[Callable[[Crash, Path], object], int | None]] = {
    "a commit in the middle": (lambda crash, path: _flip(_wal(path), crash.wal_sizes[3] + 100), 16),
    "the first commit": (lambda crash, path: _flip(_wal(path), 200), 0),
    "the write-ahead log of another": (_the_wal_of_another_log, 0),
    "the header of the database": (lambda crash, path: _flip(path, 100), None),
    "a database cut short": (lambda crash, path: os.truncate(path, 9000), None),
    "half a database": (lambda crash, path: os.truncate(path, path.stat().st_size // 2), None),
    "an empty database": (lambda crash, path: path.write_bytes(b""), None),
    "something else": (lambda crash, path: path.write_bytes(b"x" * 9000), None),
    "another's database": (_another_database, None),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_cannot_be_read_is_in_doubt_up_to_what_was_acknowledged(crash: Crash, tmp_path: Path, name: str) -> None:
    path = crash.copied(tmp_path / "log")
    UNREAD[name][0](crash, path)
    assert _refused(path) == (Code.RECORD_DAMAGED, 1)
    for is_read_only in (True, False):
        with pytest.raises(Corrupt) as caught:
            DuckStore(path, is_read_only=is_read_only)
        assert caught.value.facts["last"] == 28
        assert caught.value.facts["path"] == str(path)
        assert "`heptalog doctor`" in str(caught.value.facts["problem"])
    # One of the two is enough, and where neither can be read nobody knows what it was.
    _head_of(path).write_bytes(b"x")
    with pytest.raises(Corrupt) as caught:
        DuckStore(path)
    assert caught.value.facts["last"] == 20
    path.with_name(path.name + ".checkpoint").write_bytes(b"x")
    with pytest.raises(HeptalogError) as unknown:
        DuckStore(path)
    assert "last" not in unknown.value.facts
    assert unknown.value.code in (Code.DATABASE_FOREIGN, Code.RECORD_DAMAGED)


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_before_the_damage_is_found_on_copies(crash: Crash, tmp_path: Path, name: str) -> None:
    damage, readable = UNREAD[name]
    path = crash.copied(tmp_path / "log")
    damage(crash, path)
    before = _files(path)
    found = salvaged(path)
    assert _files(path) == before
    if not _wal(path).exists():
        assert found is None
        return
    assert found is not None
    assert (found.in_database, found.readable) == ((None, 0) if readable is None else (0, readable))
    if readable:
        os.truncate(_wal(path), found.wal_size)
        assert _refused(path) == (Code.EVENTS_LOST, readable + 1)
        store = DuckStore(path, is_read_only=True, is_checked=False)
        assert list(store.read_all()) == crash.log[:readable]
        store.close()


def test_where_it_cannot_be_tried_nothing_is_said(
    crash: Crash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = crash.copied(tmp_path / "log")
    # It is not the write-ahead log that is damaged.
    assert salvaged(path) is None
    _flip(_wal(path), 200)
    for name, value in (
        ("WAL_SIZE_MAX", 1),
        ("DATABASE_SIZE_MAX", 1),
        ("space_at", lambda folder: Space(1 << 40, 1 << 20)),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(salvage, name, value)
            assert salvaged(path) is None
    assert salvaged(path) is not None


def _only_the_wal_of(commit: int) -> Callable[[Crash, Path], None]:
    def put(crash: Crash, path: Path) -> None:
        shutil.copy(_wal(crash.folder / str(commit) / path.name), _wal(path))

    return put


def _older(commit: int) -> Callable[[Crash, Path], None]:
    def put(crash: Crash, path: Path) -> None:
        older = crash.folder / str(commit) / path.name
        shutil.copy(older, path)
        shutil.copy(_wal(older), _wal(path))

    return put


def _without_the_end(crash: Crash, path: Path) -> None:
    """The database is put in order, as at every clean end, and only then the last commit is missing."""
    folder = path.parent / "put in order"
    shutil.copytree(crash.folder / "6", folder)
    DuckStore(folder / path.name).close()
    _wal(path).unlink()
    shutil.copy(folder / path.name, path)
    shutil.rmtree(folder)


def _without_anything(crash: Crash, path: Path) -> None:
    path.unlink()
    _wal(path).unlink()


LOSSES: dict[str, tuple[Callable[[Crash, Path], None], int]] = {
    "no write-ahead log": (lambda crash, path: _wal(path).unlink(), 1),
    "an empty write-ahead log": (lambda crash, path: os.truncate(_wal(path), 0), 1),
    "the write-ahead log of an earlier commit": (_only_the_wal_of(6), 25),
    "the write-ahead log of a much earlier commit": (_only_the_wal_of(1), 5),
    "an older copy": (_older(3), 13),
    "an older copy that was put in order": (_without_the_end, 25),
    "no database": (_without_anything, 1),
}


@pytest.mark.parametrize("name", LOSSES)
def test_what_is_missing_is_told_by_its_positions(crash: Crash, tmp_path: Path, name: str) -> None:
    lose, first = LOSSES[name]
    path = crash.copied(tmp_path / "log")
    lose(crash, path)
    assert _refused(path) == (Code.EVENTS_LOST, first)


@pytest.mark.parametrize("commit", range(1, 7))
def test_a_newer_log_at_an_older_head_was_killed_in_between(crash: Crash, tmp_path: Path, commit: int) -> None:
    """Between COMMIT and the head record: nobody was told, and all of it is there."""
    path = crash.copied(tmp_path)
    shutil.copy(_head_of(crash.folder / str(commit) / path.name), _head_of(path))
    before = _files(path)
    store = DuckStore(path, is_read_only=True)
    assert list(store.read_all()) == crash.log
    store.close()
    assert _files(path) == before
    store = DuckStore(path)
    assert list(store.read_all()) == crash.log
    # From now on it is on record.
    shutil.copy(_head_of(path), tmp_path / "head")
    store.close()
    for older in range(1, 7):
        again = tmp_path / str(older)
        shutil.copytree(crash.folder / str(older), again)
        shutil.copy(tmp_path / "head", _head_of(again / path.name))
        assert _refused(again / path.name) == (Code.EVENTS_LOST, 4 * older + 1)


def test_a_checkpoint_alone_finds_what_is_missing_before_it(crash: Crash, tmp_path: Path) -> None:
    """Where somebody has put the head record back as well, but not the checkpoint."""
    path = crash.copied(tmp_path / "log")
    for name in ("log.duckdb", "log.duckdb.wal", "log.duckdb.head"):
        shutil.copy(crash.folder / "3" / name, path.parent / name)
    assert _refused(path) == (Code.EVENTS_LOST, 13)


def test_a_whole_older_state_is_not_found(crash: Crash, tmp_path: Path) -> None:
    """All files of an older day together: only a checkpoint that somebody else holds can tell."""
    folder = tmp_path / "log"
    shutil.copytree(crash.folder / "3", folder)
    store = DuckStore(folder / "log.duckdb")
    assert list(store.read_all()) == crash.log[:12]
    store.close()


@pytest.mark.parametrize("torn", range(0, 4096, 256))
def test_a_head_record_torn_while_it_was_written(crash: Crash, tmp_path: Path, torn: int) -> None:
    """The commit behind it is durable, and nobody was told: the other slot stands."""
    path = crash.copied(tmp_path)
    older, newer = (_head_of(crash.folder / str(commit) / path.name).read_bytes() for commit in (6, 7))
    (slot,) = [place for place in (0, 4096) if older[place : place + 4096] != newer[place : place + 4096]]
    _head_of(path).write_bytes(newer[: slot + torn] + older[slot + torn : slot + 4096] + newer[slot + 4096 :])
    store = DuckStore(path)
    assert list(store.read_all()) == crash.log
    appended(store, begin(2))
    store.close()
    DuckStore(path).close()


def _refused(path: Path) -> tuple[Code, int | None]:
    """What is said of a damaged log, in both ways of opening it; and nothing on disk is changed by saying it."""
    before = _files(path)
    said = []
    for is_read_only in (True, False):
        with pytest.raises(HeptalogError) as caught:
            DuckStore(path, is_read_only=is_read_only)
        assert isinstance(caught.value, Corrupt)
        assert _files(path) == before
        assert caught.value.facts["last"] in (20, 28)
        said.append((caught.value.code, caught.value.facts.get("first")))
    assert said[0] == said[1]
    code, first = said[0]
    assert first is None or isinstance(first, int)
    return code, first


def _head(store: DuckStore) -> tuple[int, bytes]:
    head = store.tree_head()
    return head.size, head.root


def _wal(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def _head_of(path: Path) -> Path:
    return path.with_name(path.name + ".head")


def _files(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
