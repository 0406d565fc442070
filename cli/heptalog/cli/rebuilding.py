"""Making tables anew and holding them against the log: of a database where they lie, or by the server that has it."""

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heptalog.analytics.processes import core_count
from heptalog.cli.connections import Connections, reachable
from heptalog.cli.databases import Database
from heptalog.cli.exits import WrongUse
from heptalog.cli.output import counting
from heptalog.cli.servers import Server
from heptalog.cli.sources import log_named
from heptalog.cli.tables import build_all, kept_alone, log_at, opened_log, telling
from heptalog.replay.errors import HeptalogError

if TYPE_CHECKING:
    from heptalog.analytics.keeping import Counted
    from heptalog.service.client import Client


def place_of(text: str) -> Database | Server:
    """The database or the server that is meant. Raises WrongUse, Unavailable for anything else."""
    return log_named(text)


def rebuilt(place: Database | Server) -> dict[str, Any]:
    """Make all tables anew, and give what is told of them. Raises OSError, Unavailable, Corrupt."""
    match place:
        case Server(target=target):
            with Connections() as connections:
                try:
                    return _told(place.name, *_served(connections.client(target)))
                except HeptalogError as error:
                    raise reachable(error, target) from error
        case Database(path=path):
            return _counted(place.name, _lying(path))


def checked(place: Database | Server) -> dict[str, Any]:
    """Hold every row against the log. Raises WrongUse for a server; Corrupt TABLES_DIFFER; OSError, Unavailable."""
    from heptalog.analytics.keeping import check, folder_of

    if isinstance(place, Server):
        raise WrongUse("--check reads the tables where they lie, once their server has ended")
    with opened_log(place.path) as store, counting("events", total=store.position()) as counter:
        source = partial(log_at, store.path)
        found = check(folder_of(store.path), source, processes=core_count(), tell=telling(counter))
        head = store.position()
    behind = {"position": found.position, "head": head, "behind": head - found.position}
    return {**_counted(place.name, found), **behind}


def _lying(path: Path) -> "Counted":
    from heptalog.analytics.keeping import folder_of
    from heptalog.analytics.keeping.place import clear

    with opened_log(path) as store:
        folder = folder_of(store.path)
        with closing(kept_alone(folder)), counting("events", total=store.position()) as counter:
            counted = build_all(folder, store, counter)
            clear(folder)
    return counted


def _served(client: "Client") -> tuple[int, Mapping[str, int]]:
    """Have a server do it; how many rows there are then is a question like any other."""
    import pyarrow as pa

    from heptalog.analytics.tables import TABLES

    with counting("events", total=None) as counter:
        before = 0
        for step in client.rebuild_tables():
            counter.add(step.position - before)
            before = step.position
    pieces = [f"SELECT '{table.name}' AS name, count(*) AS rows FROM {table.name}" for table in TABLES]  # noqa: S608
    with client.query(" UNION ALL ".join(pieces)) as answer:
        rows = pa.ipc.open_stream(b"".join(answer)).read_all().to_pylist()
        return answer.position, {row["name"]: row["rows"] for row in rows}


def _counted(name: str, counted: "Counted") -> dict[str, Any]:
    return _told(name, counted.position, counted.rows)


def _told(name: str, position: int, rows: Mapping[str, int]) -> dict[str, Any]:
    return {"source": name, "events": position, "tables": dict(rows)}
