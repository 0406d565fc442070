"""What was recorded last, as it was recorded: who follows closely asks the database nothing."""

from collections.abc import Sequence
from threading import Lock
from typing import Final

from heptalog.replay.errors import Conflict
from heptalog.service.store import Batch, Head, Stored

# A few seconds of the heaviest load; most have about 400 bytes.
RECORDS_MAX: Final = 50_000
BYTES_MAX: Final = 64 * 1024 * 1024


class Recent:
    """The last records without a gap. One thread adds to it, any may read."""

    def __init__(self, records_max: int = RECORDS_MAX, bytes_max: int = BYTES_MAX) -> None:
        self._records_max = records_max
        self._bytes_max = bytes_max
        self._size = 0
        self._lock = Lock()
        self._records: list[Stored] = []

    def add(self, batches: Sequence[Batch], answers: Sequence[Head | Conflict]) -> None:
        """Batches of a commit and what the store has answered to each."""
        records: list[Stored] = []
        for batch, answer in zip(batches, answers, strict=True):
            if isinstance(answer, Head):
                first = answer.position - len(batch.entries) + 1
                records += [
                    Stored(first + number, batch.game_id, entry.event.sequence, entry.record)
                    for number, entry in enumerate(batch.entries)
                ]
        with self._lock:
            for record in records:
                # Somebody else has written in between: what is before that is of no use to who follows.
                if self._records and self._records[-1].position + 1 != record.position:
                    self._forget(len(self._records))
                self._records.append(record)
                self._size += len(record.record)
            # Half at once, because each time what stays is moved.
            if len(self._records) > self._records_max:
                self._forget(len(self._records) - self._records_max // 2)
            while self._size > self._bytes_max and len(self._records) > 1:
                self._forget((len(self._records) + 1) // 2)

    def _forget(self, count: int) -> None:
        """Let go of the first ones."""
        self._size -= sum(len(record.record) for record in self._records[:count])
        del self._records[:count]

    def clear(self) -> None:
        """Know of nothing any more."""
        with self._lock:
            self._forget(len(self._records))

    def read(self, start: int, end: int) -> list[Stored]:
        """The records of these positions, both included; none where not all of them are here."""
        with self._lock:
            if not self._records or start < self._records[0].position or self._records[-1].position < end:
                return []
            first = self._records[0].position
            return self._records[start - first : end - first + 1]
