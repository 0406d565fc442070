"""What follows a commit, once all who asked for it are answered: it is remembered, and who follows the log is told."""

import logging
from collections.abc import Callable, Sequence

from heptalog.replay.errors import Conflict
from heptalog.service.recent import Recent
from heptalog.service.store import Batch, Head

_log = logging.getLogger(__name__)


class Commits:
    """Remembers the last records, and tells listeners that there are more; what they are, they ask the log."""

    def __init__(self) -> None:
        self.recent = Recent()
        self._listeners: list[Callable[[], None]] = []
        self._is_deaf = False

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each commit, in the writer's thread; it is done at once, and asks nothing there."""
        self._listeners.append(listener)

    def committed(self, batches: Sequence[Batch], answers: Sequence[Head | Conflict]) -> None:
        """Hear of a commit. Done at once, in the writer's thread.

        It never raises: whatever goes wrong here, recording goes on, and who follows reads it from the store.
        """
        try:
            try:
                self.recent.add(batches, answers)
            finally:
                for listener in self._listeners:
                    listener()
        except Exception:  # noqa: BLE001  # our own bug, told of once
            self.recent.clear()
            if not self._is_deaf:
                self._is_deaf = True
                _log.exception("what was recorded last is not remembered")
