"""Whom questions are asked of: a database, an export or a server, all alike.

A database and an export are asked by worker processes of our own, in the same sandbox as on a server; only the limits
are wider, for it is the asker's own machine.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from itertools import chain, islice
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self

from msgspec import Struct

from heptalog.analytics.processes import core_count
from heptalog.cli.apart import Apart
from heptalog.cli.connections import Connections, reachable, shown
from heptalog.cli.databases import Database, DatabaseGame
from heptalog.cli.exits import WrongUse
from heptalog.cli.exports import told_damaged
from heptalog.cli.replies import Reply
from heptalog.cli.servers import Server, ServerGame
from heptalog.cli.sources import Folder, named
from heptalog.replay.errors import Code, HeptalogError, Unavailable

if TYPE_CHECKING:
    from heptalog.analytics.asking import Answer, Limits, Workers
    from heptalog.analytics.snapshots import Snapshot
    from heptalog.service.client import Client

# On one's own machine: an hour, half of the memory, and as much as comes.
_SECONDS_HERE: Final = 3600.0
_MEMORY_PART: Final = 2
_UNBOUNDED: Final = 1 << 50


class Wishes(Struct, frozen=True):
    """The limits that somebody asks for; None is what is usual there."""

    seconds: float | None = None
    rows: int | None = None
    memory_bytes: int | None = None


class Column(Protocol):
    """One column of a table or a view; `values` are all that it can say, where those are names."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def values(self) -> Sequence[str]: ...


class Listed(Protocol):
    """A table or a view that can be asked."""

    @property
    def name(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def columns(self) -> Sequence[Column]: ...


class Asker(Protocol):
    """Somebody who answers questions."""

    @property
    def name(self) -> str:
        """How a person calls it."""
        ...

    def ask(self, sql: str, wishes: Wishes) -> AbstractContextManager[Reply]:
        """One question; leaving the context ends it. Raises HeptalogError, here or while the reply is read."""
        ...

    def dictionary(self) -> Sequence[Listed]:
        """The tables and views that can be asked. Raises HeptalogError."""
        ...


@contextmanager
def opened(source: str) -> Iterator[Asker]:
    """Whom this names: DATABASE, FOLDER of an export, or grpc://HOST:PORT. Raises WrongUse, Unavailable, Corrupt."""
    match named(source):
        case ServerGame(target=target):
            raise WrongUse(f"{source}: all games are asked at once: grpc://{target}")
        case DatabaseGame(path=path):
            raise WrongUse(f"{source}: all games are asked at once: {shown(path)}")
        case Server(target=target):
            with Connections() as connections:
                yield _Remote(target, connections.client(target))
        case Folder(path=path):
            from heptalog.analytics.parquet import opened as opened_export

            with _workers() as workers:
                yield _Local(shown(path), opened_export(path), workers, partial(told_damaged, path))
        case Database(path=path):
            from heptalog.cli.tables import mended, tables_of

            with _workers() as workers, ExitStack() as stack:
                snapshot = stack.enter_context(tables_of(path))
                yield _Local(shown(path), snapshot, workers, lambda old: stack.enter_context(mended(path, old)))
        case file:
            code = Code.DATABASE_FOREIGN if file.path.exists() else Code.SOURCE_NOT_FOUND
            raise Unavailable(code, path=shown(file.path))


@contextmanager
def _workers() -> "Iterator[Workers]":
    from heptalog.analytics.asking import Workers

    with Workers(niceness=0) as workers:
        # It loads while the tables are brought up to date.
        workers.start()
        yield workers


class _Local:
    """Tables that lie here. `mend` makes them anew where they are damaged, and gives None where they are not."""

    def __init__(
        self,
        name: str,
        snapshot: "Snapshot",
        workers: "Workers",
        mend: "Callable[[Snapshot], Snapshot | None]" = lambda _: None,
    ) -> None:
        self.name = name
        self._snapshot = snapshot
        self._workers = workers
        self._mend = mend
        self._apart = Apart()

    @contextmanager
    def ask(self, sql: str, wishes: Wishes) -> Iterator[Reply]:
        with ExitStack() as stack:
            answer = partial(_LocalAnswer, self._workers, sql=sql, limits=_limits(wishes))
            position, pieces = stack.enter_context(self._apart.flow(answer(self._snapshot)))
            try:
                begin = list(islice(pieces, 1))
            except HeptalogError as error:
                if not self._is_mended(error):
                    raise
                # Nobody has got anything of the answer yet.
                position, pieces = stack.enter_context(self._apart.flow(answer(self._snapshot)))
                begin = []
            yield Reply(position, chain(begin, self._told(pieces)))

    def _told(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from pieces
        except HeptalogError as error:
            if self._is_mended(error):
                problem = "a file of the tables was damaged; they are made anew now, so ask again"
                raise Unavailable(Code.QUERY_FAILED, problem=problem) from error
            raise

    def _is_mended(self, error: HeptalogError) -> bool:
        """Whether a question failed for damage in the tables, which is mended."""
        fresh = self._mend(self._snapshot) if error.code is Code.QUERY_FAILED else None
        self._snapshot = fresh or self._snapshot
        return fresh is not None

    def dictionary(self) -> Sequence[Listed]:
        from heptalog.analytics.views import dictionary

        return dictionary()


class _LocalAnswer:
    """An answer of a worker that is asked when it is entered."""

    def __init__(self, workers: "Workers", snapshot: "Snapshot", *, sql: str, limits: "Limits") -> None:
        self.position = snapshot.position
        self._ask = partial(workers.ask, sql, snapshot, limits)
        self._answer: Answer | None = None

    def __enter__(self) -> Self:
        self._answer = self._ask()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._answer is not None:
            self._answer.__exit__(kind, error, traceback)

    def __iter__(self) -> Iterator[bytes]:
        assert self._answer is not None, "it is entered before it is read"
        return iter(self._answer)

    def cancel(self) -> None:
        if self._answer is not None:
            self._answer.cancel()


class _Remote:
    """A server, with limits of its own."""

    def __init__(self, target: str, client: "Client") -> None:
        self.name = Server(target).name
        self._target = target
        self._client = client
        self._apart = Apart()

    @contextmanager
    def ask(self, sql: str, wishes: Wishes) -> Iterator[Reply]:
        if wishes.memory_bytes is not None:
            raise WrongUse("--memory is for databases and exports; a server has a limit of its own")
        flow = self._client.query(sql, rows_max=wishes.rows, timeout=wishes.seconds)
        try:
            with self._apart.flow(flow) as (position, pieces):
                yield Reply(position, pieces)
        except HeptalogError as error:
            raise reachable(error, self._target) from error

    def dictionary(self) -> Sequence[Listed]:
        try:
            return self._apart.call(self._client.list_views)
        except HeptalogError as error:
            raise reachable(error, self._target) from error


def _limits(wishes: Wishes) -> "Limits":
    from heptalog.analytics.asking import Limits

    return Limits(
        seconds=_SECONDS_HERE if wishes.seconds is None else wishes.seconds,
        memory_bytes=_memory() // _MEMORY_PART if wishes.memory_bytes is None else wishes.memory_bytes,
        rows=_UNBOUNDED if wishes.rows is None else wishes.rows,
        result_bytes=_UNBOUNDED,
        threads=core_count(),
    )


def _memory() -> int:
    """The memory of this machine, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
