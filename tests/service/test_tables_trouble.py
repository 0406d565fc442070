"""Whatever happens to the tables, recording goes on; and a question has its answer again, or one clear error."""

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from heptalog.analytics.keeping.place import folder_of
from heptalog.replay.errors import Code, Unavailable
from heptalog.service.appends import Append
from heptalog.service.client import Client
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.space import Space
from heptalog.service.tables import tables as keeping
from heptalog.service.tables.process import Process
from heptalog.service.tables.room import check_room
from tests.service.asking import check_record, new_game, remark
from tests.service.backing import grow
from tests.service.querying import failure, settings, tables_of, value
from tests.support.serving import WAIT_SECONDS, Service
from tests.trials.disks import small_disk, why_not

pytestmark = pytest.mark.usefixtures("lent_workers")
EVENTS: Final = "SELECT events FROM games"
_SERVE: Final = """
import asyncio, sys
from heptalog.service.config import Settings
from heptalog.service.server import serve
asyncio.run(serve(Settings(sys.argv[1], tables_niceness=0, query_niceness=0), lambda port: print(port, flush=True)))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the log is."""
    return tmp_path / "log.duckdb"


@pytest.fixture
def service(path: Path) -> Iterator[Service]:
    """A running server with one game of one event."""
    with Service(DuckStore(path), settings=settings(path)) as running:
        new_game(running.client())
        yield running


def goes_on(service: Service) -> None:
    """Record one event more, as if nothing were."""
    client = service.client()
    client.append(Append("game", client.game("game").head.sequence, (remark(f"r{service.store.position()}"),)))
    check_record(client, "game", service.store.position())


def answers(service: Service) -> bool:
    """Whether a question has its answer, as fresh as any."""
    return bool(value(service.client(), EVENTS) == service.store.position())


def follower_of(service: Service) -> Process:
    """The process that follows."""
    follower = tables_of(service)._keeper._follower
    assert isinstance(follower, Process)
    return follower


def segments_of(path: Path) -> list[Path]:
    """Every file that has rows."""
    return sorted(folder_of(path).rglob("*.parquet"))


# Processes.


def test_a_killed_follower_is_replaced(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    assert answers(service)
    for _ in range(2):
        killed = follower_of(service)
        os.kill(killed.number, signal.SIGKILL)
        goes_on(service)
        assert answers(service)
        assert follower_of(service) is not killed
        assert f"the tables are kept again, by process {follower_of(service).number}" in caplog.text


def test_a_follower_that_hangs_is_replaced(service: Service) -> None:
    assert answers(service)
    hanging = follower_of(service)
    os.kill(hanging.number, signal.SIGSTOP)
    # As if it had been silent for a minute.
    hanging._wire._connection.settimeout(0.1)
    goes_on(service)
    assert answers(service)
    assert follower_of(service) is not hanging


def test_processes_that_answer_are_replaced_when_they_are_killed(service: Service) -> None:
    assert answers(service)
    for child in children_of(os.getpid()):
        if child != follower_of(service).number:
            descriptor = os.pidfd_open(child)
            os.kill(child, signal.SIGKILL)
            assert wait_for_end(descriptor)
    goes_on(service)
    assert answers(service)


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_server(path: Path, ending: signal.Signals) -> None:
    command = [sys.executable, "-c", _SERVE, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            port = int(process.stdout.readline())
            with Client(f"127.0.0.1:{port}") as client:
                new_game(client)
                assert value(client, EVENTS) == 1
            left = [os.pidfd_open(child) for child in children_of(process.pid)]
            assert len(left) == 2
            process.send_signal(ending)
            for descriptor in left:
                assert wait_for_end(descriptor), "a process outlives its server"
            assert process.stderr.read() == ""
        finally:
            # Who waits for it must not wait for ever where something above has failed.
            process.kill()
    with Service(DuckStore(path), settings=settings(path)) as again:
        assert answers(again)


def wait_for_end(descriptor: int) -> bool:
    """Whether a process ends in time."""
    has_ended = bool(select.select([descriptor], [], [], WAIT_SECONDS)[0])
    os.close(descriptor)
    return has_ended


def children_of(number: int) -> list[int]:
    """The processes that a process has started."""
    return [
        int(child)
        for children in Path(f"/proc/{number}/task").glob("*/children")
        for child in children.read_text().split()
    ]


def test_what_goes_wrong_in_hearing_of_a_commit_fails_no_append(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def bug(*_: object) -> None:
        raise ZeroDivisionError

    assert answers(service)
    monkeypatch.setattr(service.app.commits.recent, "add", bug)
    for _ in range(2):
        goes_on(service)
        assert answers(service)
    assert caplog.text.count("is not remembered") == 1


# Files.


@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_file_is_found_and_all_is_made_anew(service: Service, path: Path, damage: str) -> None:
    assert answers(service)
    segments = segments_of(path)
    assert segments
    for segment in segments:
        data = segment.read_bytes()
        match damage:
            case "cut":
                segment.write_bytes(data[: len(data) // 2])
            case "changed":
                segment.write_bytes(bytes(byte ^ 0x55 for byte in data))
            case _:
                segment.unlink()
    goes_on(service)
    assert answers(service)
    assert answers(service)


def test_a_folder_that_goes_away_comes_back(service: Service, path: Path) -> None:
    assert answers(service)
    shutil.rmtree(folder_of(path))
    goes_on(service)
    assert answers(service)


def test_a_folder_of_rubbish_is_begun_anew(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with Service(DuckStore(path), settings=settings(path)) as service:
        new_game(service.client())
        assert answers(service)
    for file in folder_of(path).rglob("*"):
        if file.is_file():
            file.write_bytes(b"rubbish")
    assert capfd.readouterr().err == ""
    with Service(DuckStore(path), settings=settings(path)) as service:
        goes_on(service)
        assert answers(service)
    assert "the tables are made anew: they are damaged, or of another form" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("is_longer", "reason"),
    [(True, "they are of another log"), (False, "they go as far as position 1, and the log only as far as 0")],
)
def test_tables_of_another_log_are_begun_anew(
    path: Path, capfd: pytest.CaptureFixture[str], reason: str, *, is_longer: bool
) -> None:
    with Service(DuckStore(path), settings=settings(path)) as service:
        new_game(service.client())
        assert answers(service)
    for file in path.parent.iterdir():
        if file.is_file():
            file.unlink()
    store = DuckStore(path)
    if is_longer:
        grow(store)
    with Service(store, settings=settings(path)) as service:
        count = value(service.client(), "SELECT count(*) FROM games")
        assert count == len(list(service.store.heads()))
    assert f"the tables are made anew: {reason}" in capfd.readouterr().err


@pytest.fixture
def soon_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two failures are enough to say so: on a busy machine a third start may take longer than a question waits."""
    monkeypatch.setattr("heptalog.service.tables.keeper.FAILURES_MAX", 2)


@pytest.mark.usefixtures("soon_told")
def test_where_no_folder_can_be_made_a_question_fails_and_nothing_else(path: Path) -> None:
    folder_of(path).write_text("not a folder")
    with Service(DuckStore(path), settings=settings(path)) as service:
        new_game(service.client())
        error = failure(service.client(), EVENTS)
        assert error.code is Code.TABLES_BEHIND
        assert error.facts["path"] == str(folder_of(path))
        goes_on(service)
        folder_of(path).unlink()
        assert answers(service)


@pytest.mark.usefixtures("soon_told")
def test_a_full_disk_fails_questions_and_nothing_else(path: Path) -> None:
    if reason := why_not(path.parent):
        pytest.skip(reason)
    with (
        small_disk(folder_of(path), megabytes=1) as disk,
        Service(DuckStore(path), settings=settings(path)) as service,
    ):
        new_game(service.client())
        with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(4096))
        error = failure(service.client(), EVENTS)
        assert error.code is Code.TABLES_BEHIND
        assert error.facts["problem"] == "No space left on device"
        goes_on(service)
        (disk / "ballast").unlink()
        assert answers(service)
        service.drain()


def test_tables_leave_the_room_to_the_log_long_before_it_is_short(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answers(service)

    def nearly_full(folder: Path, reserve_bytes: int | None) -> None:
        check_room(folder, reserve_bytes, space=lambda _: Space(total=10 << 30, free=1 << 30))

    monkeypatch.setattr(keeping, "check_room", nearly_full)
    goes_on(service)
    error = failure(service.client(), EVENTS)
    assert error.code is Code.TABLES_BEHIND
    assert error.facts["problem"] == "the disk is nearly full, 1.0 GiB are left for the log"
    goes_on(service)
    monkeypatch.undo()
    assert answers(service)


@pytest.mark.parametrize(
    ("reserve", "free", "has_room"),
    [(0, 17 << 20, True), (0, 15 << 20, False), (1 << 30, (2 << 30) + (17 << 20), True), (1 << 30, 2 << 30, False)],
)
def test_how_much_is_left_to_the_log(tmp_path: Path, reserve: int, free: int, *, has_room: bool) -> None:
    space = Space(total=100 << 30, free=free)
    if has_room:
        check_room(tmp_path, reserve, space=lambda _: space)
    else:
        with pytest.raises(Unavailable):
            check_room(tmp_path, reserve, space=lambda _: space)
