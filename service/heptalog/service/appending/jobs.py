"""One append on its way through the writer, and whoever waits for it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, TypeAlias

from heptalog.service.appending.prepared import Prepared
from heptalog.service.appends import Append, Receipt

Outcome: TypeAlias = Prepared | Receipt | BaseException


class Job:
    """One append on its way. `tell` hears of the outcomes of all that it waits for in one commit, in one call.

    It is called in a thread of the writer's, must be done at once, and never raises.
    """

    __slots__ = ("append", "is_told", "outcome", "tell", "when_room")

    def __init__(self, append: Append, tell: "Callable[[Sequence[Any]], None]") -> None:
        self.append = append
        self.tell = tell
        self.outcome: Outcome | None = None
        self.is_told = False
        # Whoever has this is patient: where there is no room it hears of room, as `tell` hears of outcomes.
        self.when_room: Callable[[], None] | None = None

    def begins(self) -> bool:
        """Whether anybody still waits for it; asked once, before it is prepared. Then it is recorded all the same."""
        return True


class FutureJob(Job):
    """One that a thread waits for."""

    __slots__ = ("future",)

    def __init__(self, append: Append) -> None:
        super().__init__(append, _settle)
        self.future: Future[Receipt] = Future()

    def begins(self) -> bool:
        """Whether nobody has cancelled it; from here on nobody can."""
        return self.future.set_running_or_notify_cancel()


def tell_all(jobs: Sequence[Job]) -> None:
    """Tell everybody who has not been told what came of it: one call for all who hear it together."""
    told: dict[Callable[[Sequence[Any]], None], list[Job]] = {}
    for job in jobs:
        if not job.is_told:
            job.is_told = True
            told.setdefault(job.tell, []).append(job)
    for tell, theirs in told.items():
        tell(theirs)


def _settle(jobs: Sequence[FutureJob]) -> None:
    for job in jobs:
        # Who waits may go away at any time.
        with suppress(InvalidStateError):
            if isinstance(job.outcome, Receipt):
                job.future.set_result(job.outcome)
            else:
                assert isinstance(job.outcome, BaseException), "who is told is told something"
                job.future.set_exception(job.outcome)
