"""An export that is killed: the former one stays whole, and the next one goes on as if nothing had been."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest

from heptalog.analytics.parquet.exporting import exporting
from heptalog.analytics.parquet.folder import Place
from heptalog.analytics.parquet.manifest import check_files, read
from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.events import NoteAdded
from heptalog.service.store.memory import MemoryStore
from tests.analytics.exporting import InMemory, assert_same, expected, exported, log_of, more, settings, some_games

# What leaves something on the disk, or takes it away.
CALLS: Final = ("fsync", "replace", "unlink", "mkdir", "rmdir")


class Killed(BaseException):
    """Nothing that runs after it can do anything any more."""


class Killer:
    """Lets so many calls go through, and then none."""

    def __init__(self, patch: pytest.MonkeyPatch, count: int) -> None:
        self.names: list[str] = []
        self._count = count
        for name in CALLS:
            patch.setattr(os, name, self._counting(name, getattr(os, name)))

    @property
    def calls(self) -> int:
        return len(self.names)

    def _counting(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            if self.calls == self._count:
                raise Killed
            self.names.append(name)
            return call(*arguments, **named)

        return counted


@contextmanager
def killed_after(count: int) -> Iterator[Killer]:
    """Kill what is done here after so many calls."""
    with pytest.MonkeyPatch.context() as patch, suppress(Killed):
        yield Killer(patch, count)


def a_change(folder: Path) -> tuple[MemoryStore, MemoryStore]:
    """A log as it was exported into a folder, and as it is now: a game is new, and one has changed."""
    games = some_games(9, length=30, ruling_rate=0.2)[::3]
    store = log_of(games[:2])
    exported(store, folder, has_running=True)
    later = log_of([entries[:] for entries in games[:2]])
    more(later, list(games[0]), [NoteAdded("Seen.")])
    log_of(games[2:], later)
    return store, later


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_wherever_it_is_killed_there_is_a_whole_export(tmp_path: Path) -> None:
    before, after = a_change(tmp_path / "before")
    shutil.copytree(tmp_path / "before", tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch:
        killer = Killer(patch, -1)
        exported(after, tmp_path / "whole")
    assert killer.calls > 60
    rows_before, rows_after = expected(before, has_running=True), expected(after)
    seen = set()
    # A file takes a few calls, and 23 has no divisor in common with them: every kind of call is hit, at many tables.
    counts = range(0, killer.calls, 23)
    assert {killer.names[count] for count in counts} == {*killer.names}
    for count in counts:
        folder = tmp_path / f"killed-{count}"
        shutil.copytree(tmp_path / "before", folder)
        with killed_after(count):
            exported(after, folder)
        manifest = read(folder)
        check_files(folder, manifest.files)
        seen.add(manifest.position)
        # A reader that takes what is named has the one or the other, and never something between.
        named = tmp_path / f"named-{count}"
        for file in manifest.files:
            (named / file.path).parent.mkdir(parents=True, exist_ok=True)
            (named / file.path).hardlink_to(folder / file.path)
        assert_same(named, rows_after if manifest.position == after.position() else rows_before)
        # And the next one puts it in order.
        exported(after, folder)
        assert files_in(folder) == {*(file.path for file in read(folder).files), "manifest.json"}
        assert_same(folder, rows_after)
        shutil.rmtree(folder)
    assert seen == {before.position(), after.position()}


def test_a_first_export_that_is_killed_leaves_what_the_next_one_takes_away(tmp_path: Path) -> None:
    store = log_of(some_games(1, length=30))
    with pytest.MonkeyPatch.context() as patch:
        killer = Killer(patch, -1)
        exported(store, tmp_path / "whole", has_running=True)
    for count in range(1, killer.calls, 29):
        folder = tmp_path / f"killed-{count}"
        with killed_after(count):
            exported(store, folder, has_running=True)
        exported(store, folder, has_running=True)
        assert files_in(folder) == {*(file.path for file in read(folder).files), "manifest.json"}
        assert_same(folder, expected(store, has_running=True))
        shutil.rmtree(folder)


@pytest.mark.parametrize("has_running", [False, True])
def test_steps_that_were_done_are_not_done_again(tmp_path: Path, has_running: bool) -> None:
    store = log_of(some_games(6, length=200))
    done: list[int] = []

    def killing(count: int) -> None:
        done.append(count)
        if sum(done) > 500:
            raise Killed

    small = settings(step_events=200, work_events=50, has_running=has_running)
    with suppress(Killed), exporting(tmp_path, lambda place: InMemory(store), small) as work:
        work.run(killing)
    begun = read(tmp_path).position
    assert begun in (200, 400)
    with exporting(tmp_path, lambda place: InMemory(store), small) as work:
        assert work.events == store.position() - begun
        work.run()
    assert_same(tmp_path, expected(store, has_running=has_running))


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "not yet" / "export"

    def failing(place: Place) -> InMemory:
        raise Unavailable(Code.SOURCE_NOT_FOUND)

    with pytest.raises(Unavailable), exporting(folder, failing, settings()):
        pass
    assert not folder.exists()


def test_two_at_once_are_one_too_many(tmp_path: Path) -> None:
    store = log_of(some_games(1))
    with exporting(tmp_path, lambda place: InMemory(store), settings()) as work:
        with pytest.raises(Unavailable) as error:
            exported(store, tmp_path)
        assert error.value.code is Code.WRITE_FAILED
        work.run()
    assert_same(tmp_path, expected(store))


def test_a_disk_that_is_full_is_told_and_the_former_export_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = a_change(tmp_path)
    full = OSError(28, "No space left on device")

    def fails(*arguments: Any) -> None:
        raise full

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with pytest.raises(Unavailable) as error:
            exported(after, tmp_path)
    assert error.value.facts["problem"] == "No space left on device"
    assert error.value.code is Code.WRITE_FAILED
    check_files(tmp_path, read(tmp_path).files)
    assert_same(tmp_path, expected(before, has_running=True))
