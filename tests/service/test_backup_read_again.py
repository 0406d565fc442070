"""What a backup has already is read again by the next ones: a flipped bit is found, and large folders take turns."""

from pathlib import Path

import pytest

from heptalog.replay.errors import Code
from heptalog.service.backup import manifest
from heptalog.service.backup.taking import take
from heptalog.service.store.memory import MemoryStore
from tests.service.backing import MADE_AT, back_up, failure, files_of, grow, source


@pytest.mark.parametrize("kind", ["events", "refusals", "checkpoints"])
def test_a_byte_that_flips_in_a_file_is_found_by_the_next_backup(kind: str, folder: Path) -> None:
    store = MemoryStore()
    grow(store, 0)
    (name,) = (file for file in back_up(store, folder).new_files if kind in file)
    content = (folder / name).read_bytes()
    grow(store, 1)
    for place in range(0, len(content), len(content) // 20 + 1):
        (folder / name).write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        before = files_of(folder)
        error = failure(lambda: back_up(store, folder))
        assert (error.code, error.facts["path"]) == (Code.BACKUP_DAMAGED, str(folder / name))
        assert files_of(folder) == before
    (folder / name).write_bytes(content)
    assert back_up(store, folder).events == store.position()


def test_where_there_is_more_than_is_read_again_at_once_the_next_backup_goes_on(folder: Path) -> None:
    store = MemoryStore()
    for seed in range(2):
        grow(store, seed)
        back_up(store, folder)
    found = manifest.read(folder)
    assert found is not None
    names = [segment.file for segment in found[1]]
    assert (found[0].read_again, len(names)) == (0, 6)

    def again(files: int) -> int:
        """A backup that reads so many files again; the place where the next goes on."""
        begun = manifest.read(folder)
        assert begun is not None
        places = [(begun[0].read_again + step) % len(names) for step in range(files)]
        sizes = [(folder / names[place]).stat().st_size for place in places]
        take(folder, source(store), clock=lambda: MADE_AT, read_again_bytes=sum(sizes[:-1]) + 1)
        ended = manifest.read(folder)
        assert ended is not None
        return ended[0].read_again

    assert [again(2), again(1), again(2), again(3), again(4), again(6)] == [2, 3, 5, 2, 0, 0]
    # One after the other, each is come by: a damage is found as soon as its turn comes, and not before.
    damaged = folder / names[2]
    content = damaged.read_bytes()
    damaged.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
    assert [again(1), again(1)] == [1, 2]
    before = files_of(folder)
    for _ in range(2):
        error = failure(lambda: again(1))
        assert (error.code, error.facts["path"]) == (Code.BACKUP_DAMAGED, str(damaged))
    assert files_of(folder) == before
    damaged.write_bytes(content)
    assert [again(1) for _ in range(4)] == [3, 4, 5, 0]
