"""What was recorded last, as it was recorded: who follows closely asks the database nothing."""

from collections.abc import Sequence
from threading import Lock
from typing import Final

from heptalog.replay.errors import Conflict
from heptalog.service.store import Batch, Head, Stored

# A few seconds of the heaviest load; about 400 bytes each.
RECORDS_MAX: Final = 50_000


class Recent:
    """The last records without a gap. One thread adds to it, any may read."""

    def __init__(self, records_max: int = RECORDS_MAX) -> None:
        self._records_max = records_max
        self._lock = Lock()
        self._records: list[Stored] = []

    def add(self, batches: Sequence[Batch], answers: Sequence[Head | Conflict]) -> None:
        """Batches of a commit and what the store has answered to each."""
        records = [
            Stored(answer.position - last + number, batch.game_id, entry.event.sequence, entry.record)
            for batch, answer in zip(batches, answers, strict=True)
            if isinstance(answer, Head)
            for last in (len(batch.entries) - 1,)
            for number, entry in enumerate(batch.entries)
        ]
        if not records:
            return
        with self._lock:
            for record in records:
                # Somebody else has written in between: what is before that is of no use to who follows.
                if self._records and self._records[-1].position + 1 != record.position:
                    self._records.clear()
                self._records.append(record)
            if len(self._records) > self._records_max:
                # Half at once, because each time what stays is moved.
                del self._records[: -(self._records_max // 2)]

    def clear(self) -> None:
        """Know of nothing any more."""
        with self._lock:
            self._records.clear()

    def read(self, start: int, end: int) -> list[Stored]:
        """The records of these positions, both included; none where not all of them are here."""
        with self._lock:
            if not self._records or start < self._records[0].position or self._records[-1].position < end:
                return []
            first = self._records[0].position
            return self._records[start - first : end - first + 1]
