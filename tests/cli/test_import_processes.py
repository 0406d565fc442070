"""Importing and exporting many games: in order and the same in any number of processes, whole games or nothing."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Final

import pytest

from heptalog.cli.connections import Connections
from heptalog.cli.databases import Database
from heptalog.cli.exporting import exported
from heptalog.cli.files import FileGame
from heptalog.cli.importing import databases, preparing
from heptalog.cli.importing.databases import DatabaseLog
from heptalog.cli.importing.games import Import, imported
from heptalog.cli.importing.preparing import Prepared, outcome_of
from heptalog.cli.sources import all_games
from heptalog.replay.codec import decode
from heptalog.replay.errors import Code
from heptalog.replay.gamefile import encode_line, read_events
from heptalog.service.store.duck import DuckStore
from tests.cli.given import BRIDGE, ROCKS, UP, bad, bare, changed, folder_of_games, whole, write
from tests.cli.running import only, run

# Imports the folder, and is gone in the middle of the third commit: once before it is durable, once after.
VICTIM: Final = """
import os, sys
from pathlib import Path
from heptalog.cli.importing import databases
from heptalog.cli.app import app
from heptalog.service.store.duck import DuckStore

append, count = DuckStore.append_games, 0

def dying(store, games, refusals=()):
    global count
    count += 1
    if count == 3 and sys.argv[3] == "before":
        store._writer._transact = lambda statements: (
            store._writer.connection.execute("BEGIN"),
            [run() for run in statements],
            os.kill(os.getpid(), 9),
        )
    heads = append(store, games, refusals)
    if count == 3:
        os.kill(os.getpid(), 9)
    return heads

DuckStore.append_games = dying
databases._GROUP_EVENTS = 100
app(["import", sys.argv[1], "--into", sys.argv[2]])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Games of each kind, bare and whole; among them bad ones, and one twice."""
    place = folder_of_games(tmp_path / "games", count=4)
    write(place / "a" / "bad.jsonl", bad(bare(BRIDGE, 8)))
    write(place / "b" / "whole.jsonl", whole(UP, game_id="table-9"))
    write(place / "b" / "longer.jsonl", whole(UP, length=90, game_id="table-9"))
    write(place / "c" / "again.jsonl", bare(ROCKS, 1, length=41, with_rulings=True))
    (place / "d").mkdir()
    (place / "d" / "torn.jsonl").write_bytes(bare()[0] + b"\n{")
    return place


def into(path: Path, *sources: object, jobs: int) -> list[Import]:
    """What an import by so many processes came to."""
    with Connections() as connections, closing(DatabaseLog(path)) as log:
        games = all_games(map(str, sources), connections)
        return list(imported(games, connections, lambda: log, jobs=jobs))


def contents(path: Path) -> dict[str, list[bytes]]:
    """The lines of every game of a database, in the order of creation, without what is never the same again."""
    found: dict[str, list[bytes]] = {}
    with closing(DuckStore(path, is_read_only=True)) as store:
        for stored in store.read_all():
            event, _ = decode(stored.record)
            line = changed(encode_line(event), lambda tree: [tree.pop(name) for name in ("recordedAt", "previousHash")])
            found.setdefault(stored.game_id, []).append(line.partition(b'"hash"')[0])
    return found


@pytest.fixture
def spread_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few games are many: they are worked on in other processes, a few at a time."""
    from heptalog.cli import spreading

    monkeypatch.setattr(spreading, "SMALL_SIZE", 0)
    monkeypatch.setattr(spreading, "SMALL_COUNT", 2)
    monkeypatch.setattr(spreading, "_CHUNK_COUNT", 3)


@pytest.mark.usefixtures("spread_out")
def test_any_number_of_processes_brings_the_same(folder: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.duckdb", tmp_path / "two.duckdb"
    missing = tmp_path / "missing.jsonl"
    alone = into(one, folder, missing, jobs=1)
    together = into(two, folder, missing, jobs=2)
    assert alone == together
    assert [result.code for result in alone if not result.ok] == [
        Code.ALREADY_STARTED,
        Code.NOT_JSON,
        Code.SOURCE_NOT_FOUND,
    ]
    assert [(result.added, result.known) for result in alone if result.game_id == "table-9"] == [(90, 0), (0, 60)]
    assert contents(one) == contents(two)
    assert list(contents(one)) == list(dict.fromkeys(result.game_id for result in alone if result.ok))
    again = into(two, folder, jobs=2)
    assert all(result.added == 0 for result in again)
    assert sum(result.known for result in again) == sum(result.added + result.known for result in alone)
    assert run("verify", two).code == 0


@pytest.mark.usefixtures("spread_out")
def test_what_comes_through_a_pipe_is_read_by_who_has_it(folder: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=lambda: write(pipe, whole(game_id="piped")), daemon=True)
    writer.start()
    results = into(tmp_path / "log.duckdb", folder / "seven_up", pipe, folder / "seven_rocks", jobs=2)
    writer.join()
    assert [result.source.endswith("pipe") for result in results] == [False] * 4 + [True] + [False] * 4
    assert (results[4].game_id, results[4].added) == ("piped", 60)


@pytest.mark.usefixtures("spread_out")
def test_from_one_database_to_another(folder: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.duckdb", tmp_path / "two.duckdb"
    into(one, folder, jobs=1)
    results = into(two, one, jobs=2)
    assert all(result.ok for result in results)
    assert run("export", one, "--out", tmp_path / "out-1").code == run("export", two, "--out", tmp_path / "out-2").code
    assert lines_in(tmp_path / "out-1") == lines_in(tmp_path / "out-2")


@pytest.mark.usefixtures("spread_out")
@pytest.mark.parametrize("viewer", ["arbiter", "public", "seat:0"])
def test_any_number_of_processes_exports_the_same(viewer: str, folder: Path, tmp_path: Path) -> None:
    database = tmp_path / "log.duckdb"
    into(database, folder, jobs=1)
    for jobs in (1, 2):
        (tmp_path / f"out-{jobs}").mkdir()
        with Connections() as connections:
            games = Database(database).games(connections)
            results = list(exported(games, viewer, tmp_path / f"out-{jobs}", connections, jobs=jobs))
        assert {result.problem for result in results} == {""}
    assert len(lines_in(tmp_path / "out-1")) == 13
    assert lines_in(tmp_path / "out-1") == lines_in(tmp_path / "out-2")
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "out-2").iterdir()}
    mask = os.umask(0)
    os.umask(mask)
    assert modes == {0o666 & ~mask}


def lines_in(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("moment", ["before", "after"])
def test_who_is_killed_leaves_whole_games(moment: str, folder: Path, tmp_path: Path) -> None:
    database = tmp_path / "log.duckdb"
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, folder, database, moment], stderr=subprocess.DEVNULL, check=False
    )
    assert done.returncode == -signal.SIGKILL
    left = contents(database)
    assert 0 < len(left) < 13
    results = into(database, folder, jobs=1)
    for result in results:
        if result.ok and result.source.split("/")[-1] != "whole.jsonl":
            # Nothing of it, or all.
            expected = (0, len(left[result.game_id])) if result.game_id in left else (result.added, 0)
            assert (result.added, result.known) == expected, result
    assert contents(database) == contents_of_fresh(folder, tmp_path / "fresh.duckdb")
    assert run("verify", database).code == run("audit", database).code == 0


def contents_of_fresh(folder: Path, path: Path) -> dict[str, list[bytes]]:
    """What an import without a mishap brings."""
    into(path, folder, jobs=1)
    return contents(path)


def test_groups_are_written_as_they_fill(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    append = DuckStore.append_games

    def counted(store: DuckStore, games: list[object], refusals: object = ()) -> object:
        sizes.append(len(games))
        return append(store, games, refusals)  # type: ignore[arg-type]  # passed on as it comes

    monkeypatch.setattr(DuckStore, "append_games", counted)
    monkeypatch.setattr(databases, "_GROUP_EVENTS", 100)
    told = 0
    with Connections() as connections, closing(DatabaseLog(tmp_path / "log.duckdb")) as log:
        for told, _ in enumerate(imported(all_games([str(folder)], connections), connections, lambda: log, jobs=1), 1):
            # What is told is in the log already.
            assert told <= sum(sizes) + 2
    assert len(sizes) > 4
    assert told == 17


def sent_of(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """The lines of a file beside those that a log would compare."""
    with Connections() as connections:
        made = outcome_of(FileGame(path), connections)
    assert isinstance(made, Prepared)
    yield from zip(path.read_bytes().splitlines(), map(encode_line, made.sent()), strict=True)


def test_a_log_compares_what_the_source_has(tmp_path: Path) -> None:
    for line, sent in sent_of(write(tmp_path / "whole.jsonl", whole(BRIDGE))):
        assert sent == line
    for line, sent in sent_of(write(tmp_path / "bare.jsonl", bare(BRIDGE))):
        (given,), (compared,) = read_events([line]), read_events([sent])
        assert (compared.body, compared.recorded_at, compared.hash) == (given.body, 0, b"")
        assert compared.event_id
    # Some of it is there: every other time, and of the hands that were dealt the first seal.
    lines = [changed(line, lambda tree: tree.pop("recordedAt") if tree["sequence"] % 2 else None) for line in whole(UP)]
    dealt = next(place for place, line in enumerate(lines) if b"cardsDealt" in line)
    lines[dealt] = changed(lines[dealt], lambda tree: [hand.pop("seal") for hand in tree["cardsDealt"]["hands"][1:]])
    lines = [changed(line, lambda tree: [tree.pop(name) for name in ("hash", "previousHash")]) for line in lines]
    for line, sent in sent_of(write(tmp_path / "mixed.jsonl", lines)):
        assert list(read_events([sent])) == list(read_events([line]))


def test_a_game_that_is_too_long_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "EVENTS_PER_GAME_MAX", 20)
    long, short = write(tmp_path / "long.jsonl", bare(length=21)), write(tmp_path / "short.jsonl", bare(length=20))
    ended = run("import", long, "--into", tmp_path / "log.duckdb", "--format", "jsonl")
    told = only(ended.lines)
    assert (ended.code, told["code"], told["sequence"]) == (1, Code.GAME_TOO_LONG, 20)
    assert not (tmp_path / "log.duckdb").exists()
    assert run("import", short, "--into", tmp_path / "log.duckdb").code == 0
