"""The head record by itself: its text, its two slots, and what tears or changes it."""

import os
import stat
from itertools import pairwise
from pathlib import Path

import pytest

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.service.store import TreeHead
from heptalog.service.store.files import replace_file
from heptalog.service.store.heads import FILE_SIZE, SLOT_SIZE, HeadFile, make_head, read_head

TIME = 1_790_000_000_123_456_789
HEAD = TreeHead(1234, bytes(range(32)))
TEXT = f"""heptalog head 1
size 1234
root {bytes(range(32)).hex()}
time 2026-09-21T14:13:20.123456789Z
checksum """


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A head record."""
    path = tmp_path / "log.duckdb.head"
    make_head(path, HEAD, TIME)
    return path


def test_a_person_can_read_it(record: Path) -> None:
    content = record.read_text()
    assert content.startswith(TEXT)
    assert content[SLOT_SIZE:].startswith(TEXT)
    assert content[: SLOT_SIZE - 1].rstrip(" ").count("\n") == 5
    assert len(content) == FILE_SIZE
    found = read_head(record)
    assert found is not None
    assert (found.tree, found.time) == (HEAD, "2026-09-21T14:13:20.123456789Z")


def test_there_may_be_none(tmp_path: Path) -> None:
    assert read_head(tmp_path / "none") is None
    with pytest.raises(Unavailable):
        read_head(tmp_path)


@pytest.mark.parametrize("time", [0, 1, TIME, 2**63, -1])
def test_any_time_of_a_clock_will_do(tmp_path: Path, time: int) -> None:
    make_head(tmp_path / "head", HEAD, time)
    found = read_head(tmp_path / "head")
    assert found is not None
    assert found.tree == HEAD


def test_the_slots_are_written_in_turn_in_place(record: Path) -> None:
    file = HeadFile(record)
    inode = record.stat().st_ino
    seen = [record.read_bytes()]
    for size in range(1235, 1241):
        file.write(TreeHead(size, bytes(32)), TIME)
        seen.append(record.read_bytes())
        found = read_head(record)
        assert found is not None
        assert found.size == size
    file.close()
    file.close()
    changed = [
        [slot for slot in (0, SLOT_SIZE) if before[slot : slot + SLOT_SIZE] != after[slot : slot + SLOT_SIZE]]
        for before, after in pairwise(seen)
    ]
    assert changed in ([[0], [SLOT_SIZE]] * 3, [[SLOT_SIZE], [0]] * 3)
    assert record.stat().st_ino == inode
    assert record.stat().st_size == FILE_SIZE


@pytest.mark.parametrize("count", [0, 1])
def test_the_slot_that_holds_is_never_the_one_that_is_written(record: Path, count: int) -> None:
    """However often it is opened anew, a torn writing leaves the last record."""
    for size in range(1235, 1245):
        file = HeadFile(record)
        for extra in range(count):
            file.write(TreeHead(size + extra, bytes(32)), TIME)
        file.close()
        held = read_head(record)
        file = HeadFile(record)
        before = record.read_bytes()
        file.write(TreeHead(size + 10, bytes(32)), TIME)
        file.close()
        after = record.read_bytes()
        for torn in (1, 17, 100, 200):
            (slot,) = [at for at in (0, SLOT_SIZE) if before[at : at + SLOT_SIZE] != after[at : at + SLOT_SIZE]]
            record.write_bytes(before[:slot] + after[slot : slot + torn] + before[slot + torn :])
            assert read_head(record) == held
        record.write_bytes(before)


def test_every_changed_byte_of_a_slot_is_found(record: Path) -> None:
    whole = record.read_bytes()
    for place in range(SLOT_SIZE):
        damaged = bytearray(whole)
        damaged[place] ^= 0x01
        damaged[SLOT_SIZE + place] ^= 0x01
        record.write_bytes(damaged)
        with pytest.raises(Corrupt) as caught:
            read_head(record)
        assert caught.value.code is Code.HEAD_MISSING
        damaged[SLOT_SIZE + place] ^= 0x01
        record.write_bytes(damaged)
        found = read_head(record)
        assert found is not None
        assert found.tree == HEAD


@pytest.mark.parametrize(
    ("time", "text"), [(-1, "1970-01-01T00:00:00Z"), (1 << 62, "2116-02-20T23:53:38.427387904Z"), (1 << 70, "9999-")]
)
def test_no_clock_makes_a_record_that_cannot_be_read(record: Path, time: int, text: str) -> None:
    make_head(record, HEAD, time)
    found = read_head(record)
    assert found is not None
    assert found.time.startswith(text)


def test_a_file_is_whole_on_disk_before_it_has_its_name_and_the_name_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, replace = os.fsync, Path.replace

    def told_sync(descriptor: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def told_replace(made: Path, path: Path) -> Path:
        done.append("name")
        return replace(made, path)

    monkeypatch.setattr(os, "fsync", told_sync)
    monkeypatch.setattr(Path, "replace", told_replace)
    replace_file(tmp_path / "file", b"content")
    assert done == ["file", "name", "folder"]
    assert (tmp_path / "file").read_bytes() == b"content"
    assert len(list(tmp_path.iterdir())) == 1
