"""The tables of a file where something is wrong: damage that comes later, a full disk, an end by a signal."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from heptalog.analytics.keeping import folder_of
from heptalog.analytics.keeping.follower import Follower
from heptalog.analytics.keeping.generation import Generation
from heptalog.analytics.keeping.place import MANIFEST
from heptalog.cli import tables
from heptalog.cli.asking import Wishes, opened
from heptalog.cli.temporary import temporary_folder
from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.registry import GAMES
from heptalog.service.store import space
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.space import Space
from tests.analytics.kept import files_in
from tests.cli.running import WAIT_SECONDS, run
from tests.support.recording import batches_of, recorded_game

QUESTION = "SELECT count(*) AS turns, count(DISTINCT kind) AS kinds, max(game_number) AS last FROM turns"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with a game of each kind."""
    path = tmp_path / "log.duckdb"
    with closing(DuckStore(path)) as store:
        for rules in GAMES:
            store.append(batches_of(recorded_game(rules, 1, event_count_max=60)))
    return path


def damage(database: Path) -> None:
    """Have every file of turns keep its size, and nothing else."""
    for path in files_in(folder_of(database)):
        if "/turns/" in str(path):
            path.write_bytes(bytes(path.stat().st_size))


def test_damage_of_the_right_size_is_mended_by_the_question_that_finds_it(database: Path) -> None:
    right = run("sql", database, QUESTION, "--format", "json")
    assert right.code == 0
    damage(database)
    mended = run("sql", database, QUESTION, "--format", "json")
    assert mended == (0, right.out, f"heptalog: {folder_of(database)}: a file is damaged; the tables are made anew\n")
    assert run("sql", database, QUESTION, "--format", "json") == right
    assert run("rebuild", database, "--check").code == 0


def test_damage_where_nothing_can_be_written_is_gone_around(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = run("sql", database, QUESTION, "--format", "json")
    damage(database)
    unlink = Path.unlink

    def fails(path: Path, missing_ok: bool = False) -> None:
        if path.name == MANIFEST:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", fails)
    ended = run("sql", database, QUESTION, "--format", "json")
    assert (ended.code, ended.out) == (0, right.out)


def test_a_question_that_fails_by_itself_is_not_asked_again(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Failing:
        def __init__(self, *_: object, **__: object) -> None:
            asked.append(1)
            self.position = 1

        def __enter__(self):  # type: ignore[no-untyped-def]
            raise Unavailable(Code.QUERY_FAILED, problem="its process was lost")

        def __exit__(self, *_: object) -> None: ...

        def cancel(self) -> None: ...

    monkeypatch.setattr("heptalog.cli.asking._LocalAnswer", Failing)
    with opened(str(database)) as asker, pytest.raises(Unavailable) as failure, asker.ask(QUESTION, Wishes()):
        pass
    assert (failure.value.code, len(asked)) == (Code.QUERY_FAILED, 1)


@pytest.mark.parametrize("command", [("sql", QUESTION), ("rebuild",)], ids=["sql", "rebuild"])
def test_a_disk_that_is_nearly_full_is_left_to_the_log(
    database: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(space, "space_at", lambda folder: Space(1 << 30, 50 << 20))
    ended = run(command[0], database, *command[1:])
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        "heptalog: the tables could not be written: the disk is nearly full, 50.0 MiB are left for the log, "
        f"path {folder_of(database)} [WRITE_FAILED]\n"
    )
    assert files_in(folder_of(database)) == set()
    monkeypatch.undo()
    assert run("sql", database, QUESTION).code == 0
    monkeypatch.setattr(space, "space_at", lambda folder: Space(1 << 30, 50 << 20))
    assert run("sql", database, QUESTION).code == 0, "where nothing is new nothing is to be written"


@pytest.mark.parametrize("fails", ["follower", "build"])
def test_a_disk_that_is_full_is_told_with_its_path_and_nothing_is_left_there(
    database: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    def full(method: Callable[..., object]) -> Callable[..., object]:
        def write(generation: Generation) -> object:
            method(generation)
            raise OSError(errno.ENOSPC, "Error writing bytes to file")

        return write

    if fails == "build":
        monkeypatch.setattr(Generation, "complete", lambda generation, source: _no_room())
        monkeypatch.setattr("heptalog.analytics.keeping.opening._FAR", 1)
        monkeypatch.setattr(tables, "core_count", lambda: 1)
    else:
        monkeypatch.setattr(Generation, "write", full(Generation.write))
    ended = run("sql", database, QUESTION)
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        f"heptalog: the tables could not be written: No space left on device, path {folder_of(database)} "
        "[WRITE_FAILED]\n"
    )
    assert files_in(folder_of(database)) == set()
    monkeypatch.undo()
    assert run("sql", database, QUESTION).code == 0


def _no_room() -> None:
    raise OSError(errno.ENOSPC, "Error writing bytes to file")


HOLDING = """
import sys
from heptalog.cli.temporary import temporary_folder
with temporary_folder() as folder:
    (folder / "piece").write_bytes(b"piece")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_temporary_folder_goes_with_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("whoever started the tests has it ignored, and so do their programs")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "heptalog-tables-file").write_bytes(b"")
    (tmp_path / "heptalog-tables-link").symlink_to(tmp_path.parent, target_is_directory=True)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    program = subprocess.Popen(
        [sys.executable, "-c", HOLDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
    with program:
        assert program.stdout is not None
        folder = Path(program.stdout.readline().strip())
        with temporary_folder() as beside:
            assert beside.exists()
            assert (folder / "piece").exists(), "it is held"
        program.send_signal(number)
        code = program.wait(WAIT_SECONDS)
    if number == signal.SIGKILL:
        assert folder.exists()
        with temporary_folder():
            assert not folder.exists(), "the next clears it away"
    else:
        assert code == 128 + number
        assert not folder.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["heptalog-tables-file", "heptalog-tables-link"]


def test_a_follower_that_begins_anew_and_fails_leaves_the_lock_only(tmp_path: Path, database: Path) -> None:
    with closing(DuckStore(database, is_read_only=True)) as store:
        follower = Follower(tmp_path / "tables", store)
        follower.follow()
        follower.snapshot()
        follower.abandon()
        follower.close()
    assert [path.name for path in (tmp_path / "tables").iterdir()] == ["lock"]
