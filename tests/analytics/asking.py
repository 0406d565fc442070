"""Questions for tests: a snapshot of recorded games on disk, with something beside it that must stay unread."""

import hashlib
import os
import select
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from heptalog.analytics.asking import Answer, Limits, Workers
from heptalog.analytics.keeping.segments import write
from heptalog.analytics.projecting.arrow import arrow_table, arrow_tables
from heptalog.analytics.projecting.game import project
from heptalog.analytics.snapshots import Part, Snapshot
from heptalog.analytics.tables import TABLES
from tests.analytics import given_games

# Short enough to be waited for, long enough for a machine that has other things to do.
SHORT: Final = Limits(seconds=1.0, memory_bytes=256 << 20)
LONG: Final = Limits(seconds=30.0)
CANARY: Final = "canary-c4f1e0"
# For what happens in any case, and is never waited for in vain.
WAIT_MILLISECONDS: Final = 60_000


def snapshot_in(folder: Path) -> Snapshot:
    """Games that ended and one that runs, as a snapshot; in its folder and beside it lie files that no table has."""
    kept = folder / "tables"
    kept.mkdir()
    games = [project(game) for game in given_games.golden()]
    running = next(game for game in map(project, given_games.recorded()) if not game.is_over)
    tables = dict(arrow_tables([*games, running]))
    refusals = next(table for table in TABLES if table.name == "refusals")
    tables["refusals"] = arrow_table(refusals, _refusals(games[0].game_id, running.game_id))
    parts: dict[str, tuple[Part, ...]] = {}
    for file in write(kept, tables, 1):
        parts[file.table] = (*parts.get(file.table, ()), Part(str(kept / file.path)))
    pq.write_table(pa.table({"secret": [CANARY]}), kept / "canary.parquet")
    (kept / "canary.csv").write_text(f"secret\n{CANARY}\n")
    (folder / "canary.csv").write_text(f"secret\n{CANARY}\n")
    return Snapshot(max(game.last_position for game in games), 3, (str(kept),), parts)


def asked(workers: Workers, sql: str, snapshot: Snapshot, limits: Limits = LONG) -> pa.Table:
    """The whole answer. Raises what the answer raises."""
    with workers.ask(sql, snapshot, limits) as answer:
        table = table_of(answer)
        assert answer.rows == table.num_rows
        return table


def table_of(answer: Answer) -> pa.Table:
    """The rows of an answer that is whole."""
    return pa.ipc.open_stream(b"".join(answer)).read_all()


def rows(workers: Workers, sql: str, snapshot: Snapshot) -> list[tuple[Any, ...]]:
    """The rows of an answer, as tuples."""
    table = asked(workers, sql, snapshot)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file of a folder and what is in it."""
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def children_of(process: int) -> list[int]:
    """The processes that a process has started and not buried."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(child) for child in listed.split()]


def descriptors_of(process: int) -> int:
    """How many files, sockets and pipes a process has open."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def nursery_of(workers: Workers) -> int:
    """The process that workers are forked from."""
    assert workers._process is not None
    return workers._process.pid


def ending_of(process: int) -> int:
    """A descriptor that becomes readable when a process has ended."""
    return os.pidfd_open(process)


def wait_for_end(ending: int) -> None:
    """Wait until the process has ended."""
    poll = select.poll()
    poll.register(ending, select.POLLIN)
    assert poll.poll(WAIT_MILLISECONDS), "it is still there"
    os.close(ending)


def worker_of(workers: Workers) -> int:
    """The one worker that there is, once it has been forked."""
    until(lambda: bool(children_of(nursery_of(workers))))
    (worker,) = children_of(nursery_of(workers))
    return worker


def until(condition: Callable[[], bool]) -> None:
    """Look until something is so that must become so."""
    end = time.monotonic() + WAIT_MILLISECONDS / 1000
    while not condition():
        assert time.monotonic() < end, "it never was"
        os.sched_yield()


def refusals_in(snapshot: Snapshot) -> list[tuple[Any, ...]]:
    """Every refusal, those that are held back too."""
    table = pq.read_table(snapshot.tables["refusals"][0].path, partitioning=None)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _refusals(ended: str, running: str) -> list[tuple[object, ...]]:
    at = datetime(2026, 11, 30, tzinfo=UTC)
    return [
        (1, ended, 5, at, None, "cardPlayed", 1, "NOT_HELD", "SU-R1"),
        (2, "no-such-game", 0, at, "table-1", "gameStarted", None, "PLAYERS_INVALID", "SR-R1"),
        (3, running, 5, at, "table-1", "cardPlayed", 1, "NOT_HELD", "SU-R1"),
    ]
