"""What is wrong with a database and the files beside it, looked at when nothing else opens it any more.

Nothing is changed by looking. `accept` is the one thing that is: it lets a log go on as it is now, and says so in it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from msgspec import Struct

from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable
from heptalog.service.store import TreeHead
from heptalog.service.store.duck_faults import meaning
from heptalog.service.store.duck_tree import Ask, load, write_nodes
from heptalog.service.store.duck_write import write_incident
from heptalog.service.store.heads import HeadRecord, head_path, make_head, read_head
from heptalog.service.store.migrate import look_into, migrations, open_database
from heptalog.service.store.opening import (
    EVIDENCE_VERSION,
    POSITION,
    Guard,
    Promise,
    checkpoint_path,
    findings,
    in_doubt,
    is_in_doubt,
    lost,
    missing_head,
    read_checkpoint,
)
from heptalog.service.store.salvage import Salvage, salvaged
from heptalog.service.store.space import Reserve, Space, reserve_of, space_at
from heptalog.service.store.void import void

_INCIDENTS = "SELECT epoch_us(accepted_at), finding FROM log.incidents ORDER BY accepted_at LIMIT ?"
_TABLES = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'log'"
# Every column of every row is asked for, so that the engine reads every block, and holds it against its checksum.
_EVERYTHING = {
    table: f"SELECT bit_xor(hash(COLUMNS(*))) FROM log.{table}"  # noqa: S608  # made of constants
    for table in ("games", "endings", "events", "refusals", "tree", "checkpoints", "incidents", "migrations")
}
INCIDENTS_MAX = 1000
# What can be let go on: the events are whole as they are.
ACCEPTABLE = frozenset(
    {Code.EVENTS_LOST, Code.HEAD_DIFFERS, Code.HEAD_MISSING, Code.CHECKPOINT_DIFFERS, Code.TREE_DIFFERS}
)


class FileFacts(Struct, frozen=True):
    """One of the files of a database; without a size it is not there."""

    path: Path
    size: int | None
    changed_at: int  # nanoseconds since 1970 UTC


class Incident(Struct, frozen=True):
    """Somebody has let the log go on, and what was wrong with it then."""

    accepted_at: int  # nanoseconds since 1970 UTC
    finding: str


class Diagnosis(Struct, frozen=True):
    """What there is, and what is wrong with it. What could not be seen is None."""

    files: tuple[FileFacts, ...]
    schema: int | None
    schema_known: int
    log: TreeHead | None
    head: HeadRecord | None
    checkpoint: TreeHead | None
    space: Space
    reserve: int
    incidents: tuple[Incident, ...]
    problems: tuple[HeptalogError, ...]
    salvage: Salvage | None = None

    @property
    def is_acceptable(self) -> bool:
        """Whether the log is whole as it is, and could go on."""
        return bool(self.schema) and {problem.code for problem in self.problems} <= ACCEPTABLE | {Code.DISK_RESERVE}


def diagnosed(database: Path, reserve_bytes: int | None = None) -> Diagnosis:
    """Look at everything. Raises Unavailable where there is neither a database nor a trace of one."""
    path = _followed(database)
    files = tuple(map(_facts_of, (path, path.with_name(path.name + ".wal"), head_path(path), checkpoint_path(path))))
    if all(file.size is None for file in files):
        raise Unavailable(Code.SOURCE_NOT_FOUND, path=str(path))
    problems: list[HeptalogError] = []
    head = _noted(problems, lambda: read_head(head_path(path)))
    checkpoint = _noted(problems, lambda: read_checkpoint(checkpoint_path(path)))
    wanted = [] if head is None else [Promise(head_path(path), head.tree, Code.HEAD_DIFFERS)]
    if checkpoint is not None:
        wanted.append(Promise(checkpoint_path(path), checkpoint, Code.CHECKPOINT_DIFFERS))
    schema, log, incidents = _looked_into(path, wanted, problems)
    is_headless = head is None and log is not None and log.size and schema is not None and schema >= EVIDENCE_VERSION
    # One that is there and cannot be read has been told of already.
    if is_headless and not any(problem.facts.get("path") == str(head_path(path)) for problem in problems):
        problems.append(missing_head(path))
    salvage = salvaged(path) if any(map(is_in_doubt, problems)) else None
    space = space_at(path.parent)
    try:
        Reserve(path, reserve_bytes).check(0)
    except Unavailable as full:
        problems.append(full)
    reserve = reserve_of(space) if reserve_bytes is None else reserve_bytes
    known = len(migrations())
    return Diagnosis(files, schema, known, log, head, checkpoint, space, reserve, incidents, tuple(problems), salvage)


def accept(database: Path, diagnosis: Diagnosis, clock: Callable[[], int]) -> TreeHead:
    """Let the log go on as it is now, and put on record that it was not what it should be; how long it is now.

    The stored tree is made anew from the events. A checkpoint that the log does not keep is set aside, not deleted,
    and those in the database that it does not keep are void.
    Raises Unavailable, or Corrupt where events are missing in the middle.
    """
    path = _followed(database)
    now = clock()
    connection = open_database(path, is_read_only=False, guard=Guard(path, clock, is_checked=False))
    try:
        ((position,),) = _asking(connection)(POSITION, [])
        tree = load(_asking(connection), position, has_nodes=False)
        head = None if diagnosis.head is None else diagnosis.head.tree
        gone = void(_asking(connection), tree, checkpoint_path(path))
        # The head record and the checkpoint may both tell of one loss.
        finding = "; ".join(dict.fromkeys(map(_in_short, diagnosis.problems)))
        connection.execute("BEGIN")
        connection.execute("DELETE FROM log.tree")
        if nodes := tree.waiting:
            write_nodes(connection, nodes)
        write_incident(connection, finding, head=head, log=tree.head, void=gone, time=now)
        connection.execute("COMMIT")
        if any(problem.facts.get("path") == str(checkpoint_path(path)) for problem in diagnosis.problems):
            aside = checkpoint_path(path)
            aside.rename(aside.with_name(f"{aside.name}.{now // 1_000_000_000}"))
        make_head(head_path(path), tree.head, now)
    except duckdb.Error as error:
        raise meaning(error, path, is_open=True) from error
    except OSError as error:
        raise Unavailable(Code.WRITE_FAILED, path=str(path), problem=error.strerror or "") from error
    finally:
        connection.close()
    return tree.head


def _followed(database: Path) -> Path:
    """The database as it was named; where that is a link the files beside it are beside what it leads to."""
    return database.resolve() if database.is_symlink() else database


def _looked_into(
    path: Path, wanted: Sequence[Promise], problems: list[HeptalogError]
) -> tuple[int | None, TreeHead | None, tuple[Incident, ...]]:
    """The schema, the tree and the incidents of the log, as far as they can be seen."""
    if not path.exists():
        problems += [lost(promise, 0) for promise in wanted if promise.tree.size]
        return None, None, ()
    schema: int | None = None
    try:
        with _looking(path) as (ask, schema):
            ((position,),) = ask(POSITION, [])
            problems += [lost(promise, position) for promise in wanted if promise.tree.size > position]
            kept = [promise for promise in wanted if promise.tree.size <= position]
            tree, found = _compared(ask, position, kept, has_nodes=schema >= EVIDENCE_VERSION)
            problems += found
            problems += _unreadable(ask, path)
            rows = ask(_INCIDENTS, [INCIDENTS_MAX]) if schema >= EVIDENCE_VERSION else []
            return schema, tree, tuple(Incident(time * 1000, finding) for time, finding in rows)
    except HeptalogError as error:
        problems.append(in_doubt(path, error))
        return schema, None, ()


def _unreadable(ask: Ask, path: Path) -> Iterator[HeptalogError]:
    """The tables of which the engine cannot read every block."""
    there = {name for (name,) in ask(_TABLES, [])}
    for table, statement in _EVERYTHING.items():
        if table not in there:
            continue  # what a log must have, and of which form, is for an audit
        try:
            ask(statement, [])
        except duckdb.Error as error:
            fault = meaning(error, path, is_open=True)
            fault.facts.update(problem="a part of it cannot be read", table=f"log.{table}")
            yield fault


def _compared(
    ask: Ask, position: int, wanted: Sequence[Promise], *, has_nodes: bool
) -> tuple[TreeHead, list[HeptalogError]]:
    """The tree over the events, and which promises it does not keep."""
    stored: TreeHead | None = None
    found: list[HeptalogError] = []
    if has_nodes:
        try:
            tree = load(ask, position)
        except Corrupt as error:
            if error.code is not Code.TREE_DIFFERS:
                raise
            found = [error]
        else:
            stored = tree.head
            if not any(findings(ask, tree, wanted)):
                return stored, []
    # Only the events themselves tell whether it is they that have changed, or what is stored of the tree.
    tree = load(ask, position, has_nodes=False)
    if stored not in (None, tree.head):
        found = [Corrupt(Code.TREE_DIFFERS, rule="evidence", size=position)]
    return tree.head, [*found, *findings(ask, tree, wanted)]


@contextmanager
def _looking(path: Path) -> Iterator[tuple[Ask, int]]:
    connection, schema = look_into(path)
    try:
        yield _asking(connection), schema
    except duckdb.Error as error:
        raise meaning(error, path, is_open=True) from error
    finally:
        connection.close()


def _asking(connection: duckdb.DuckDBPyConnection) -> Ask:
    def ask(statement: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        return connection.execute(statement, parameters).fetchall()

    return ask


def _noted(problems: list[HeptalogError], read: Callable[[], Any]) -> Any:
    try:
        return read()
    except HeptalogError as error:
        problems.append(error)
        return None


def _facts_of(path: Path) -> FileFacts:
    try:
        found = path.stat()
    except FileNotFoundError:
        return FileFacts(path, None, 0)
    except OSError as error:
        raise Unavailable(Code.SOURCE_UNREADABLE, path=str(path), problem=error.strerror or "") from error
    return FileFacts(path, found.st_size, found.st_mtime_ns)


def _in_short(problem: HeptalogError) -> str:
    """A problem as it is put on record: its code and its positions."""
    places = [f"{name} {problem.facts[name]}" for name in ("first", "last", "size") if name in problem.facts]
    return " ".join([problem.code, *places])
