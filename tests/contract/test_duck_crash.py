"""Crashes: a writer is killed, or its disk is full, and every event that it acknowledged is there, once, in order."""

import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, Corrupt
from heptalog.replay.verify import verify
from heptalog.service.store.duck import DuckStore
from tests.contract.given import appended, as_stored, begin, game
from tests.support.recording import batch_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("commit_count", [1, 7, 40])
def test_a_killed_writer_loses_nothing_that_it_acknowledged(path: Path, commit_count: int) -> None:
    acknowledged: list[tuple[str, int, int, str]] = []
    command = [sys.executable, "-m", "tests.contract.writing", str(path), "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        commits = 0
        # It is killed while it goes on, and what it has said by then is read to the end.
        for line in process.stdout:
            if line == "commit\n":
                commits += 1
                if commits == commit_count:
                    process.kill()
            elif line.endswith("\n"):
                game_id, sequence, position, digest = line.split()
                acknowledged.append((game_id, int(sequence), int(position), digest))
    store = DuckStore(path)
    stored = list(store.read_all())
    assert [one.position for one in stored] == list(range(1, len(stored) + 1))
    there = {(one.game_id, one.sequence, one.position, decode(one.record)[0].hash.hex()) for one in stored}
    assert commits >= commit_count
    assert set(acknowledged) <= there
    # A commit is there whole or not at all, so at most one of them was not acknowledged.
    assert len(stored) - max(position for _, _, position, _ in acknowledged) <= 5 * 4
    for game_id, records in groupby(
        sorted(stored, key=lambda one: (one.game_id, one.sequence)), lambda one: one.game_id
    ):
        number = int(game_id.removeprefix("game-"))
        written = [one.record for one in records]
        assert written == [entry.record for entry in game(number, length=40)[: len(written)]]
        assert verify((decode(record)[0], None) for record in written).ok
        head = store.head(game_id)
        assert head is not None
        assert head.sequence == len(written) - 1
    appended(store, begin(1_000))
    store.close()


@pytest.mark.parametrize("is_read_only", [False, True])
def test_a_write_ahead_log_that_is_damaged_in_the_middle_is_corrupt(path: Path, *, is_read_only: bool) -> None:
    """What follows the damage was acknowledged, so the log is not opened without it in silence."""
    wal = _killed(path)
    damaged = bytearray(wal.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    wal.write_bytes(damaged)
    with pytest.raises(Corrupt) as caught:
        DuckStore(path, is_read_only=is_read_only)
    assert caught.value.code is Code.RECORD_DAMAGED
    assert wal.read_bytes() == damaged


def _killed(path: Path) -> Path:
    """Make a database whose writer was killed after seven commits; where its write-ahead log is."""
    command = [sys.executable, "-m", "tests.contract.writing", str(path), "7"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        commits = 0
        while commits < 7:
            line = process.stdout.readline()
            assert line, "the writer ended by itself"
            commits += line == "commit\n"
        process.kill()
    return path.with_name(path.name + ".wal")


FULL_DISK = """
import os, resource, signal, sys
from heptalog.replay.errors import Unavailable
from heptalog.service.store.duck import DuckStore
from tests.contract.given import appended, begin, game
from tests.support.recording import batch_of
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = DuckStore(sys.argv[1])
appended(store, batch_of(game(1)))
size = os.path.getsize(sys.argv[1] + ".wal")
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 2_000, resource.RLIM_INFINITY))
try:
    store.append([batch_of(game(number, length=100)) for number in range(2, 9)])
except Unavailable as error:
    print(error.code)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
try:
    appended(store, begin(9))
    print("goes on")
except Unavailable as error:
    print(error.code)
os._exit(0)
"""


def test_a_full_disk_fails_the_commit_and_loses_nothing(path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    first, second = result.stdout.split("\n", 1)
    assert first == "WRITE_FAILED"
    store = DuckStore(path)
    written = as_stored([*game(1), game(9)[0]] if second == "goes on\n" else game(1))
    assert list(store.read_all()) == written
    appended(store, batch_of(game(2)))
    store.close()
