"""Databases in the cluster that the runner has started: a new one for every measurement, as durable as ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, Final

import psycopg  # pyright: ignore[reportMissingImports] - in the environment of the peers

from bench.peers.cluster import USER
from bench.peers.peer import Absent

HOST: Final = "127.0.0.1"
DURABLE: Final = "fsync=on and synchronous_commit=on: the log is on the disk before the answer"

_NUMBERS: Final = count()


def connect(port: int, database: str = "postgres") -> "psycopg.Connection[Any]":
    """A connection that commits every statement by itself."""
    if not port:
        raise Absent("PostgreSQL is not installed")
    return psycopg.connect(host=HOST, port=port, user=USER, dbname=database, autocommit=True)


def server_version(port: int) -> str:
    """Of the server, once it has said that it is durable."""
    with connect(port) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            assert value_of(connection, f"SHOW {setting}") == "on", f"{setting} is off: not as durable as ours"
        return str(value_of(connection, "SHOW server_version")).split()[0]


def value_of(connection: "psycopg.Connection[Any]", sql: str) -> object:
    """The one value that a statement gives."""
    row = connection.execute(sql).fetchone()
    assert row is not None
    value: object = row[0]
    return value


@contextmanager
def new_database(port: int) -> Iterator[str]:
    """The name of a new database, until it is no longer needed."""
    with connect(port) as connection:
        name = f"measured_{connection.info.backend_pid}_{next(_NUMBERS)}"
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield name
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
