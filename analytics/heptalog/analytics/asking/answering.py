"""What a worker does: it reads a question, confines itself, and writes the answer in frames."""

import os
import sys
from collections.abc import Collection
from typing import Any, Final

import duckdb
import pyarrow as pa

from heptalog.analytics.asking import confining, engine
from heptalog.analytics.asking.admitting import NESTED, admit, invalid, is_statements, place_of_column, printed
from heptalog.analytics.asking.frames import (
    ARROW,
    DONE,
    FAILED,
    HEADER,
    Question,
    done_bytes,
    failure_bytes,
    question_of,
)
from heptalog.analytics.asking.functions import is_allowed, is_refused
from heptalog.analytics.asking.limits import Limits
from heptalog.analytics.asking.narrowing import Narrowed
from heptalog.analytics.asking.results import Results
from heptalog.analytics.snapshots import Snapshot, attach
from heptalog.analytics.tables import TABLES
from heptalog.analytics.views import VIEWS, install, needed
from heptalog.replay.errors import Code, HeptalogError, Malformed, Unavailable, error_of

# The parser's limit in depth is the engine's; this is far beyond what it lets pass.
_DEPTH_MAX: Final = 20_000
_READ_SIZE: Final = 1 << 16
_EXPLAIN: Final = "EXPLAIN "
_COLUMNS: Final = "SELECT DISTINCT column_name FROM duckdb_columns() WHERE list_contains(?, table_name) ORDER BY ALL"
# What the engine says, as it begins, where it got no memory: from itself, or from the machine.
_OUT_OF_MEMORY: Final = (
    "Out of Memory Error",
    'INTERNAL Error: {"exception_type":"INTERNAL","exception_message":"Memory allocation failure"',
)
_NAMES: Final = frozenset({table.name for table in TABLES} | {view.name for view in VIEWS})


def answer(place: int, connection: duckdb.DuckDBPyConnection) -> None:
    """Answer the question that comes from a descriptor, there, with an engine that was made before."""
    question = question_of(_read(place))
    try:
        confining.bind(question.limits)
        confining.confine(question.snapshot.folders)
        rows = _answer(place, question, connection)
    except HeptalogError as error:
        _send(place, FAILED, failure_bytes(_placed(error, question.sql)))
    except RecursionError:
        _send(place, FAILED, failure_bytes(Malformed(Code.QUERY_INVALID, problem=NESTED)))
    except MemoryError:
        _send(place, FAILED, failure_bytes(Unavailable(Code.QUERY_TOO_LARGE)))
    except Exception as error:  # noqa: BLE001  # our own fault: nobody sees this process's traceback
        problem = f"{type(error).__name__} in its process: {error}"
        _send(place, FAILED, failure_bytes(Unavailable(Code.QUERY_FAILED, problem=problem)))
    else:
        _send(place, DONE, done_bytes(rows))


def warm_up() -> None:
    """Load all that an answer needs, so that no worker has to: it could not read it."""
    with engine.born() as connection:
        attach(connection, Snapshot(0, 0, (), {}))
        install(connection)
        for sql in ("SELECT 1 AS one, 2::HUGEINT AS two, now() AS at", "SELECT * FROM results ORDER BY ALL"):
            Results(lambda _: None, Limits()).write(Narrowed(connection.sql(sql)).relation)
        admit(printed(connection, "SELECT count(*) FROM games"), {"games"})
    is_allowed("sum")
    is_refused("version")


def _answer(place: int, question: Question, connection: duckdb.DuckDBPyConnection) -> int:
    """Write the rows of a question and say how many there were. Raises HeptalogError where it has no answer."""
    limits, snapshot = question.limits, question.snapshot
    sys.setrecursionlimit(_DEPTH_MAX)
    try:
        engine.limit(connection, snapshot.folders, memory_bytes=limits.memory_bytes, threads=limits.threads)
        named = admit(printed(connection, question.sql), _NAMES)
        _show(connection, snapshot, named)
        engine.close_off(connection)
    except duckdb.OutOfMemoryException as error:
        raise Unavailable(Code.QUERY_TOO_LARGE) from error
    except duckdb.Error as error:
        # Nothing of it was asked yet: whatever failed is ours.
        raise Unavailable(Code.QUERY_FAILED, problem=f"the tables cannot be opened: {type(error).__name__}") from error
    results = Results(lambda piece: _send(place, ARROW, piece), limits)
    narrowed: Narrowed | None = None
    try:
        narrowed = Narrowed(connection.sql(question.sql))
        results.write(narrowed.relation)
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        # While rows are read, the engine's errors come through Arrow, and are no longer told apart by their class.
        if narrowed is None:
            # The other way round the transaction would be over.
            columns = _columns(connection, named)
            told, start = _explained(error, connection, question.sql)
            raise _failure(told, start, question, columns) from error
        raise _failure(error, narrowed.start_of(question.sql), question) from error
    return results.rows


def _explained(error: Exception, connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Exception, int]:
    """What the engine says of a statement that it does not bind, and where the statement begins in what it says.

    It tells the place of a name only where it is asked for a plan.
    """
    if isinstance(error, duckdb.BinderException):
        try:
            connection.execute(_EXPLAIN + sql)
        except duckdb.BinderException as placed:
            return placed, len(_EXPLAIN)
        except duckdb.Error:
            pass
    return error, 0


def _columns(connection: duckdb.DuckDBPyConnection, tables: Collection[str]) -> list[str]:
    """The columns of these tables and views."""
    try:
        return [row[0] for row in connection.execute(_COLUMNS, [list(tables)]).fetchall()]
    except duckdb.Error:
        # They are for a hint, and what has failed is told without it too.
        return []


def _show(connection: duckdb.DuckDBPyConnection, snapshot: Snapshot, named: Collection[str]) -> None:
    """Put before a connection the tables and views that are named, and those that they are made of."""
    attach(connection, snapshot, needed(named))
    install(connection, [view for view in VIEWS if view.name in named])


def _failure(error: Exception, start: int | None, question: Question, columns: Collection[str] = ()) -> HeptalogError:
    """What a failure of the engine is to whoever asked: one line that names no file of ours.

    `start` is where the statement begins in what the engine was given, in bytes; `columns` are those of its tables.
    """
    unsaid = [folder for folder in question.snapshot.folders if folder not in question.sql]
    message = str(error)
    if isinstance(error, pa.ArrowMemoryError) or message.startswith(_OUT_OF_MEMORY):
        return Unavailable(Code.QUERY_TOO_LARGE)
    if isinstance(error, pa.ArrowInvalid | pa.ArrowNotImplementedError):
        return Malformed(Code.QUERY_INVALID, problem="the answer has a value that Arrow cannot hold")
    if is_statements(message) and not any(folder in message for folder in unsaid):
        failure = _moved(invalid(message, columns), start, len(question.sql.encode()))
        place = place_of_column(str(failure.facts["problem"]), question.sql)
        if place is not None:
            failure.facts.setdefault("byte", place)
        return failure
    return Unavailable(Code.QUERY_FAILED, problem=f"the engine failed: {message.partition(':')[0]}")


def _moved(error: HeptalogError, start: int | None, size: int) -> HeptalogError:
    """The failure with its place in the statement; without one where it is beside it, in what we put around it."""
    facts: dict[str, Any] = dict(error.facts)
    byte = facts.pop("byte", None)
    if isinstance(byte, int) and start is not None and start <= byte <= start + size:
        facts["byte"] = byte - start
    return error_of(error.code, **facts)


def _placed(error: HeptalogError, sql: str) -> HeptalogError:
    """The failure with its place in the statement in characters, from 1, as whoever wrote it counts."""
    facts: dict[str, Any] = dict(error.facts)
    if isinstance(byte := facts.pop("byte", None), int):
        facts["character"] = len(sql.encode()[:byte].decode(errors="ignore")) + 1
    return error_of(error.code, **facts)


def _read(place: int) -> bytes:
    """All that comes until the asker has said everything."""
    data = bytearray()
    while part := os.read(place, _READ_SIZE):
        data += part
    return bytes(data)


def _send(place: int, kind: bytes, data: bytes | memoryview) -> None:
    """Write one frame. Whoever does not read it makes this wait; whoever is gone makes this process end."""
    for part in (HEADER.pack(kind, len(data)), data):
        view = memoryview(part)
        while view:
            view = view[os.write(place, view) :]
