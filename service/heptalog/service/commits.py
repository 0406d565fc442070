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
        self._told: set[str] = set()  # of our own bugs, each once

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each commit, in the writer's thread; it is done at once, and asks nothing there."""
        self._listeners.append(listener)

    def committed(self, batches: Sequence[Batch], answers: Sequence[Head | Conflict]) -> None:
        """Hear of a commit. Done at once, in the writer's thread.

        It never raises: whatever goes wrong here, recording goes on, and who follows reads it from the store.
        """
        try:
            self.recent.add(batches, answers)
        except Exception:  # noqa: BLE001  # our own bug
            self.recent.clear()
            self._tell("what was recorded last is not remembered")
        for listener in self._listeners:
            try:
                listener()
            except Exception:  # noqa: BLE001  # our own bug, of which the others hear nothing
                self._tell("one who follows the log was not told of a commit")

    def _tell(self, trouble: str) -> None:
        """Log the exception that is being handled, the first time."""
        if trouble not in self._told:
            self._told.add(trouble)
            _log.exception(trouble)
