"""What can be wrong with a database: each fault brought about for real, named by its code, and nothing made worse."""

import errno
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import pytest
from msgspec import UNSET
from msgspec.structs import asdict, replace

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable
from heptalog.replay.events import Options
from heptalog.replay.registry import GAMES
from heptalog.service.store import GameFilter, LogStore
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_faults import NO_SPACE, meaning, why_unwritten
from heptalog.service.store.migrate import NOT_UTF8
from heptalog.service.wire import entry_of, game_message
from tests.contract.given import appended, as_stored, begin, fill, game, writer_of
from tests.support.recording import batch_of, recorded_game

ROOT = Path(__file__).parents[2]


def foreign_database(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE games AS SELECT 1 AS number")


def foreign_with_a_table_of_our_name(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("ATTACH ? AS foreign_database", [str(path)])
        connection.execute("USE foreign_database; CREATE SCHEMA log")
        connection.execute("CREATE TABLE log.migrations AS SELECT 1 AS number, 'x.sql' AS name")


def foreign_with_a_write_ahead_log(path: Path) -> None:
    script = f"""
import duckdb, os
connection = duckdb.connect({str(path)!r})
connection.execute("CREATE TABLE a (i INTEGER)")
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
    assert path.with_name(path.name + ".wal").exists()


def ours_without_its_end(path: Path) -> None:
    DuckStore(path).close()
    os.truncate(path, path.stat().st_size // 2)


def ours_without_most_of_its_header(path: Path) -> None:
    DuckStore(path).close()
    os.truncate(path, 100)


FOREIGN: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.touch(),
    "garbage": lambda path: path.write_bytes(bytes(range(256)) * 64),
    "a game file": lambda path: path.write_text('{"sequence":0}\n'),
    "an empty database": lambda path: duckdb.connect(path).close(),
    "another database": foreign_database,
    "a table of our name": foreign_with_a_table_of_our_name,
    "another's write-ahead log": foreign_with_a_write_ahead_log,
    "truncated": ours_without_its_end,
    "truncated in its header": ours_without_most_of_its_header,
}


@pytest.mark.parametrize("is_read_only", [False, True])
@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_what_is_not_ours_is_not_touched(path: Path, make: Callable[[Path], object], *, is_read_only: bool) -> None:
    make(path)
    before = _files(path)
    assert _failure(path, is_read_only=is_read_only) == (Code.DATABASE_FOREIGN, {"path": str(path)})
    assert _files(path) == before


def test_a_write_ahead_log_without_its_database_is_not_thrown_away(path: Path) -> None:
    foreign_with_a_write_ahead_log(path)
    path.unlink()
    wal = path.with_name(path.name + ".wal")
    assert _failure(path) == (Code.DATABASE_FOREIGN, {"path": str(wal)})
    assert wal.exists()
    assert not path.exists()


@pytest.mark.parametrize("is_read_only", [False, True])
def test_a_newer_schema(path: Path, *, is_read_only: bool) -> None:
    DuckStore(path).close()
    with duckdb.connect() as connection:
        connection.execute("ATTACH ? AS ours", [str(path)])
        connection.execute("INSERT INTO ours.log.migrations VALUES (3, '0003_later.sql', now())")
    before = _files(path)
    assert _failure(path, is_read_only=is_read_only) == (
        Code.DATABASE_NEWER,
        {"path": str(path), "version": 3, "known": 2},
    )
    assert _files(path) == before


def test_a_newer_file_format(path: Path) -> None:
    DuckStore(path).close()
    header = bytearray(path.read_bytes())
    struct.pack_into("<Q", header, 12, 98)
    checksum = 5381
    for (word,) in struct.iter_unpack("<Q", header[8:4096]):
        checksum ^= word * 0xBF58476D1CE4E5B9 % 2**64
    struct.pack_into("<Q", header, 0, checksum)
    path.write_bytes(header)
    assert _failure(path) == (Code.DATABASE_NEWER, {"path": str(path)})
    assert path.read_bytes() == header


def test_a_missing_file_is_made_only_for_writing(path: Path) -> None:
    assert _failure(path, is_read_only=True) == (Code.SOURCE_NOT_FOUND, {"path": str(path)})
    assert not path.exists()
    DuckStore(path).close()
    DuckStore(path, is_read_only=True).close()


@pytest.mark.parametrize("is_read_only", [False, True])
def test_a_folder_is_not_a_database(tmp_path: Path, *, is_read_only: bool) -> None:
    assert _failure(tmp_path, is_read_only=is_read_only)[0] is Code.SOURCE_UNREADABLE


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert _failure(tmp_path / "none" / "log.duckdb")[0] is Code.SOURCE_UNREADABLE


@pytest.mark.parametrize("is_read_only", [False, True])
def test_a_name_that_the_engine_does_not_take(tmp_path: Path, *, is_read_only: bool) -> None:
    for name in (b"a\xff.duckdb", b"b\xff/log.duckdb"):
        path = tmp_path / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        for _ in range(2):
            code, facts = _failure(path, is_read_only=is_read_only)
            told = f"{tmp_path}/{name.decode(errors='backslashreplace')}"
            assert (code, facts) == (Code.SOURCE_UNREADABLE, {"path": told, "problem": NOT_UTF8})
            path.touch()


@pytest.mark.parametrize("is_read_only", [False, True])
def test_another_process_writes(path: Path, *, is_read_only: bool) -> None:
    with _writing_process(path) as process:
        head = path.with_name(path.name + ".head")
        before = head.stat()
        code, facts = _failure(path, is_read_only=is_read_only)
        assert code is Code.DATABASE_LOCKED
        assert facts == {"path": str(path), "pid": process.pid}
        # Who comes second has not so much as touched it.
        assert (head.stat().st_ino, head.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    DuckStore(path, is_read_only=is_read_only).close()


@pytest.mark.parametrize("is_read_only", [False, True])
def test_this_process_writes_already(path: Path, *, is_read_only: bool) -> None:
    store = DuckStore(path)
    assert _failure(path, is_read_only=is_read_only) == (Code.DATABASE_LOCKED, {"path": str(path), "pid": os.getpid()})
    link = path.with_name("link")
    link.symlink_to(path)
    assert _failure(link)[0] is Code.DATABASE_LOCKED
    appended(store, begin(1))
    store.close()


def test_readers_share_a_database(path: Path) -> None:
    store = DuckStore(path)
    appended(store, batch_of(game(1)))
    store.close()
    stores = [DuckStore(path, is_read_only=True) for _ in range(3)]
    assert [list(store.read_all()) for store in stores] == [as_stored(game(1))] * 3
    assert _failure(path)[0] is Code.DATABASE_LOCKED
    for store in stores:
        store.close()
    DuckStore(path).close()


def test_a_store_that_only_reads_does_not_append(path: Path) -> None:
    DuckStore(path).close()
    before = _files(path)
    store = DuckStore(path, is_read_only=True)
    with pytest.raises(Unavailable) as caught:
        store.append([begin(1)])
    assert caught.value.code is Code.WRITE_FAILED
    assert store.position() == 0
    store.close()
    assert _files(path) == before


def test_a_byte_that_is_changed_is_found_or_was_of_no_use(path: Path) -> None:
    """Bytes all over the file, one at a time: what can be read is what was written."""
    store = DuckStore(path)
    written = as_stored(fill(store, [game(number, length=200) for number in range(20)], size=200))
    store.close()
    whole = path.read_bytes()
    found = 0
    for place in range(20, len(whole), len(whole) // 40):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            store = DuckStore(path)
        except (Corrupt, Unavailable):
            found += 1
            continue
        try:
            assert list(store.read_all()) == written
        except Corrupt:
            found += 1
        store.close()
    assert found > 5


def test_a_file_that_is_cut_short_is_corrupt(path: Path) -> None:
    """At any length: it is never opened as a shorter log."""
    store = DuckStore(path)
    written = as_stored(fill(store, [game(number, length=200) for number in range(20)], size=200))
    store.close()
    size = path.stat().st_size
    found = set()
    for length in range(size - 1, 0, -size // 40):
        os.truncate(path, length)
        try:
            store = DuckStore(path)
        except Corrupt as error:
            found.add((error.code, error.facts["first"], error.facts["last"]))
            continue
        with suppress(Corrupt):  # or what was cut off was of no use
            assert list(store.read_all()) == written
        store.close()
    assert found == {(Code.RECORD_DAMAGED, 1, len(written))}


def test_a_hole_in_the_log_is_corrupt(path: Path) -> None:
    store = DuckStore(path)
    fill(store, [game(1), game(2)])
    store.close()
    with duckdb.connect() as connection:
        connection.execute("ATTACH ? AS ours", [str(path)])
        connection.execute("DELETE FROM ours.log.events WHERE position = 3")
    for is_read_only in (False, True):
        assert _failure(path, is_read_only=is_read_only) == (Code.POSITION_DAMAGED, {"position": 3})
    store = DuckStore(path, is_read_only=True, is_checked=False)
    readings: list[Callable[[LogStore], object]] = [
        lambda store: list(store.read_all()),
        lambda store: list(store.read_all(is_backwards=True)),
        lambda store: list(store.read_game("game-1")),
    ]
    for reading in readings:
        with pytest.raises(Corrupt) as caught:
            reading(store)
        assert caught.value.code is Code.RECORD_DAMAGED
    assert list(store.read_game("game-2"))
    store.close()


@pytest.mark.parametrize(
    "record",
    [b"\x00", b"", game(2)[1].record, game(2)[0].record + b"\xf8\x3f\x01"],
    ids=["no record", "nothing", "another event", "a field that is newer"],
)
def test_a_start_that_cannot_be_read_hides_no_other_game(path: Path, record: bytes) -> None:
    store = DuckStore(path)
    games = [recorded_game(GAMES[0], number, tournament="cup", table="4", event_count_max=3) for number in range(3)]
    appended(store, *(batch_of(entries) for entries in games))
    everything = store.games(GameFilter())
    writer_of(store).connection.execute("UPDATE log.games SET started = ? WHERE game_number = 2", [record])
    first, unreadable, last = store.games(GameFilter(tournament="cup"))
    assert [first, last] == [everything[0], everything[2]]
    # What stands beside the record is there; the options are not, and are no game's.
    started = replace(everything[1].started, rules=Options(), rules_version=1)
    assert unreadable == replace(everything[1], started=started)
    assert type(unreadable.started.rules) is Options
    assert store.game(unreadable.game_id) == unreadable
    # And so it goes over the wire.
    assert replace(unreadable, **asdict(entry_of(game_message(unreadable)))) == unreadable
    bare = replace(unreadable, started=replace(started, rules_version=UNSET, tags=()))
    assert replace(bare, **asdict(entry_of(game_message(bare)))) == bare
    store.close()


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "Kein Platz"),
        OSError(errno.EDQUOT, "Kein Platz"),
        duckdb.IOException('IO Error: Could not write file "log.duckdb.wal": No space left on device'),
        duckdb.TransactionException("TransactionContext Error: Failed to commit: [...]: No space left on device"),
        duckdb.Error('Failure while replaying WAL file "log.duckdb.wal": [...]: Disk quota exceeded'),
    ],
)
def test_a_full_disk_is_told_as_what_it_is(error: duckdb.Error | OSError) -> None:
    assert why_unwritten(error) == NO_SPACE
    if isinstance(error, duckdb.Error):
        for is_open in (True, False):
            fault = meaning(error, Path("log.duckdb"), is_open=is_open)
            assert (fault.code, fault.facts["problem"]) == (Code.WRITE_FAILED, NO_SPACE)


def test_what_else_goes_wrong_is_told_by_its_kind() -> None:
    """The text of the engine can quote values, and a value can be a hidden card."""
    assert why_unwritten(duckdb.TransactionException("the queen of spades")) == "TransactionException"
    assert why_unwritten(OSError(errno.EIO, "Input/output error")) == "Input/output error"
    assert why_unwritten(OSError("the head record was written in part")) == "OSError"
    # What the engine had no memory for is not damaged.
    fault = meaning(duckdb.OutOfMemoryException("Failure while replaying WAL file"), Path("log"), is_open=True)
    assert (fault.code, fault.facts["problem"]) == (Code.SOURCE_UNREADABLE, "OutOfMemoryException")


def _failure(path: Path, *, is_read_only: bool = False) -> tuple[Code, dict[str, object]]:
    with pytest.raises(HeptalogError) as caught:
        DuckStore(path, is_read_only=is_read_only)
    return caught.value.code, caught.value.facts


def _files(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir()}


@contextmanager
def _writing_process(path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.contract.writing", str(path), "1"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "commit\n":
                break
        yield process
        process.kill()
