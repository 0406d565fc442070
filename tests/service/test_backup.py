"""Taking a backup: one moment, only what is new, checked as it is copied, and never half of one."""

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from heptalog.replay.errors import Code, Corrupt, Unavailable
from heptalog.replay.evidence.texts import to_base64
from heptalog.service.backup import manifest, taking
from heptalog.service.backup.parts import CheckpointsPart, EventsPart, Have, Moment, Part, RefusalsPart, parts_of
from heptalog.service.backup.restoring import check
from heptalog.service.backup.taking import take
from heptalog.service.store import LogStore
from heptalog.service.store.memory import MemoryStore
from tests.contract.given import appended, begin
from tests.service.backing import (
    KEY,
    MADE_AT,
    OTHER_KEY,
    WITNESS,
    back_up,
    checkpoint,
    failure,
    files_of,
    grow,
)


def test_a_second_backup_adds_what_is_new_and_touches_nothing_else(store: LogStore, folder: Path) -> None:
    with closing(store):
        grow(store, 0)
        first = back_up(store, folder)
        before = files_of(folder)
        grow(store, 1)
        second = back_up(store, folder)
        after = files_of(folder)
        assert first.new_events == first.events
        assert (second.new_events, second.new_refusals) == (second.events - first.events, 3)
        assert second.root == to_base64(store.tree_head().root)
        assert set(after) - set(before) == set(second.new_files)
        assert {name for name in before if before[name] != after[name]} == {manifest.NAME}
        assert second.signed_by == (KEY.name,)


def test_a_backup_of_nothing_new_adds_no_file(store: LogStore, folder: Path) -> None:
    with closing(store):
        grow(store)
        back_up(store, folder)
        before = files_of(folder)
        assert back_up(store, folder).new_files == ()
        assert files_of(folder) == before


def test_an_empty_log_can_be_backed_up(folder: Path) -> None:
    store = MemoryStore()
    assert back_up(store, folder).events == 0
    grow(store)
    assert back_up(store, folder).new_events > 0
    assert check(folder).events == store.position()


@pytest.mark.usefixtures("small_parts")
def test_whatever_the_parts_and_the_files_are_the_backup_is_the_same(store: LogStore, folder: Path) -> None:
    with closing(store):
        grow(store, 0)
        grow(store, 1)
        taken = back_up(store, folder)
        assert len(taken.new_files) > 5
        assert check(folder, keys=KEY.verifiers).root == to_base64(store.tree_head().root)


def test_a_backup_is_of_one_moment_whatever_is_appended_meanwhile(store: LogStore, folder: Path) -> None:
    with closing(store):
        grow(store)
        size = store.position()

        def growing(have: Have) -> Iterator[Part]:
            for number, part in enumerate(parts_of(store, have)):
                yield part
                appended(store, begin(100 + number))
                store.keep_checkpoint(checkpoint(store))

        assert take(folder, growing, clock=lambda: MADE_AT).events == size
        assert back_up(store, folder).events == store.position()


def test_a_log_that_is_shorter_than_the_backup_is_refused(folder: Path) -> None:
    longer, shorter = MemoryStore(), MemoryStore()
    grow(shorter, 0)
    for seed in range(2):
        grow(longer, seed)
    back_up(longer, folder)
    before = files_of(folder)
    error = failure(lambda: back_up(shorter, folder))
    assert (error.code, error.facts["first"], error.facts["last"]) == (
        Code.EVENTS_LOST,
        shorter.position() + 1,
        longer.position(),
    )
    assert files_of(folder) == before


@pytest.mark.parametrize("extra", [0, 1])
def test_another_log_is_refused(folder: Path, extra: int) -> None:
    one, other = MemoryStore(), MemoryStore()
    grow(one, 5)
    back_up(one, folder)
    before = files_of(folder)
    grow(other, 6, length=80)
    for number in range(extra):
        grow(other, 7 + number)
    assert other.position() >= one.position()
    assert failure(lambda: back_up(other, folder)).code is Code.BACKUP_DIFFERS
    assert files_of(folder) == before


def changed(store: LogStore, change: Callable[[Part], Part | None]) -> Callable[[Have], Iterator[Part]]:
    """The log in a store, with its parts changed on the way; None leaves one out."""

    def parts_changed(have: Have) -> Iterator[Part]:
        return (other for part in parts_of(store, have) if (other := change(part)) is not None)

    return parts_changed


def _record(change: Callable[[bytes], bytes]) -> Callable[[Part], Part | None]:
    def change_part(part: Part) -> Part | None:
        if not isinstance(part, EventsPart):
            return part
        records = list(part.records)
        records[20] = change(records[20])
        return replace(part, records=tuple(records))

    return change_part


def _events(change: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]) -> Callable[[Part], Part | None]:
    return lambda part: replace(part, records=change(part.records)) if isinstance(part, EventsPart) else part


def _moment(**values: Any) -> Callable[[Part], Part | None]:
    return lambda part: replace(part, **values) if isinstance(part, Moment) else part


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_record(lambda record: record[:80] + bytes([record[80] ^ 1]) + record[81:]), None),
        (_record(lambda record: record[:40] + bytes([record[40] ^ 1]) + record[41:]), Code.CHAIN_BROKEN),
        (_record(lambda record: record[:5] + bytes([record[5] ^ 1]) + record[6:]), Code.CHAIN_BROKEN),
        (_record(lambda record: record[:-1]), Code.RECORD_DAMAGED),
        (_record(lambda record: b""), Code.RECORD_DAMAGED),
        (_events(lambda records: records[:30] + records[31:]), Code.CHAIN_BROKEN),
        (_events(lambda records: records[:-1]), Code.BACKUP_DIFFERS),
        (_events(lambda records: (*records, records[-1])), Code.CHAIN_BROKEN),
        (_events(lambda records: records[3:]), Code.CHAIN_BROKEN),
        (lambda part: None if isinstance(part, Moment) else part, Code.BACKUP_DIFFERS),
        (lambda part: None if isinstance(part, EventsPart) else part, Code.BACKUP_DIFFERS),
        (lambda part: None if isinstance(part, RefusalsPart) else part, Code.BACKUP_DIFFERS),
        (_moment(root=bytes(32)), Code.BACKUP_DIFFERS),
        (_moment(root_before=bytes(32)), Code.BACKUP_DIFFERS),
        (_moment(size=3), Code.BACKUP_DIFFERS),
        (_moment(refusals=1), Code.BACKUP_DIFFERS),
        (
            lambda part: replace(part, first_position=2) if isinstance(part, EventsPart) else part,
            Code.POSITION_DAMAGED,
        ),
    ],
)
def test_whatever_is_wrong_with_a_log_is_found_on_the_way(
    folder: Path, change: Callable[[Part], Part | None], code: Code | None
) -> None:
    store = MemoryStore()
    grow(store)
    error = failure(lambda: take(folder, changed(store, change), clock=lambda: MADE_AT))
    assert isinstance(error, Corrupt)
    assert code in (None, error.code)
    assert not folder.exists()
    assert back_up(store, folder).events == store.position()


def test_a_checkpoint_over_another_root_is_found(folder: Path) -> None:
    for size in (1, 30, None):
        store = MemoryStore()
        grow(store)
        false = checkpoint(store, size=size, root=bytes(32))
        parts_with = changed(
            store,
            lambda part, false=false: CheckpointsPart((false,)) if isinstance(part, CheckpointsPart) else part,  # type: ignore[misc]
        )
        error = failure(lambda parts_with=parts_with: take(folder, parts_with, clock=lambda: MADE_AT))  # type: ignore[misc]
        assert error.code is Code.CHECKPOINT_DIFFERS
        assert error.facts["size"] == false.size


def test_the_latest_checkpoint_must_be_signed_by_a_given_key(folder: Path) -> None:
    store = MemoryStore()
    grow(store, 0)
    assert failure(lambda: back_up(store, folder, keys=OTHER_KEY.verifiers)).code is Code.SIGNATURE_MISSING
    assert back_up(store, folder, keys=(*KEY.verifiers, *OTHER_KEY.verifiers)).signed_by == (KEY.name,)
    # The key is changed for another, and earlier checkpoints stay as they are.
    appended(store, begin(1))
    store.keep_checkpoint(checkpoint(store, OTHER_KEY))
    assert back_up(store, folder, keys=OTHER_KEY.verifiers).signed_by == (KEY.name,)
    assert failure(lambda: back_up(store, folder)).code is Code.SIGNATURE_MISSING


def test_a_false_signature_is_found(folder: Path) -> None:
    store = MemoryStore()
    grow(store)
    note = checkpoint(store).note
    end = note.rindex("=")
    false = note[: end - 3] + ("A" if note[end - 3] != "A" else "B") + note[end - 2 :]
    store.keep_checkpoint(replace(checkpoint(store), note=false))
    assert failure(lambda: back_up(store, folder)).code is Code.SIGNATURE_BROKEN
    assert back_up(store, folder, keys=()).signed_by == ()


def test_a_signature_that_a_witness_added_later_comes_with_the_next_backup(folder: Path) -> None:
    store = MemoryStore()
    grow(store, 0)
    size = store.position()
    back_up(store, folder)
    grow(store, 1)
    back_up(store, folder)
    store.keep_checkpoint(checkpoint(store, KEY, WITNESS, size=size))
    assert len(back_up(store, folder).new_files) == 1
    assert back_up(store, folder).new_files == ()
    assert check(folder, keys=KEY.verifiers).checkpoints == 3


def test_only_so_many_of_the_last_checkpoints_are_asked_for_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "UNSETTLED", 2)
    store = MemoryStore()
    sizes = []
    for seed in range(4):
        grow(store, seed, length=10)
        sizes.append(store.position())
    asked: list[Have] = []

    def told(have: Have) -> Iterator[Part]:
        asked.append(have)
        return parts_of(store, have)

    for _ in range(2):
        take(folder, told, clock=lambda: MADE_AT)
    assert [have.checkpoint for have in asked] == [0, sizes[1]]


def test_of_two_checkpoints_of_one_size_the_later_says_who_has_signed(folder: Path) -> None:
    """As when the key of a log is changed, and the new one signs what is there already."""
    store = MemoryStore()
    grow(store)
    back_up(store, folder)
    store.keep_checkpoint(checkpoint(store, KEY, OTHER_KEY))
    assert back_up(store, folder, keys=OTHER_KEY.verifiers).signed_by == (OTHER_KEY.name,)
    assert check(folder, keys=OTHER_KEY.verifiers).signed_by == (OTHER_KEY.name,)


def test_an_interrupted_backup_leaves_the_last_one(folder: Path) -> None:
    store = MemoryStore()
    grow(store, 0)
    back_up(store, folder)
    before = files_of(folder)
    grow(store, 1)
    count = sum(1 for _ in parts_of(store, Have()))
    for number in range(count):

        def interrupted(have: Have, number: int = number) -> Iterator[Part]:
            for place, part in enumerate(parts_of(store, have)):
                if place == number:
                    raise KeyboardInterrupt
                yield part

        with pytest.raises(KeyboardInterrupt):
            take(folder, interrupted, clock=lambda: MADE_AT)
        assert files_of(folder) == before


def test_what_a_killed_backup_has_left_is_removed_by_the_next_one(folder: Path) -> None:
    store = MemoryStore()
    grow(store)
    folder.mkdir(exist_ok=True)
    for name in (".unfinished-000009-events.gz", f".{manifest.NAME}.new"):
        (folder / name).write_bytes(b"half")
    assert back_up(store, folder).events == store.position()
    assert not [name for name in files_of(folder) if name.startswith(".")]


def test_a_first_backup_that_comes_to_nothing_leaves_nothing(tmp_path: Path) -> None:
    store = MemoryStore()
    grow(store)

    def interrupted(have: Have) -> Iterator[Part]:
        yield from islice(parts_of(store, have), 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take(tmp_path / "a" / "b", interrupted, clock=lambda: MADE_AT)
    assert list(tmp_path.iterdir()) == []
    # A folder that was there stays, and so does a file that has its name already.
    folder = tmp_path / "there"
    folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        take(folder, interrupted, clock=lambda: MADE_AT)
    assert files_of(folder) == {}
    (folder / "000001-events.gz").write_bytes(b"whole")
    manifest.write(folder, manifest.Manifest(), ())
    with pytest.raises(KeyboardInterrupt):
        take(folder, interrupted, clock=lambda: MADE_AT)
    assert set(files_of(folder)) == {manifest.NAME, "000001-events.gz"}


@pytest.mark.parametrize("is_missing", [True, False])
def test_a_file_that_is_missing_or_cut_off_is_found_by_the_next_backup(folder: Path, *, is_missing: bool) -> None:
    store = MemoryStore()
    grow(store, 0)
    (name,) = (file for file in back_up(store, folder).new_files if "events" in file)
    content = (folder / name).read_bytes()
    (folder / name).unlink()
    if not is_missing:
        (folder / name).write_bytes(content[:-1])
    before = files_of(folder)
    grow(store, 1)
    error = failure(lambda: back_up(store, folder))
    assert error.code is Code.BACKUP_DAMAGED
    assert error.facts["path"] == str(folder / name)
    assert files_of(folder) == before
    (folder / name).write_bytes(content)
    assert back_up(store, folder).events == store.position()


def test_files_that_were_named_before_a_crash_are_never_written_over(folder: Path) -> None:
    store = MemoryStore()
    grow(store, 0)
    back_up(store, folder)
    (folder / "000077-events.gz").write_bytes(b"whole, and in no manifest")
    grow(store, 1)
    assert min(back_up(store, folder).new_files) > "000077"
    assert check(folder).events == store.position()


def test_a_folder_of_other_things_and_a_backup_without_its_manifest_are_refused(tmp_path: Path) -> None:
    store = MemoryStore()
    grow(store)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("Dear Bo")
    assert failure(lambda: back_up(store, tmp_path / "letters")).code is Code.SOURCE_UNREADABLE
    assert set(files_of(tmp_path / "letters")) == {"a.txt"}
    back_up(store, tmp_path / "backup")
    (tmp_path / "backup" / manifest.NAME).unlink()
    before = files_of(tmp_path / "backup")
    assert failure(lambda: back_up(store, tmp_path / "backup")).code is Code.BACKUP_DAMAGED
    assert files_of(tmp_path / "backup") == before


def test_two_backups_into_one_folder_do_not_meet(folder: Path) -> None:
    store = MemoryStore()
    grow(store)

    def meeting(have: Have) -> Iterator[Part]:
        assert isinstance(failure(lambda: back_up(store, folder)), Unavailable)
        yield from parts_of(store, have)

    assert take(folder, meeting, clock=lambda: MADE_AT).events == store.position()
