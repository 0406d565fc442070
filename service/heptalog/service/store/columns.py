"""The rows of the log by columns, held against the records of a whole game at once.

Whoever examines many games reads them so: no row is made, and no event. Here is only found that what stands beside the
records is what they say; where it is not, `heptalog.service.store.kept` says in what, row by row.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heptalog.replay.envelope import OCCURRED_AT
from heptalog.replay.plain import PlainGame
from heptalog.service.store.kept import KeptEvent, event_columns, kind_of

Times = npt.NDArray[np.int64]

# No time that was ever written has so many microseconds.
_ABSENT: Final = -(2**63)
# In the field of a time: its tag, its length, the tag of the seconds, these, the tag of the nanoseconds, those.
_TIME_SIZE: Final = 14
_SECONDS: Final = slice(3, 8)
_NANOS: Final = slice(9, 14)
_NANOS_AFTER: Final = 7  # bytes of the length that are not nanoseconds
_PLACES: Final = np.arange(_TIME_SIZE)
_WEIGHTS: Final = 128 ** np.arange(5)


class GameRows(Sequence[KeptEvent]):
    """The rows of one game, by position. As a sequence they are made one by one."""

    __slots__ = ("_columns", "_times")

    def __init__(self, columns: Mapping[str, list[Any]], times: Mapping[str, Times]) -> None:
        self._columns = columns
        self._times = times

    @property
    def records(self) -> list[bytes]:
        """Their records."""
        return self._columns["record"]

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: Any) -> Any:
        # Also called for each row of an iteration, which is rare: only where something is wrong with a game.
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        row: dict[str, Any] = {name: column[index] for name, column in self._columns.items()}
        for name, column in self._times.items():
            time = int(column[index])
            row[name] = None if time == _ABSENT else time
        return KeptEvent(**row)

    def recorded_at(self, sequence: Any) -> int | None:
        """What the column says of when the event with this sequence was recorded; None where there is none."""
        time = int(self._times["recorded_at"][sequence]) if sequence in range(len(self)) else _ABSENT
        return None if time == _ABSENT else time

    def are_of(self, game: PlainGame) -> bool:
        """Whether these are the rows of this game's events in order, with what each of them says beside it."""
        columns = self._columns
        if columns["sequence"] != list(range(len(self))) or self[0].columns != event_columns(game.first):
            return False
        recorders = {recorder: recorder[2:].decode() or None for recorder in set(game.recorders)}
        beside: tuple[tuple[str, list[Any]], ...] = (
            ("event_id", [event_id.decode() for event_id in game.event_ids]),
            ("kind", [kind_of(type(body)) for body in game.bodies]),
            ("seat", [getattr(body, "seat", None) for body in game.bodies]),
            ("recorded_by", [recorders[recorder] for recorder in game.recorders]),
        )
        if any(columns[name][1:] != derived for name, derived in beside):
            return False
        occurred_at, recorded_at = _microseconds(game.times)
        return np.array_equal(self._times["occurred_at"][1:], occurred_at) and np.array_equal(
            self._times["recorded_at"][1:], recorded_at
        )


def rows_of(events: Sequence[KeptEvent]) -> GameRows:
    """These rows of one game, of which there is at least one, by columns."""
    columns = dict(zip(KeptEvent._fields, map(list, zip(*events, strict=True)), strict=True))
    times = {
        name: np.array([_ABSENT if time is None else time for time in columns.pop(name)], np.int64)
        for name in ("occurred_at", "recorded_at")
    }
    return GameRows(columns, times)


def games_in(columns: Mapping[str, npt.NDArray[Any]]) -> Iterator[tuple[int, GameRows]]:
    """The rows of each game among these, which are in the order of the games: its number and its rows.

    The columns are by the names of `KeptEvent`.
    """
    numbers = columns["game_number"]
    if not len(numbers):
        return
    times = {name: np.ma.filled(columns[name], _ABSENT) for name in ("occurred_at", "recorded_at")}
    # The engine gives bytes that can be changed.
    lists = {name: column.tolist() for name, column in columns.items() if name not in times}
    lists["record"] = list(map(bytes, lists["record"]))
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
    for start, end in pairwise(starts):
        of_game = {name: column[start:end] for name, column in lists.items()}
        yield int(numbers[start]), GameRows(of_game, {name: column[start:end] for name, column in times.items()})


def _microseconds(fields: Sequence[bytes]) -> tuple[Times, Times]:
    """When it occurred and when it was recorded, as the plain fields of both say, one after the other in each."""
    sizes = np.fromiter(map(len, fields), np.int64, len(fields))
    ends = sizes.cumsum()
    starts = ends - sizes
    # Past its end any field can be looked at as one of full size.
    data = np.frombuffer(b"".join(fields) + bytes(2 * _TIME_SIZE), np.uint8).astype(np.int64)
    has_occurred = (starts < ends) & (data[starts] == OCCURRED_AT)
    later = starts + np.where(has_occurred, 2 + data[starts + 1], 0)
    return _times_at(data, starts, has_occurred), _times_at(data, later, later < ends)


def _times_at(data: Times, starts: Times, are_there: npt.NDArray[np.bool_]) -> Times:
    fields = data[starts[:, None] + _PLACES]
    nanos_size = fields[:, 1:2] - _NANOS_AFTER
    low = fields & 127
    seconds = low[:, _SECONDS] @ _WEIGHTS
    nanos = np.where(_PLACES[:5] < nanos_size, low[:, _NANOS], 0) @ _WEIGHTS
    return np.where(are_there, seconds * 1_000_000 + nanos // 1000, _ABSENT)
