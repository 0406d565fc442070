"""Databases of every schema that was ever released, for ever: they open, go forward, and are what they were.

`logs/0001` has what a killed server of schema 0001 left: the database and its write-ahead log, which belong together.
`log.jsonl` beside them is what they came to by the code that made them (`tests/support/logs.py`). None of them is ever
edited. A release with a further migration brings the folder of the schema before it.
"""

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest

from heptalog.replay.errors import Code, HeptalogError, Unavailable
from heptalog.replay.events import MovesRetracted, NoteAdded
from heptalog.replay.sentences import sentence
from heptalog.service.store import migrate
from heptalog.service.store.duck import DuckStore
from tests.cli.running import run
from tests.service.asking import new_game
from tests.support.logs import told
from tests.support.serving import Service

ROOT: Final = Path(__file__).parent.parent.parent
LOGS: Final = Path(__file__).parent / "logs"
FOLDERS: Final = sorted(LOGS.iterdir())
each_log = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def unpacked(folder: Path, into: Path) -> Path:
    """A golden log as it lay on the disk."""
    into.mkdir(exist_ok=True)
    for packed in folder.glob("*.gz"):
        (into / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return into / "log.duckdb"


def expected(folder: Path) -> list[Any]:
    """What the log came to by the code that made it."""
    return [json.loads(line) for line in (folder / "log.jsonl").read_bytes().splitlines()]


def check_told(path: Path, lines: list[Any]) -> None:
    """The log comes to what it came to; outcomes and views may say more than they did, and nothing else may."""
    store = DuckStore(path)
    try:
        now = json.loads(json.dumps(list(told(store))))
    finally:
        store.close()
    assert len(now) == len(lines)
    for line, then in zip(now, lines, strict=True):
        for name in ("outcomes", "view"):
            if name in then:
                assert still_says(line.pop(name), then[name]), (line, name)
        assert line == {name: value for name, value in then.items() if name not in ("outcomes", "view")}


def still_says(now: Any, then: Any) -> bool:
    """Whether everything that was said is still said; a field may have been added."""
    if isinstance(then, dict):
        return isinstance(now, dict) and all(name in now and still_says(now[name], then[name]) for name in then)
    if isinstance(then, list):
        return isinstance(now, list) and len(now) == len(then) and all(map(still_says, now, then))
    return bool(now == then)


def test_every_schema_before_the_newest_has_its_log() -> None:
    older = [f"{step.number:04d}" for step in migrate.migrations()[:-1]]
    missing = set(older) - {folder.name for folder in FOLDERS}
    assert not missing, "a migration is released with a log of the schema before it, made by the code before it"


@each_log
def test_a_log_is_what_it_was(folder: Path, tmp_path: Path) -> None:
    path = unpacked(folder, tmp_path)
    check_told(path, expected(folder))
    # Once more, now that it is of today's schema, and only for reading.
    verified = run("verify", path, "--format", "jsonl")
    (log, *_) = expected(folder)
    assert (verified.code, len(verified.lines)) == (0, log["log"]["games"])
    assert sum(verdict["events"] for verdict in verified.lines) == log["log"]["events"]


@each_log
def test_a_log_goes_on(folder: Path, tmp_path: Path) -> None:
    path = unpacked(folder, tmp_path)
    lines = expected(folder)
    total = lines[0]["log"]["events"]
    games = [line["game"] for line in lines if "game" in line]
    with Service(DuckStore(path)) as service:
        client = service.client()
        for game in games:
            recorder = client.resume(game["id"])
            assert (recorder.head.sequence, recorder.head.hash.hex()) == (
                game["head"]["sequence"],
                game["head"]["hash"],
            )
            recorder.append(NoteAdded("It goes on."), MovesRetracted(game["head"]["sequence"]))
        new_game(client, "another", remark_count=2)
        assert [stored.position for stored in client.read()] == list(range(1, total + 2 * len(games) + 4))
    ended = run("verify", path, "--format", "jsonl")
    assert ended.code == 0, ended.out
    assert [verdict["events"] for verdict in ended.lines] == [game["head"]["sequence"] + 3 for game in games] + [3]


@each_log
def test_an_older_schema_that_is_only_read_says_what_to_do(folder: Path, tmp_path: Path) -> None:
    path = unpacked(folder, tmp_path)
    before = _files(tmp_path)
    with pytest.raises(Unavailable) as refused:
        DuckStore(path, is_read_only=True)
    assert refused.value.code is Code.SOURCE_UNREADABLE
    assert "serve or import into it once" in sentence(refused.value)
    for arguments in (
        ("verify", path),
        ("games", path),
        ("sql", path, "SELECT 1"),
        ("replay", f"{path}#live-seven_up"),
    ):
        ended = run(*arguments)
        assert ended.code == 3
        assert "serve or import into it once" in ended.out + ended.err
    assert _files(tmp_path) == before


# A step that nobody has released, after those there are: what is true of it is true of any.
LATER: Final = """
CREATE TABLE log.later AS SELECT count(*) AS events FROM log.events;
ALTER TABLE log.refusals ADD COLUMN later INTEGER;
"""
KILLED: Final = """
import os, signal, sys
from pathlib import Path
from heptalog.service.store import migrate

class Killing:
    def __init__(self, connection, left):
        self._connection, self._left, self._begun = connection, left, False

    def execute(self, statement, *parameters):
        self._begun |= statement == "BEGIN"
        if self._begun:
            if not self._left:
                os.kill(os.getpid(), signal.SIGKILL)
            self._left -= 1
        return self._connection.execute(statement, *parameters)

path, left, number, name, later = sys.argv[1:]
steps = (*migrate.migrations(), migrate.Migration(int(number), name, later))
whole = migrate.migrate
migrate.migrations = lambda: steps
migrate.migrate = lambda connection, steps: whole(Killing(connection, int(left)), steps)
migrate.open_database(Path(path), is_read_only=False).close()
"""


def with_later(statements: str = LATER) -> tuple[migrate.Migration, ...]:
    """The steps there are, and one more."""
    steps = migrate.migrations()
    number = len(steps) + 1
    return (*steps, migrate.Migration(number, f"{number:04d}_later.sql", statements))


@each_log
def test_a_migration_that_is_killed_anywhere_is_done_or_not_begun(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = with_later()
    first = int(folder.name)
    lines = expected(folder)
    ends: list[int] = []
    for left in range(4 * (len(steps) - first) + 2):
        path = unpacked(folder, tmp_path / str(left))
        later = steps[-1]
        program = [sys.executable, "-c", KILLED, str(path), str(left), str(later.number), later.name, later.statements]
        done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
        if not done.returncode:
            break
        assert done.returncode == -9, done.stderr
        ends.append(_applied(path))
        if ends[-1] == len(steps):
            # It has reached what this version does not know, which leaves it alone.
            before = _files(path.parent)
            with pytest.raises(Unavailable) as refused:
                DuckStore(path)
            assert refused.value.code is Code.DATABASE_NEWER
            assert _files(path.parent) == before
        elif len(ends) == 1 or ends[-1] != ends[-2]:
            check_told(path, lines)
        with monkeypatch.context() as patched:
            patched.setattr(migrate, "migrations", lambda: steps)
            DuckStore(path).close()
        assert _applied(path) == len(steps)
    # Each step is begun, written, noted and committed; killed before any of these it is as if it had not begun.
    assert ends == [first + step for step in range(len(steps) - first) for _ in range(4)]


@each_log
def test_a_migration_that_fails_leaves_the_database_as_it_was(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unpacked(folder, tmp_path)
    steps = with_later("CREATE TABLE log.later (a INTEGER); SELECT nothing FROM log.nowhere")
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "migrations", lambda: steps)
        for _ in range(2):
            with pytest.raises(HeptalogError) as failed:
                DuckStore(path)
            assert failed.value.code is Code.SOURCE_UNREADABLE
    check_told(path, expected(folder))


def _applied(path: Path) -> int:
    """How many steps a database has, looked at in a copy."""
    with tempfile.TemporaryDirectory() as folder:
        for file in path.parent.iterdir():
            shutil.copy(file, folder)
        with duckdb.connect() as connection:
            connection.execute("ATTACH ? AS ours", [str(Path(folder) / path.name)])
            ((count,),) = connection.execute("SELECT count(*) FROM ours.log.migrations").fetchall()
    return int(count)


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}
