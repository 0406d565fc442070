"""Every file of the tables is read again, a little at a time, and no flipped bit is passed over."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import msgspec
import pytest

from heptalog.analytics.keeping import Follower, build, due, opened
from heptalog.analytics.keeping import manifest as manifests
from heptalog.analytics.keeping.manifest import PIECE_SIZE, first_damaged, named, store, written
from heptalog.analytics.keeping.place import MANIFEST, current
from heptalog.analytics.keeping.scrubbing import OPENING_SIZE, Progress
from heptalog.analytics.keeping.segments import Damaged
from heptalog.analytics.keeping.series import Series
from heptalog.analytics.keeping.shelf import rows_in
from heptalog.replay.errors import Unavailable
from heptalog.replay.registry import GAMES
from heptalog.service.store.memory import MemoryStore
from tests.analytics.kept import (
    BOOT,
    LOG,
    files_in,
    following,
    generation_of,
    log_of,
    refused,
    rows_now,
    rows_of,
    rows_of_log,
    same,
    silently,
)
from tests.support.recording import batches_of, recorded_game

STEP = 64 * 1024
ALL = 1 << 40


@pytest.fixture
def log() -> MemoryStore:
    """Games of each kind, one of them to its end, and a refusal: so that every table of the tables has a file."""
    log = log_of(*LOG, recorded_game(GAMES[0], 4))
    log.append([], [refused(batches_of(LOG[0], 20)[0])])
    return log


@pytest.fixture
def follower(tmp_path: Path, log: MemoryStore) -> Follower:
    """Tables that are kept, on disk as far as they go."""
    follower = following(tmp_path / "tables", log)
    follower.release(follower.snapshot())
    while follower.rest():
        pass
    return follower


@pytest.fixture
def folder(tmp_path: Path, follower: Follower) -> Path:
    """Where they are."""
    assert follower.position
    return tmp_path / "tables"


def round_of(follower: Follower, size: int = STEP) -> list[Progress]:
    """All steps of a round, or as far as it comes."""
    steps = [follower.scrub(size)]
    while not steps[-1].is_over:
        steps.append(follower.scrub(size))
    return steps


def flip(path: Path, place: int, bit: int = 0) -> None:
    """Have a bit of a file be another, without changing anything else of it."""
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))


def test_one_flipped_bit_in_any_file_is_found_by_one_round(folder: Path, follower: Follower) -> None:
    random = Random("flips")
    generation = generation_of(folder)
    found = opened(folder, log_of(), boot=BOOT).manifest
    assert found is not None
    files = named(found, generation)
    assert {path for path, _ in files} == files_in(folder)
    everything = {path for path in folder.rglob("*") if path.is_file()}
    left = everything - files_in(folder) - {generation / MANIFEST}
    assert [(path.name, path.stat().st_size) for path in left] == [("lock", 0)], "nothing can flip in it"
    # The rounds themselves, without what a follower does of one that finds something.
    scrub = follower._scrub
    for path in sorted(everything - left):
        size = path.stat().st_size
        for place in (0, size - 1, random.randrange(size)):
            bit = random.randrange(8)
            flip(path, place, bit)
            assert scrub.step(generation, ALL).damaged == path.name, (path, place, bit)
            flip(path, place, bit)
    assert scrub.step(generation, ALL) == round_of(follower, ALL)[-1]


def test_one_flipped_bit_anywhere_in_a_file_is_found_by_reading_it(folder: Path) -> None:
    random = Random("places")
    manifest = written(generation_of(folder))
    assert manifest is not None
    path, kept = min(named(manifest, generation_of(folder)), key=lambda file: file[1].size)
    for place in range(kept.size):
        bit = random.randrange(8)
        flip(path, place, bit)
        with pytest.raises(Damaged):
            list(manifests.read_whole(path, kept))
        flip(path, place, bit)
    assert sum(manifests.read_whole(path, kept)) == kept.size


def test_a_manifest_with_a_flipped_bit_is_none_or_says_the_same(folder: Path) -> None:
    random = Random("manifests")
    path = generation_of(folder) / MANIFEST
    whole = written(generation_of(folder))
    assert whole is not None
    for place in range(0, path.stat().st_size, 3):
        bit = random.randrange(8)
        flip(path, place, bit)
        other = written(generation_of(folder))
        assert other is None or msgspec.structs.replace(other, seal="") == msgspec.structs.replace(whole, seal="")
        flip(path, place, bit)
    assert written(generation_of(folder)) == whole


def test_a_manifest_of_a_program_that_made_no_seals_is_gone_on_with(folder: Path, log: MemoryStore) -> None:
    path = generation_of(folder) / MANIFEST
    whole = written(generation_of(folder))
    assert whole is not None
    assert whole.seal
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(whole, seal="")).replace(b',"seal":""', b""))
    assert b"seal" not in path.read_bytes()
    assert due(opened(folder, log, boot=BOOT), log) == 0


def test_a_manifest_that_is_damaged_is_found_before_somebody_opens_it(
    folder: Path, follower: Follower, log: MemoryStore
) -> None:
    path = generation_of(folder) / MANIFEST
    flip(path, path.stat().st_size // 2)
    assert follower.scrub(STEP).damaged == MANIFEST
    follower.close()
    assert rows_now(following(folder, log)) == rows_of_log(log)


@pytest.mark.parametrize("size", [1, 10_000, STEP, ALL])
def test_a_round_ends_and_no_step_is_longer_than_it_may(follower: Follower, folder: Path, size: int) -> None:
    total = sum(OPENING_SIZE + path.stat().st_size for path in files_in(folder))
    for _ in range(2):
        steps = round_of(follower, size)
        assert sum(step.read for step in steps) == total
        assert {step.total for step in steps} == {total}
        assert not any(step.damaged for step in steps)
        longest = max(step.read for step in steps)
        assert longest < size + max(PIECE_SIZE, OPENING_SIZE)
        assert len(steps) <= total // size + 2


def test_a_large_file_takes_several_steps(tmp_path: Path, follower: Follower) -> None:
    path = tmp_path / "large"
    path.write_bytes(bytes(5 * PIECE_SIZE // 2))
    kept = manifests.Kept(1, path.stat().st_size, "0" * 64)
    pieces = manifests.read_whole(path, kept)
    assert [next(pieces) for _ in range(3)] == [PIECE_SIZE, PIECE_SIZE, PIECE_SIZE // 2]
    with pytest.raises(Damaged):
        next(pieces)
    assert round_of(follower)[-1].is_over


@pytest.mark.parametrize("change", [Path.unlink, lambda path: flip(path, 40), lambda path: path.write_bytes(b"")])
def test_what_is_damaged_is_told_once_and_made_anew(
    folder: Path, follower: Follower, log: MemoryStore, change: Callable[[Path], object]
) -> None:
    right = rows_of_log(log)
    victim = max(files_in(folder))
    change(victim)
    *fine, last = round_of(follower)
    assert not any(step.damaged for step in fine)
    assert last.damaged == victim.name
    with pytest.raises(Unavailable):
        follower.scrub(STEP)
    with pytest.raises(Unavailable):
        follower.snapshot()
    follower.close()
    assert current(folder) is None
    again = following(folder, log)
    assert rows_now(again) == right
    assert not any(step.damaged for step in round_of(again))


def test_a_wrong_number_without_an_error_is_found(folder: Path, follower: Follower, log: MemoryStore) -> None:
    """The case that this is for: a page that says something else, and reads as well as any."""
    right = rows_of_log(log)
    random = Random("wrong")
    path = min(path for path in files_in(folder) if "/games/" in str(path))
    with_wrong = 0
    for _ in range(12):
        place, bit = random.randrange(path.stat().st_size), random.randrange(8)
        flip(path, place, bit)
        with suppress(Exception):
            with_wrong += rows_now(follower) != right
        assert follower._scrub.step(generation_of(folder), ALL).damaged == path.name
        flip(path, place, bit)
    assert with_wrong, "such a bit is not rare"


def grown(follower: Follower, log: MemoryStore) -> None:
    """Record games one after the other, a moment of each, until some of the files are merged into others."""
    for seed in range(20, 32):
        log.append(batches_of(recorded_game(GAMES[0], seed, event_count_max=9)))
        while follower.follow():
            pass
        follower.release(follower.snapshot())
    while follower.rest():
        pass


def test_what_is_merged_in_the_middle_of_a_round_is_no_damage(
    folder: Path, follower: Follower, log: MemoryStore
) -> None:
    before = files_in(folder)
    assert not follower.scrub(1).is_over
    grown(follower, log)
    assert before - files_in(folder), "some are gone"
    assert not any(step.damaged for step in round_of(follower))
    assert not any(step.damaged for step in round_of(follower))
    assert rows_now(follower) == rows_of_log(log)


def test_the_files_of_a_moment_that_is_read_are_read_again_though_newer_took_their_place(
    folder: Path, follower: Follower, log: MemoryStore
) -> None:
    snapshot = follower.snapshot()
    rows = rows_of(snapshot)
    grown(follower, log)
    now = {path for path, _ in named(follower._generation.manifest(), generation_of(folder))}
    victim = min(files_in(folder) - now)
    assert rows_of(snapshot) == rows
    flip(victim, victim.stat().st_size // 2)
    assert round_of(follower)[-1].damaged == victim.name


def test_who_ends_in_the_middle_of_a_round_has_lost_nothing(folder: Path, follower: Follower, log: MemoryStore) -> None:
    victim = max(files_in(folder))
    flip(victim, victim.stat().st_size // 2)
    assert not follower.scrub(1).damaged
    # As a process that is killed: nothing is written, and what it held is free.
    follower._is_open = False
    follower.close()
    again = Follower(folder, log, boot=BOOT)
    assert again.position == log.position(), "of the right size and boot, it is believed"
    assert round_of(again)[-1].damaged == victim.name
    again.close()
    last = following(folder, log)
    assert rows_now(last) == rows_of_log(log)


def test_a_folder_that_is_deleted_comes_back_by_itself(folder: Path, follower: Follower, log: MemoryStore) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
    assert follower.scrub(ALL).damaged == MANIFEST
    follower.close()
    assert rows_now(following(folder, log)) == rows_of_log(log)


def test_tables_that_were_made_beside_these_are_no_damage(folder: Path, follower: Follower, log: MemoryStore) -> None:
    build(folder, lambda: same(log), processes=1, tell=silently)
    for _ in range(3):
        assert follower.scrub(ALL) == Progress(is_over=False)
    while follower.follow():
        pass
    assert follower.scrub(ALL).is_over
    assert rows_now(follower) == rows_of_log(log)


def test_after_a_start_of_the_machine_no_file_is_read_twice(
    folder: Path, follower: Follower, log: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower.close()
    read: list[Path] = []
    whole = manifests.read_whole

    def counting(path: Path, kept: manifests.Kept):  # type: ignore[no-untyped-def]
        read.append(path)
        return whole(path, kept)

    monkeypatch.setattr(manifests, "read_whole", counting)
    found = opened(folder, log, boot="the next one")
    Follower(folder, log, found=found, boot="the next one").close()
    assert sorted(read) == sorted(files_in(folder))
    Follower(folder, log, boot="the next one").close()
    assert len(read) == len(files_in(folder)), "it is written down that they were"


def test_what_has_changed_since_it_was_looked_at_is_looked_at_again(
    folder: Path, follower: Follower, log: MemoryStore
) -> None:
    follower.close()
    found = opened(folder, log, boot="the next one")
    manifest = written(generation_of(folder))
    assert manifest is not None
    victim, kept = named(manifest, generation_of(folder))[0]
    flip(victim, kept.size // 2)
    store(msgspec.structs.replace(manifest, number=manifest.number + 1), generation_of(folder))
    assert opened(folder, log, boot="the next one", known=found).why_anew == "they are damaged, or of another form"
    assert first_damaged(manifest, generation_of(folder), is_read=True) == victim


def test_a_flipped_bit_is_never_merged_wherever_it_is(folder: Path, follower: Follower) -> None:
    """Pages have sums of their own; what stands around them, which says how to read them, has none but the file's."""
    random = Random("merged")
    found = written(generation_of(folder))
    assert found is not None
    segment = found.segments[0]
    whole = rows_in(generation_of(folder), [segment])
    assert whole["games"].num_rows == segment.games
    for table in segment.files:
        path = segment.path(generation_of(folder), table)
        size = path.stat().st_size
        for place in [random.randrange(size) for _ in range(10)] + [
            size - 9 - random.randrange(200) for _ in range(10)
        ]:
            flip(path, place)
            with pytest.raises(Damaged):
                rows_in(generation_of(folder), [segment])
            flip(path, place)
    chunk = found.refused[0]
    series = Series(generation_of(folder), "refusals", "refusal_number", [chunk, chunk], lambda: 99)
    flip(chunk.path(generation_of(folder), "refusals"), chunk.kept.size - 20)
    with pytest.raises(Damaged):
        series.tidy(patience=0)
