"""One SQL question to a database: only read, with the views at hand, and with no way to anything else."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import duckdb
from msgspec import Struct

from heptalog.analytics.views import install
from heptalog.cli.connections import opening, shown
from heptalog.cli.exits import WrongUse
from heptalog.replay.errors import Code, Unavailable
from heptalog.replay.words import printable
from heptalog.service.store.duck_faults import is_fatal, meaning
from heptalog.service.store.migrate import open_database

T = TypeVar("T")

_PIECE: Final = 1000
_ASK_AGAIN_SECONDS: Final = 0.1
_ONE_SELECT: Final = "one SELECT is asked for"
_ALLOWED: Final = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
_LOCKS: Final = (
    # Times are told in UTC everywhere, whatever the zone of this machine.
    "SET TimeZone = 'UTC'",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


class Answer(Struct):
    """Rows on their way, and the names of their columns; those in `numbers` hold numbers."""

    columns: tuple[str, ...]
    numbers: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


@contextmanager
def asked(path: Path, question: str) -> Iterator[Answer]:
    """The answer to a question, read piece by piece. Raises WrongUse for one that is wrong, Unavailable, Corrupt."""
    with opening(path):
        connection = open_database(path, is_read_only=True)
    try:
        _prepare(connection, path)
        try:
            yield _answer(connection, question)
        except duckdb.Error as error:
            if _is_of_database(error):
                with opening(path):
                    raise meaning(error, path, is_open=True) from error
            raise WrongUse(_first_line(error)) from error
    finally:
        connection.close()


def _prepare(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Put the views into place, and close every way to anything else. Raises Unavailable."""
    try:
        install(connection)
        for lock in _LOCKS:
            connection.execute(lock)
    except duckdb.Error as error:
        if _is_of_database(error):
            with opening(path):
                raise meaning(error, path, is_open=True) from error
        problem = "what the views read is not all there"
        raise Unavailable(Code.DATABASE_FOREIGN, problem=problem, path=shown(path)) from error


def _answer(connection: duckdb.DuckDBPyConnection, question: str) -> Answer:
    statement = _one_select(connection, question)
    result = _interruptible(connection, lambda: connection.execute(statement))
    columns = [(str(column[0]), str(column[1])) for column in result.description]
    names = _distinct([name for name, _ in columns])
    kinds = [kind for _, kind in columns]
    numbers = tuple(name for name, kind in zip(names, kinds, strict=True) if _is_number(kind))
    return Answer(names, numbers, _rows(result))


def _one_select(connection: duckdb.DuckDBPyConnection, question: str) -> duckdb.Statement:
    try:
        (statement,) = connection.extract_statements(question)
        is_select = statement.type in _ALLOWED
    except duckdb.Error:
        raise
    except Exception as error:
        # Not one, or of a kind that the engine knows and its binding does not.
        raise WrongUse(_ONE_SELECT) from error
    if not is_select:
        raise WrongUse(_ONE_SELECT)
    return statement


def _rows(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while piece := _interruptible(result, lambda: result.fetchmany(_PIECE)):
        yield from piece


def _interruptible(connection: duckdb.DuckDBPyConnection, work: Callable[[], T]) -> T:
    """Let the engine work in another thread: in this one it would not always hear Ctrl-C."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            # What has not begun yet cannot be interrupted, so it is asked until it ends.
            while not future.done():
                connection.interrupt()
                wait([future], _ASK_AGAIN_SECONDS)
            raise


def _is_of_database(error: duckdb.Error) -> bool:
    """Whether the database is to blame and not the question."""
    return is_fatal(error) or isinstance(error, duckdb.IOException)


def _first_line(error: Exception) -> str:
    return printable(str(error).partition("\n")[0])


def _distinct(names: list[str]) -> tuple[str, ...]:
    """The names of columns, none of them twice: `x`, `x_2`."""
    distinct: list[str] = []
    for name in names:
        count = 1
        candidate = name
        while candidate in distinct:
            count += 1
            candidate = f"{name}_{count}"
        distinct.append(candidate)
    return tuple(distinct)


def _is_number(kind: str) -> bool:
    return not kind.endswith("]") and any(word in kind for word in ("INT", "DECIMAL", "DOUBLE", "FLOAT", "NUMBER"))
