"""The views that questions are asked of: SQL over the tables, one file each, and the dictionary of both.

A connection that has the tables installs the views it wants; nothing of them is kept, so they are never older than
this program.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import Final

import duckdb
from msgspec import Struct

from heptalog.analytics.sql import statements
from heptalog.analytics.tables import TABLES, Column, columns_of, create, described, meaning_of
from heptalog.replay.errors import Code, NotFound


class View(Struct, frozen=True):
    """One view: its columns are described in its file. `reads` are the tables and views that its statement names."""

    name: str
    reads: tuple[str, ...]


class Entry(Struct, frozen=True):
    """One table or view of the dictionary: what a row of it is, and what it reads where it is a view."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    is_derived: bool
    reads: tuple[str, ...] = ()


# In the order in which they can be made; those of one game come after those of all.
VIEWS: Final[tuple[View, ...]] = (
    View("results", ("games", "seats")),
    View("standings", ("games", "results", "seats")),
    View("pairs", ("results", "seats")),
    View("tournaments", ("games", "seats")),
    View("players", ("games", "seats")),
    View("ratings", ("rating_changes",)),
    View("head_to_head", ("results",)),
    View("seat_advantage", ("results",)),
    View("opener_advantage", ("games", "rounds")),
    View("score_distribution", ("results",)),
    View("round_scores", ("games", "rounds")),
    View("round_score_distribution", ("round_scores",)),
    View("round_endings", ("games", "rounds")),
    View("game_lengths", ("games",)),
    View("longest_games", ("games",)),
    View("activity", ("games",)),
    View("think_times", ("games", "turns")),
    View("pass_rates", ("games", "passes", "seats", "turns")),
    View("refusals_by_rule", ("games", "refusals")),
    View("refusals_by_player", ("games", "refusals", "seats")),
    View("rulings_by_kind", ("games", "rulings")),
    View("blocked_rounds", ("games", "rounds", "settlements")),
    View("seven_rocks_players", ("games", "placements", "settlements")),
    View("seven_rocks_tiles", ("games", "placements", "settlements")),
    View("first_tricks", ("games", "points", "tricks")),
    View("trumps", ("deals", "games", "rounds")),
    View("trump_decisions", ("deals", "games", "rounds")),
    View("point_kinds", ("games", "points", "rounds")),
    View("seven_up_players", ("games", "points", "rounds", "seats", "tricks", "turns")),
    View("seven_up_cards", ("games", "tricks")),
    View("ghost_rates", ("games", "penalties")),
    View("seven_bridge_players", ("games", "penalties", "plays", "rounds", "seats")),
    View("seven_bridge_cards", ("games", "penalties", "plays", "rounds")),
)
_FOLDER: Final = "views"
# A file makes its view first, and then says what everything in it means.
_FIRST_COMMENT: Final = "\n\nCOMMENT ON VIEW "


def install(connection: duckdb.DuckDBPyConnection, views: Iterable[View] = VIEWS) -> None:
    """Make these views, and those that they need first, on a connection that has the tables."""
    for view in _with_needs(views):
        connection.execute(statement_of(view))


def statement_of(view: View) -> str:
    """The SQL that makes a view, without what its columns mean."""
    return statements(_FOLDER, view.name).partition(_FIRST_COMMENT)[0]


@cache
def dictionary() -> tuple[Entry, ...]:
    """Every table, and then every view."""
    tables = [Entry(table.name, meaning_of(table), columns_of(table), is_derived=False) for table in TABLES]
    with duckdb.connect() as connection:
        create(connection)
        for view in VIEWS:
            connection.execute(statements(_FOLDER, view.name))
        told = described(connection)
    views = [Entry(view.name, *told[view.name], is_derived=True, reads=view.reads) for view in VIEWS]
    return (*tables, *views)


def entry_of(name: str) -> Entry:
    """The entry of this name. Raises NotFound, with the name that is nearest where one is near."""
    entries = {entry.name: entry for entry in dictionary()}
    if name not in entries:
        nearest = get_close_matches(name.lower(), entries, n=1)
        raise NotFound(Code.VIEW_UNKNOWN, name=name, nearest=" ".join(nearest))
    return entries[name]


def view_of(name: str) -> View | None:
    """The view of this name; None for a table, and for what is neither."""
    return next((view for view in VIEWS if view.name == name), None)


def needed(names: Iterable[str]) -> set[str]:
    """These tables and views, and all that they are made of."""
    wanted = set(names)
    for view in reversed(VIEWS):
        if view.name in wanted:
            wanted.update(view.reads)
    return wanted


def _with_needs(views: Iterable[View]) -> list[View]:
    """These views and all that they read, in the order in which they can be made."""
    wanted = needed(view.name for view in views)
    return [view for view in VIEWS if view.name in wanted]
