"""A worker that has broken out of the engine can still do nothing but compute, answer and end."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from heptalog.analytics.asking import Workers, confining, workers
from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.errors import Code, Unavailable
from tests.analytics.asking import CANARY, LONG, fingerprint

pytestmark = pytest.mark.skipif(
    not (confining.walls() and confining.walls()[0].startswith("landlock")), reason="this kernel has no Landlock"
)


@pytest.fixture(scope="module")
def broken() -> Iterator[Workers]:
    """Workers that do by Python what they are asked."""
    with pytest.MonkeyPatch.context() as patch:
        script = Path(__file__).parent / "broken_out.py"
        patch.setattr(workers, "_COMMAND", (sys.executable, "-I", str(script)))
        with Workers(niceness=0) as broken:
            yield broken


def told(broken: Workers, attempt: str, snapshot: Snapshot) -> str:
    """What a worker tells of an attempt."""
    with broken.ask(attempt, snapshot, LONG) as answer:
        return b"".join(answer).decode()


def test_this_machine_has_both_walls(broken: Workers) -> None:
    assert broken.confinement == ("landlock 7", "seccomp") or broken.confinement[0].startswith("landlock")


def test_only_the_snapshot_can_be_read(broken: Workers, snapshot: Snapshot, asked_folder: Path) -> None:
    inside, outside = Path(snapshot.folders[0]) / "canary.csv", asked_folder / "canary.csv"
    # The folder itself is what a worker is for.
    assert CANARY in told(broken, f"read {inside}", snapshot)
    assert told(broken, f"read {outside}", snapshot).startswith("PermissionError")
    assert told(broken, f"read {inside.parent}/../canary.csv", snapshot).startswith("PermissionError")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/proc/self/environ", "/proc/1/cmdline", "/proc/self/maps", "/dev/zero", __file__]
)
def test_no_other_file_can_be_read(broken: Workers, snapshot: Snapshot, path: str) -> None:
    assert told(broken, f"read {path}", snapshot).startswith("PermissionError")


@pytest.mark.parametrize("path", ["/", "/proc", "/proc/self/fd", "/tmp", "/dev"])
def test_no_other_folder_can_be_listed(broken: Workers, snapshot: Snapshot, path: str) -> None:
    assert told(broken, f"list {path}", snapshot).startswith("PermissionError")


@pytest.mark.parametrize("attempt", ["write", "append", "truncate", "unlink", "rename"])
def test_nothing_can_be_changed(broken: Workers, snapshot: Snapshot, asked_folder: Path, attempt: str) -> None:
    before = fingerprint(asked_folder)
    for file in (asked_folder / "canary.csv", Path(snapshot.folders[0]) / "canary.csv"):
        assert told(broken, f"{attempt} {file}", snapshot).startswith("PermissionError")
    assert fingerprint(asked_folder) == before


@pytest.mark.parametrize("attempt", ["chmod", "chown", "touch", "mark"])
def test_nobody_is_locked_out(broken: Workers, snapshot: Snapshot, asked_folder: Path, attempt: str) -> None:
    for file in (asked_folder / "canary.csv", Path(snapshot.folders[0]) / "canary.csv"):
        before = file.stat()
        assert told(broken, f"{attempt} {file}", snapshot).startswith("PermissionError")
        after = file.stat()
        assert (after.st_mode, after.st_uid, after.st_mtime_ns) == (before.st_mode, before.st_uid, before.st_mtime_ns)


def test_nobody_is_kept_waiting(broken: Workers, snapshot: Snapshot) -> None:
    file = Path(snapshot.folders[0]) / "canary.csv"
    assert told(broken, f"lock {file}", snapshot).startswith("PermissionError")


@pytest.mark.parametrize("attempt", ["write", "mkdir", "symlink"])
@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm", "/var/tmp", ""])
def test_nothing_can_be_made(broken: Workers, snapshot: Snapshot, attempt: str, folder: str) -> None:
    path = Path(folder or snapshot.folders[0]) / f"made-by-{os.getpid()}"
    assert told(broken, f"{attempt} {path}", snapshot).startswith(("PermissionError", "FileNotFoundError"))
    assert not path.exists()


@pytest.mark.parametrize("attempt", ["fork", "spawn /bin/true", "execute /bin/true", f"execute {sys.executable}"])
def test_no_process_and_no_program_can_be_started(broken: Workers, snapshot: Snapshot, attempt: str) -> None:
    assert told(broken, attempt, snapshot).startswith("PermissionError")


def test_a_thread_is_as_confined(broken: Workers, snapshot: Snapshot) -> None:
    assert told(broken, "thread", snapshot) == "PermissionError"


@pytest.mark.parametrize("attempt", ["tcp", "udp 127.0.0.1", "netlink", "pair"])
def test_there_is_no_network(broken: Workers, snapshot: Snapshot, attempt: str) -> None:
    assert told(broken, attempt, snapshot).startswith("PermissionError")


def test_there_is_no_way_to_a_socket_with_a_path(broken: Workers, snapshot: Snapshot, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "here"))
        listening.listen()
        assert told(broken, f"unix {tmp_path / 'here'}", snapshot).startswith("PermissionError")


@pytest.mark.parametrize("attempt", ["signal", "stop", "trace", "renice", "limit", "pin", "pidfd"])
def test_the_service_is_out_of_reach(broken: Workers, snapshot: Snapshot, attempt: str) -> None:
    assert told(broken, f"{attempt} {os.getpid()}", snapshot).startswith(("PermissionError", "OSError: [Errno 1]"))


@pytest.mark.parametrize("attempt", ["unlimit", "unshare", "mount /mnt", "become"])
def test_nothing_that_was_given_up_comes_back(broken: Workers, snapshot: Snapshot, attempt: str) -> None:
    assert told(broken, attempt, snapshot).split(":")[0] in ("PermissionError", "OSError", "ValueError")


def test_it_was_given_nothing(broken: Workers, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    names = set(workers._ENVIRONMENT) | {"LC_CTYPE"}  # Python sets this one by itself
    assert set(eval(told(broken, "environment", snapshot))) <= names
    assert told(broken, "descriptors", snapshot) == "[0, 1, 2, 3]"
    assert told(broken, "core", snapshot) == "(0, 0)"
    assert told(broken, "dumpable", snapshot) == "0"


def test_memory_is_limited_by_the_operating_system(broken: Workers, snapshot: Snapshot) -> None:
    with broken.ask(f"memory {2 << 30}", snapshot, LONG) as answer:
        assert b"".join(answer).startswith(b"MemoryError")
    with broken.ask(f"memory {1 << 29}", snapshot, LONG) as answer:
        assert b"".join(answer).decode() == str(1 << 29)


def test_what_one_does_to_its_engine_no_other_sees(broken: Workers, snapshot: Snapshot) -> None:
    counted = "SELECT count(*) FROM duckdb_tables()"
    assert told(broken, f"sql CREATE TABLE mine AS SELECT 1; {counted}", snapshot) == "[(1,)]"
    assert told(broken, f"sql {counted}", snapshot) == "[(0,)]"


@pytest.mark.parametrize("path", ["{outside}/canary.csv", "/etc/passwd"])
def test_an_engine_that_may_read_everything_reads_nothing(
    broken: Workers, snapshot: Snapshot, asked_folder: Path, path: str
) -> None:
    sql = f"sql SELECT * FROM read_text('{path.format(outside=asked_folder)}')"
    assert "Permission" in told(broken, sql, snapshot)


def test_an_engine_that_may_write_everything_writes_nothing(
    broken: Workers, snapshot: Snapshot, asked_folder: Path
) -> None:
    before = fingerprint(asked_folder)
    for path in (asked_folder / "new.csv", Path(snapshot.folders[0]) / "new.csv"):
        assert "Exception" in told(broken, f"sql COPY (SELECT 1) TO '{path}'", snapshot)
    assert fingerprint(asked_folder) == before


@pytest.mark.parametrize("attempt", ["speak d", "speak f", "speak x", "shout", "stammer"])
def test_what_is_no_answer_is_not_taken_for_one(broken: Workers, snapshot: Snapshot, attempt: str) -> None:
    with pytest.raises(Unavailable) as failure, broken.ask(attempt, snapshot, LONG) as answer:
        list(answer)
    assert failure.value.code is Code.QUERY_FAILED


@pytest.mark.parametrize("number", [6, 9, 11])
def test_a_worker_that_ends_by_a_signal_has_no_answer(broken: Workers, snapshot: Snapshot, number: int) -> None:
    with pytest.raises(Unavailable) as failure, broken.ask(f"die {number}", snapshot, LONG) as answer:
        list(answer)
    assert failure.value.code is Code.QUERY_FAILED
    assert failure.value.facts == {"problem": f"its process was ended by signal {number}"}


def test_a_worker_that_leaves_has_no_answer(broken: Workers, snapshot: Snapshot) -> None:
    with pytest.raises(Unavailable) as failure, broken.ask("leave 0", snapshot, LONG) as answer:
        list(answer)
    assert failure.value.code is Code.QUERY_FAILED


def test_more_than_was_allowed_is_not_taken(broken: Workers, snapshot: Snapshot) -> None:
    path = next(iter(snapshot.tables.values()))[0].path
    narrow = replace(LONG, result_bytes=3)
    with pytest.raises(Unavailable) as failure, broken.ask(f"list {Path(path).parent}", snapshot, narrow) as answer:
        list(answer)
    assert failure.value.code is Code.RESULT_TOO_LARGE
