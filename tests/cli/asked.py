"""Answers without a database: what an asker gives to whoever shows it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO

import duckdb
import pyarrow as pa
from msgspec import Struct

from heptalog.analytics.tables import TABLES, Column, columns_of, meaning_of
from heptalog.cli.asking import Wishes
from heptalog.cli.replies import Reply
from heptalog.replay.errors import Code, HeptalogError, Malformed

POSITION = 1234


class Told(Struct, frozen=True):
    """One entry of a dictionary."""

    name: str
    meaning: str
    columns: tuple[Column, ...]


ENTRIES = tuple(Told(table.name, meaning_of(table), columns_of(table)) for table in TABLES)


def stream_of(sql: str, *, rows: int = 1000) -> list[bytes]:
    """The stream of an answer, in pieces that end anywhere; the engine is asked directly."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        table = connection.sql(sql).to_arrow_table()
    sink = BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    data = sink.getvalue()
    return [data[start : start + 777] for start in range(0, len(data), 777)]


def reply_to(sql: str) -> Reply:
    """A whole answer."""
    return Reply(POSITION, iter(stream_of(sql)))


def torn_reply_to(sql: str, error: BaseException, *, after: int) -> Reply:
    """An answer that fails after so many pieces."""

    def pieces() -> Iterator[bytes]:
        yield from stream_of(sql)[:after]
        raise error

    return Reply(POSITION, pieces())


class Asker:
    """Somebody who answers from an empty engine, and notes what was asked."""

    name = "grpc://example.org:7777"

    def __init__(self, fails: HeptalogError | None = None) -> None:
        self.asked: list[tuple[str, Wishes]] = []
        self._fails = fails

    @contextmanager
    def ask(self, sql: str, wishes: Wishes) -> Iterator[Reply]:
        """An answer; what the engine does not understand is QUERY_INVALID."""
        self.asked.append((sql, wishes))
        if "interrupt" in sql:
            raise KeyboardInterrupt
        try:
            reply = reply_to(sql)
        except duckdb.Error as error:
            raise Malformed(Code.QUERY_INVALID, problem=str(error).partition("\n")[0]) from error
        yield reply

    def dictionary(self) -> Sequence[Told]:
        """The tables."""
        if self._fails is not None:
            raise self._fails
        return ENTRIES
