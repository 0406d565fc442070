"""One SQL question to a database: only read, with the views at hand, and with no way to anything else."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import duckdb
from msgspec import Struct

from heptalog.analytics.views import install
from heptalog.cli.connections import opening
from heptalog.cli.exits import WrongUse
from heptalog.service.store.duck_faults import is_fatal, meaning
from heptalog.service.store.migrate import open_database

_PIECE: Final = 1000
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
        install(connection)
        for lock in _LOCKS:
            connection.execute(lock)
        try:
            yield _answer(connection, question)
        except duckdb.Error as error:
            if is_fatal(error) or isinstance(error, duckdb.IOException):
                raise meaning(error, path, is_open=True) from error
            raise WrongUse(str(error).partition("\n")[0]) from error
    finally:
        connection.close()


def _answer(connection: duckdb.DuckDBPyConnection, question: str) -> Answer:
    statements = connection.extract_statements(question)
    if len(statements) != 1 or statements[0].type not in _ALLOWED:
        raise WrongUse("one SELECT is asked for")
    result = connection.execute(statements[0])
    columns = [(str(column[0]), str(column[1])) for column in result.description]
    names = _distinct([name for name, _ in columns])
    kinds = [kind for _, kind in columns]
    numbers = tuple(name for name, kind in zip(names, kinds, strict=True) if _is_number(kind))
    return Answer(names, numbers, _rows(result))


def _rows(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while piece := result.fetchmany(_PIECE):
        yield from piece


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
