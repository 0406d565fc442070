"""When the files of the tables are read again: all of them soon after a start, then a little now and then, for ever."""

import math
from typing import Final

# One step: short enough that a question that comes in the middle of it waits for little.
STEP_SIZE: Final = 1024 * 1024
# Between a step and the next there is at least so much time, so that a first round takes little of a processor.
PACE_SECONDS: Final = 0.25
# After a start there is other work.
FIRST_SECONDS: Final = 10.0


class Rounds:
    """The times of the steps of one round after the other; whoever uses it has the clock."""

    def __init__(
        self, round_seconds: float, *, first_seconds: float = FIRST_SECONDS, pace_seconds: float = PACE_SECONDS
    ) -> None:
        """A round takes about so long, but the first after a start no longer than it must; 0 is none at all."""
        self._round_seconds = round_seconds
        self._first_seconds = first_seconds
        self._pace_seconds = pace_seconds
        # When the next step is due, and when it may be made at the earliest.
        self._due_at = math.inf
        self._free_at = 0.0
        self._is_first = True

    def begin(self, now: float) -> None:
        """A process has been started, and nobody knows what lies there."""
        self._is_first = True
        self._due_at = now + self._first_seconds if self._round_seconds > 0 else math.inf

    def left(self, now: float) -> float:
        """Seconds until the next step."""
        return max(self._due_at, self._free_at) - now

    def took(self, read: int, total: int, now: float, *, is_over: bool) -> None:
        """A step has read so many bytes of so many. What comes late is made up for, at the pace of a first round."""
        self._free_at = now + self._pace_seconds
        if self._is_first:
            # It is as late as it is: there is nothing to make up for.
            self._due_at = now
        if is_over or not self._is_first:
            self._is_first = False
            self._due_at += self._round_seconds * (read / total if total else float(is_over))
