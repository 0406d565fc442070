"""The views that questions are asked of: SQL over the log of record, one file each.

They are temporary: a connection that wants them installs them, so they are never older than this program, and a
database that is only read can have them too.
"""

from collections.abc import Iterable
from importlib import resources
from typing import Final

import duckdb
from msgspec import Struct


class View(Struct, frozen=True):
    """One view: its columns are described in its file."""

    name: str
    file: str
    meaning: str
    depends_on: tuple[str, ...] = ()


# In the order in which they can be made.
VIEWS: Final[tuple[View, ...]] = (
    View("games", "games.sql", "One row a game: what it is, how far it has come, and how it stands."),
    View(
        "results", "results.sql", "One row a player of an ended game: what they have scored and whether they have won."
    ),
)


def install(connection: duckdb.DuckDBPyConnection, views: Iterable[View] = VIEWS) -> None:
    """Make these views on a connection to a database of ours; it may be open for reading only."""
    for view in views:
        connection.execute(statement_of(view))


def statement_of(view: View) -> str:
    """The SQL that makes a view."""
    return (resources.files("heptalog.analytics") / "views" / view.file).read_text("utf-8")
