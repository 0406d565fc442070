"""The laws of rows where a game was recorded by an older version, as a program. Run by `test_projecting_records.py`."""

# ruff: noqa: I001  # the made-up version comes first
from tests.laws.upcasting import Told, games

from collections.abc import Sequence
from typing import Any

from heptalog.analytics.projecting.game import project
from heptalog.analytics.tables import TABLES, columns_of
from heptalog.replay.times import SECOND
from heptalog.replay.events import Body, Event, MovesRetracted

STARTED_AT = 1_790_000_000 * SECOND
_COLUMNS = {table.name: [column.name for column in columns_of(table)] for table in TABLES}


def law_rows_are_those_of_what_was_meant(game: Told) -> None:
    """An older event has the rows of the events that it means."""
    _compare(game.old, game.new, game.ends)


def law_a_takeback_takes_back_all_that_was_meant(game: Told) -> None:
    """A takeback between two older events, and one of that takeback."""
    for middle in range(1, len(game.old), 7):
        head = len(game.old) - 1
        old = [*game.old, MovesRetracted(middle), MovesRetracted(head)]
        new = [*game.new, MovesRetracted(game.ends[middle]), MovesRetracted(game.ends[head])]
        for count in (1, 2):
            ends = [*game.ends, *(game.ends[-1] + 1 + place for place in range(count))]
            _compare(old[: head + 1 + count], new[: game.ends[-1] + 1 + count], ends)


def _compare(old: Sequence[Body], new: Sequence[Body], ends: Sequence[int]) -> None:
    """`ends[n]` is where today's game is after the older event `n`; a row names that one where it names a sequence."""
    place_of = [place for place, end in enumerate(ends) for _ in range(end - (ends[place - 1] if place else -1))]
    of_old = _rows(old, range(len(old)))
    of_new = _rows(new, place_of)
    for table, rows in of_new.items():
        for row in rows:
            for column in ("sequence", "first_sequence", "last_sequence", "to_sequence"):
                if row.get(column) is not None:
                    row[column] = place_of[row[column]]
            if row.get("think_seconds") == 0:
                # A second turn of one event: its time is that of the first.
                row["think_seconds"] = None
            if table == "games":
                row["events"] = len(old)
        assert rows == of_old[table], table


def _rows(bodies: Sequence[Body], places: Sequence[int]) -> dict[str, list[dict[str, Any]]]:
    """Rows of a game whose times and positions are those of the older events."""
    events = [
        (100 + place, Event(sequence, body, "g", "", STARTED_AT + place * SECOND, STARTED_AT + place * SECOND + 5_000))
        for sequence, (body, place) in enumerate(zip(bodies, places, strict=True))
    ]
    return {
        table: [dict(zip(_COLUMNS[table], row, strict=True)) for row in rows]
        for table, rows in project(events).rows().items()
    }


def main() -> None:
    """Hold every law against every game."""
    told = games()
    for name, law in list(globals().items()):
        if name.startswith("law_"):
            for game in told:
                law(game)
            print(name)


if __name__ == "__main__":
    main()
