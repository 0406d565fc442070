"""The disk's reserve, and what happens where the disk fills all the same: on a small file system of our own."""

import os
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.events import GameStarted, NoteAdded, Player
from heptalog.replay.sentences import sentence
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.service.evidence.keys import SigningKey, save
from heptalog.service.store import Batch, Entry
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_faults import NO_SPACE
from heptalog.service.store.space import RESERVE_MAX, Space, reserve_of, space_at
from tests.contract.given import appended, as_stored, begin, checkpoint_of, game, refusals
from tests.support.recording import batch_of, entries_of

MIB = 1024 * 1024


class Disk:
    """A disk with as much room as a test says."""

    def __init__(self, free: int, total: int = 100 * MIB) -> None:
        self.space = Space(total, free)
        self.asked = 0

    def __call__(self, folder: Path) -> Space:
        self.asked += 1
        return self.space


def test_below_the_reserve_nothing_is_recorded_and_all_can_be_read(path: Path) -> None:
    disk = Disk(50 * MIB)
    store = DuckStore(path, reserve_bytes=10 * MIB, space=disk)
    appended(store, batch_of(game(1)[:5]))
    store.append([], refusals(1))
    disk.space = Space(100 * MIB, 10 * MIB)
    for batches, refused in (([batch_of(game(1)[5:])], []), ([begin(2)], refusals(1)), ([], refusals(1))):
        with pytest.raises(Unavailable) as caught:
            store.append(batches, refused)
        assert caught.value.code is Code.DISK_RESERVE
        assert (caught.value.facts["free"], caught.value.facts["reserve"]) == (10 * MIB, 10 * MIB)
    assert not store.is_broken
    assert list(store.read_all()) == as_stored(game(1)[:5])
    assert store.refusal_count() == 1
    # What asks for nothing to be recorded has its answer.
    assert store.append([batch_of(game(1)[7:])])[0].__class__.__name__ == "Conflict"
    store.keep_checkpoint(checkpoint_of(5, store.tree_head().root))
    disk.space = Space(100 * MIB, 50 * MIB)
    appended(store, batch_of(game(1)[5:]))
    store.close()


def test_what_the_write_ahead_log_holds_is_needed_once_more(path: Path) -> None:
    disk = Disk(50 * MIB)
    store = DuckStore(path, reserve_bytes=10 * MIB, space=disk)
    appended(store, batch_of(game(1)))
    waiting = path.with_name(path.name + ".wal").stat().st_size
    batch = batch_of(game(2))
    size = sum(len(entry.record) for entry in batch.entries)
    assert waiting > 0
    disk.space = Space(100 * MIB, 10 * MIB + waiting + size - 1)
    with pytest.raises(Unavailable) as caught:
        store.append([batch])
    # More is free than the reserve, and so it says what of that is spoken for.
    assert caught.value.facts == {
        "free": 10 * MIB + waiting + size - 1,
        "spoken_for": waiting + size,
        "reserve": 10 * MIB,
    }
    assert "spoken for" in sentence(caught.value)
    disk.space = Space(100 * MIB, 10 * MIB + waiting + size)
    appended(store, batch)
    store.close()


def test_no_reserve_asks_nobody(path: Path) -> None:
    disk = Disk(0)
    store = DuckStore(path, reserve_bytes=0, space=disk)
    appended(store, begin(1))
    assert disk.asked == 0
    store.close()


@pytest.mark.parametrize(
    ("total", "reserve"), [(0, 0), (100 * MIB, 5 * MIB), (10 * 1024 * MIB, 512 * MIB), (2**60, RESERVE_MAX)]
)
def test_the_reserve_that_nobody_asked_for(path: Path, total: int, reserve: int) -> None:
    assert reserve_of(Space(total, 0)) == reserve
    store = DuckStore(path, space=Disk(reserve + MIB, total))
    appended(store, begin(1))
    store.close()
    store = DuckStore(path, space=Disk(reserve - 1, total))
    if reserve:
        with pytest.raises(Unavailable) as caught:
            store.append([begin(2)])
        assert (caught.value.facts["free"], caught.value.facts["reserve"]) == (reserve - 1, reserve)
    store.close()


def test_a_disk_that_cannot_be_asked(path: Path) -> None:
    def ask(folder: Path) -> Space:
        raise OSError(5, "Input/output error")

    store = DuckStore(path, space=ask)
    with pytest.raises(Unavailable) as caught:
        store.append([begin(1)])
    assert caught.value.code is Code.WRITE_FAILED
    assert not store.is_broken
    store.close()


def test_the_space_is_that_of_the_file_system(tmp_path: Path) -> None:
    space = space_at(tmp_path)
    assert 0 < space.free < space.total


@pytest.fixture(params=[64, 80], ids=["the write-ahead log fills it", "putting it in order fills it"])
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A file system of so many MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={request.param}m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root may mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_on_a_real_disk_the_reserve_answers_first(small_disk: Path) -> None:
    path = small_disk / "log.duckdb"
    filler = small_disk / "filler"
    filler.write_bytes(bytes(40 * MIB))
    store = DuckStore(path, reserve_bytes=6 * MIB)
    written: list[Entry] = []
    assert _failure(store, written).code is Code.DISK_RESERVE
    assert space_at(small_disk).free >= 6 * MIB
    assert list(store.read_all()) == as_stored(written)
    filler.unlink()
    appended(store, begin(1))
    written.append(game(1)[0])
    store.close()
    store = DuckStore(path, reserve_bytes=6 * MIB)
    assert list(store.read_all()) == as_stored(written)
    store.close()


def test_on_a_real_disk_that_fills_nothing_acknowledged_is_lost(small_disk: Path) -> None:
    path = small_disk / "log.duckdb"
    filler = small_disk / "filler"
    filler.write_bytes(bytes(40 * MIB))
    store = DuckStore(path, reserve_bytes=0)
    written: list[Entry] = []
    error = _failure(store, written)
    assert (error.code, error.facts["problem"]) == (Code.WRITE_FAILED, NO_SPACE)
    # It reads on, or says that it can no more; it never shows less.
    if store.is_broken:
        with pytest.raises(Unavailable):
            list(store.read_all())
    else:
        assert list(store.read_all())[: len(written)] == as_stored(written)
    store.close()
    filler.unlink()
    store = DuckStore(path, reserve_bytes=0)
    found = list(store.read_all())
    assert found[: len(written)] == as_stored(written)
    # The commit that failed may be there, and then it is there whole.
    assert len(found) - len(written) in (0, 4)
    assert store.tree_head().size == len(found)
    appended(store, begin(1))
    store.close()


def test_on_a_real_disk_that_is_full_nothing_is_made(small_disk: Path) -> None:
    filler = small_disk / "filler"
    for left in (0, 8192, MIB // 4):
        filler.write_bytes(b"")
        filler.write_bytes(bytes(space_at(small_disk).free - left))
        with pytest.raises(Unavailable) as caught:
            DuckStore(small_disk / "log.duckdb")
        assert (caught.value.code, caught.value.facts["problem"]) == (Code.WRITE_FAILED, NO_SPACE)
        assert list(small_disk.iterdir()) == [filler]
    filler.write_bytes(b"")
    filler.write_bytes(bytes(space_at(small_disk).free))
    with pytest.raises(Unavailable) as unwritten:
        save(small_disk / "key", SigningKey.generate("example.org/log"))
    assert sentence(unwritten.value).startswith("the key could not be written: No space left on device")
    assert list(small_disk.iterdir()) == [filler]


def _failure(store: DuckStore, written: list[Entry]) -> Unavailable:
    """Append until it fails: how it fails, and what was acknowledged by then."""
    for batch in _large():
        try:
            appended(store, batch)
        except Unavailable as error:
            return error
        written += batch.entries
    raise AssertionError("the disk is larger than that")


@cache
def _large() -> list[Batch]:
    """Commits of four events with 400 KB between them, which nothing makes much smaller."""
    random = Random(1)
    started = GameStarted((Player("a"), Player("b"), Player("c"), Player("d")), SevenRocks())
    notes = [NoteAdded(b64encode(random.randbytes(75_000)).decode()) for _ in range(799)]
    entries = entries_of([started, *notes], "large", random)
    return [batch_of(entries[start : start + 4]) for start in range(0, len(entries), 4)]
