"""Records of one game as they lie in a log, held against what they are kept as and what is kept beside them."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest

from heptalog.replay.codec import decode
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable
from heptalog.replay.events import Event
from heptalog.replay.fold import Fold
from heptalog.replay.verify import Examiner, Report, concluded, fault_in
from heptalog.service.store import Stored
from heptalog.service.store.endings import endings_of
from heptalog.service.store.kept import Columns, KeptEvent, ending_columns


class WholeGame:
    """All events of a game that can be read, also those after a fault, of which only the first is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._examiner = Examiner()
        self._fault: Report | None = None
        self._is_cut = False

    @property
    def report(self) -> Report:
        """What came of examining it."""
        return self._fault or concluded(self._examiner)

    @property
    def fold(self) -> Fold | None:
        """The game as far as its rules allow; none where not even its beginning does."""
        return self._examiner.fold

    def take(self, entries: Iterable[tuple[Event, bytes | None]]) -> bool:
        """Take the next events; False where one could not be read, and so none that comes after it."""
        reading = self._kept(entries)
        if self._fault is None:
            self._fault = fault_in(reading, self._examiner)
        with suppress(HeptalogError):
            # What comes after a fault is read for its own sake.
            deque(reading, maxlen=0)
        return not self._is_cut

    def _kept(self, entries: Iterable[tuple[Event, bytes | None]]) -> Iterator[tuple[Event, bytes | None]]:
        self._is_cut = True
        for entry in entries:
            self.events.append(entry[0])
            yield entry
        self._is_cut = False


def decoded(stored: Stored, game_id: str) -> tuple[Event, bytes]:
    """The event in a record and its public form. Raises Corrupt where it is not what it is kept as.

    Raises Unavailable (RECORD_NEWER) where it is whole and a newer version has recorded it.
    """
    event, public = event_of(stored, game_id)
    if event.sequence != stored.sequence:
        raise _not_kept_as(stored)
    return event, public


def event_of(stored: Stored | KeptEvent, game_id: str) -> tuple[Event, bytes]:
    """The same, whatever its sequence is kept as."""
    try:
        event, public = decode(stored.record)
    except HeptalogError as error:
        place: dict[str, object] = {"sequence": stored.sequence, "position": stored.position}
        if error.code is Code.RECORD_NEWER:
            raise Unavailable(error.code, rule="", **place) from error
        if isinstance(error, Corrupt):
            raise Corrupt(error.code, rule="evidence", **(error.facts | place)) from error
        raise Corrupt(Code.RECORD_DAMAGED, rule="evidence", **place) from error
    if event.game_id != game_id:
        raise _not_kept_as(stored)
    return event, public


def check_endings(kept: Sequence[Columns], fold: Fold) -> None:
    """Raise Corrupt where the endings that are kept, without their times, are not what follows from the events."""
    derived = [ending_columns(ending, 0)[:-1] for ending in endings_of(fold)]
    for one, other in zip_longest(kept, derived):
        if one != other:
            raise endings_differ(min(columns[0] for columns in (one, other) if columns))


def endings_differ(sequence: int) -> Corrupt:
    """What is said where the list of endings says something else of this event than follows from it."""
    return Corrupt(Code.ENDINGS_DIFFER, rule="evidence", sequence=sequence)


def _not_kept_as(stored: Stored | KeptEvent) -> Corrupt:
    problem = "it is not the event that it is kept as"
    return Corrupt(Code.RECORD_DAMAGED, rule="evidence", sequence=stored.sequence, problem=problem)
