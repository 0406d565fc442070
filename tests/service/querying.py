"""What the tests of questions ask, and how they read answers."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any, Final

import pyarrow as pa
import pytest

from heptalog.replay.errors import HeptalogError
from heptalog.service.client import Client
from heptalog.service.config import Settings
from heptalog.service.tables.tables import Tables
from tests.support.serving import WAIT_SECONDS, Service

# Work for hours.
HEAVY: Final = "SELECT count(*) FROM range(10000000) a, range(10000000) b"
# More than any buffer between a server and a client holds.
LARGE: Final = "SELECT range AS number, repeat('x', 1000) AS text FROM range(100000)"


def rows(client: Client, sql: str, **limits: Any) -> list[dict[str, Any]]:
    """The rows of a whole answer."""
    with client.query(sql, **limits) as answer:
        data = b"".join(answer)
    table = pa.ipc.open_stream(data).read_all()
    assert table.num_rows == answer.rows
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def value(client: Client, sql: str, **limits: Any) -> Any:
    """The one value of an answer."""
    ((found,),) = [row.values() for row in rows(client, sql, **limits)]
    return found


def failure(client: Client, sql: str, **limits: Any) -> HeptalogError:
    """How a question fails."""
    with pytest.raises(HeptalogError) as caught:
        rows(client, sql, **limits)
    return caught.value


def tables_of(service: Service) -> Tables:
    """The tables of a service that keeps some."""
    assert service.app.tables is not None
    return service.app.tables


def settings(database: object = "", **given: Any) -> Settings:
    """Settings for a server that shares its machine with other tests."""
    patient = {"tables_seconds": WAIT_SECONDS, "query_seconds": WAIT_SECONDS, "tables_niceness": 0, "query_niceness": 0}
    return Settings(str(database), **(patient | given))


def wait_until(service: Service, holds: Callable[[], bool]) -> None:
    """Wait in the server's event loop until something holds there."""

    async def look() -> None:
        while not holds():
            await asyncio.sleep(0)

    service.run(look())


@contextmanager
def asking(service: Service, sql: str = HEAVY, *, timeout: float | None = None) -> Iterator[list[HeptalogError]]:
    """A client that asks meanwhile; at the end of the block it goes away. What it fails with is in the list."""
    failures: list[HeptalogError] = []
    answer = service.client().query(sql, timeout=timeout)

    def ask() -> None:
        try:
            with answer:
                for _ in answer:
                    pass
        except HeptalogError as error:
            failures.append(error)

    thread = Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield failures
    finally:
        answer.cancel()
        thread.join(WAIT_SECONDS)
        assert not thread.is_alive()
