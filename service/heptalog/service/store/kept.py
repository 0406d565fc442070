"""What is kept beside the records for readers, and what it must be: every column is derived from a record here.

The writing side fills its tables from these functions and the checking side holds the tables against them, so that the
two cannot drift apart. A value that is absent is None; times are microseconds since 1970 UTC, as precise as a column.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.json import encode

from heptalog.replay.errors import Code, Corrupt
from heptalog.replay.events import Body, Event, GameStarted, camel_name
from heptalog.replay.gamefile import options_given
from heptalog.service.store import Ending
from heptalog.service.store.batches import rules_version_of, ruleset_of

# By the names of the columns, in the order of what the functions below give.
EVENT_COLUMNS: Final = ("sequence", "kind", "seat", "event_id", "occurred_at", "recorded_at", "recorded_by")
GAME_COLUMNS: Final = (
    "game_id",
    "ruleset",
    "rules_version",
    "tournament",
    "table_name",
    "players",
    "options",
    "tags",
    "created_at",
    "created_at_nanoseconds",
    "started",
)
ENDING_COLUMNS: Final = ("sequence", "status", "scores", "winners", "recorded_at")

Columns: TypeAlias = tuple[Any, ...]


class KeptEvent(NamedTuple):
    """A row of the log as it lies there, unchecked: its place, its record, and the columns beside it."""

    position: int
    game_number: int
    record: bytes
    sequence: int
    kind: str
    seat: int | None
    event_id: str | None
    occurred_at: int | None
    recorded_at: int | None
    recorded_by: str | None

    @property
    def columns(self) -> Columns:
        """The columns beside the record, by EVENT_COLUMNS."""
        return self[3:]


class KeptGame(NamedTuple):
    """A row of the list of games as it lies there, unchecked; `columns` are by GAME_COLUMNS."""

    number: int
    columns: Columns

    @property
    def game_id(self) -> str:
        """The game's name, as this row has it."""
        name: str = self.columns[0]
        return name


class KeptEnding(NamedTuple):
    """A row of the list of endings as it lies there, unchecked; `columns` are by ENDING_COLUMNS."""

    number: int
    columns: Columns


def event_columns(event: Event) -> Columns:
    """What stands beside the record of an event."""
    body = event.body
    return (
        event.sequence,
        kind_of(type(body)),
        getattr(body, "seat", None),
        event.event_id or None,
        event.occurred_at // 1000 or None,
        event.recorded_at // 1000 or None,
        event.recorded_by or None,
    )


def columns_of(events: Sequence[Event]) -> Columns:
    """The same of many events, column by column: half the work."""
    bodies = [event.body for event in events]
    return (
        [event.sequence for event in events],
        [kind_of(type(body)) for body in bodies],
        [getattr(body, "seat", None) for body in bodies],
        [event.event_id or None for event in events],
        [event.occurred_at // 1000 or None for event in events],
        [event.recorded_at // 1000 or None for event in events],
        [event.recorded_by or None for event in events],
    )


def game_columns(event: Event, record: bytes) -> Columns:
    """What the list of games says of a game, from its first event."""
    started = event.body
    assert isinstance(started, GameStarted), "a game starts once, and first"
    microseconds, nanoseconds = divmod(event.recorded_at, 1000)
    return (
        event.game_id,
        ruleset_of(started),
        rules_version_of(started),
        started.tournament or None,
        started.table or None,
        [{"id": player.id, "name": player.name} for player in started.players],
        encode(options_given(started.rules)).decode(),
        [{"name": tag.name, "value": tag.value} for tag in started.tags],
        microseconds or None,
        nanoseconds,
        record,
    )


def ending_columns(ending: Ending, recorded_at: int) -> Columns:
    """What the list of endings says of one, made by an event that was recorded then, in nanoseconds."""
    return (
        ending.sequence,
        ending.status.value,
        list(ending.scores),
        list(ending.winners),
        recorded_at // 1000 or None,
    )


def differing(names: tuple[str, ...], kept: Columns, derived: Columns) -> Iterator[str]:
    """The names of the columns in which two rows differ."""
    for name, one, other in zip(names, kept, derived, strict=True):
        if one != other:
            yield name


def check_event(kept: KeptEvent, event: Event) -> None:
    """Raise Corrupt where what stands beside a record is not what it says: the table, the column and the place."""
    derived = event_columns(event)
    if kept.columns != derived:
        column = next(differing(EVENT_COLUMNS, kept.columns, derived))
        raise columns_differ("events", column, position=kept.position, sequence=event.sequence)


def check_game(kept: KeptGame, event: Event, record: bytes) -> None:
    """Raise Corrupt where the list of games does not say what the first event of a game says."""
    derived = game_columns(event, record)
    if kept.columns != derived:
        raise columns_differ("games", next(differing(GAME_COLUMNS, kept.columns, derived)), sequence=0)


def columns_differ(table: str, column: str, **place: object) -> Corrupt:
    """What is said of a column. Its value is not told: it might be what the column of another row hides."""
    return Corrupt(Code.COLUMNS_DIFFER, rule="evidence", table=table, column=column, **place)


@cache
def kind_of(body: type[Body]) -> str:
    """What the column says of the kind of a body."""
    return camel_name(body)
