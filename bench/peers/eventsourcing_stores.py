"""The Python library eventsourcing: its recorders, without what its aggregates take beside them."""

import uuid
from collections.abc import Callable
from importlib import metadata
from typing import Any, Final

from eventsourcing.persistence import StoredEvent  # pyright: ignore[reportMissingImports] - in the peers' environment

from bench.peers.shapes import SHAPES, Batch
from bench.peers.stores import Append

VERSION: Final = metadata.version("eventsourcing")
CALLERS_MAX: Final = max(shape.callers for shape in SHAPES.values())
# Its notification log gives ten at a time unless it is told otherwise.
_PAGE_SIZE: Final = 1000


class RecorderStore:
    """A recorder as a store; the callers share it, it has a pool of connections."""

    def __init__(self, recorder: Any, settle: Callable[[], object]) -> None:
        self._recorder = recorder
        self._settle = settle

    def connected(self) -> Append:
        """The same for every caller."""
        insert: Callable[[list[StoredEvent]], object] = self._recorder.insert_events

        def append(batch: Batch) -> int:
            insert(
                [
                    StoredEvent(batch.stream, batch.first + place, fact.kind, fact.data)
                    for place, fact in enumerate(batch.facts)
                ]
            )
            return batch.first + len(batch.facts) - 1

        return append

    def settle(self) -> None:
        """What its database does in time."""
        self._settle()

    def read_all(self) -> int:
        """The notification log, page by page."""
        total = 0
        start = None
        while page := self._recorder.select_notifications(start, _PAGE_SIZE, inclusive_of_start=False):
            total += len(page)
            start = page[-1].id
        return total

    def read_one(self, stream: uuid.UUID) -> int:
        """One aggregate's events."""
        return len(self._recorder.select_events(stream))
