"""What waits for the writer: the jobs of everybody, and the commit that is on its way meanwhile."""

from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto
from threading import Condition, Lock
from typing import Final

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.appending.jobs import Job

# So many events are worth a thread of their own: fewer are committed by the writer itself, and while a commit is on its
# way it is not woken for fewer.
WORTH_EVENTS: Final = 100


class Sign(Enum):
    """What the writer does next, where it is not the next job."""

    COMMIT = auto()  # what it has gathered: the disk is free
    TROUBLE = auto()  # the commit that was on its way is not all that it was meant to be
    REST = auto()  # nobody has come for a while
    END = auto()


class Waiting:
    """The queue of the writer, bounded; what it has gathered and not yet handed to the disk counts as waiting."""

    def __init__(self, jobs_max: int, rest_seconds: float) -> None:
        lock = Lock()
        self.changed = Condition(lock)
        self._ready = Condition(lock)  # for the writer alone
        self.count = 0
        self._jobs: deque[Job] = deque()
        self._event_count = 0
        self._jobs_max = jobs_max
        # The patient ones would fill any queue; the rest is for those who would be refused.
        self._patient_max = max(1, jobs_max // 2)
        self._patient_count = 0
        self._wanting_room: set[Callable[[], None]] = set()
        self._rest_seconds = rest_seconds
        self._is_draining = False
        self._is_broken = False
        self._is_committing = False
        self._has_trouble = False

    @property
    def is_broken(self) -> bool:
        """Whether nobody is let in any more, because a bug of ours has stopped the writer."""
        return self._is_broken

    # Whoever appends, any thread.

    def put(self, job: Job) -> None:
        """Queue a job. Raises Unavailable at once where there is no room, or nobody who would take it.

        A patient one that finds no room has to try again after its `when_room`.
        """
        with self.changed:
            if self._is_draining:
                raise Unavailable(Code.DRAINING, rule="api")
            if self._is_broken:
                raise Unavailable(Code.WRITE_FAILED, rule="api")
            is_patient = job.when_room is not None
            if self.count >= self._jobs_max or (is_patient and self._patient_count >= self._patient_max):
                if job.when_room is not None:
                    self._wanting_room.add(job.when_room)
                raise Unavailable(Code.OVERLOADED, rule="api")
            self.count += 1
            self._patient_count += is_patient
            self._jobs.append(job)
            self._event_count += len(job.append.events)
            self.changed.notify_all()
            if self._is_worth_it:
                self._ready.notify()

    def drain(self) -> None:
        """Let nobody in any more; who is in is still served."""
        with self.changed:
            self._is_draining = True
            self._ready.notify()
            self._tell_of_room()

    # The writer's thread.

    def take(self, *, is_empty: bool, is_full: bool) -> Job | Sign:
        """The next job, or what else is to be done; the group that is being gathered is empty, or takes no more."""
        with self.changed:
            while True:
                if self._has_trouble:
                    return Sign.TROUBLE
                if self._jobs and not is_full and self._is_worth_it:
                    job = self._jobs.popleft()
                    self._event_count -= len(job.append.events)
                    return job
                if not self._is_committing:
                    if not is_empty:
                        return Sign.COMMIT
                    if self._is_draining:
                        return Sign.END
                self.changed.notify_all()
                is_idle = is_empty and not self._is_committing
                if not self._ready.wait(self._rest_seconds if is_idle else None) and not self._jobs:
                    return Sign.REST

    @property
    def _is_worth_it(self) -> bool:
        """Whether what waits is to be prepared now."""
        return not self._is_committing or self._event_count >= WORTH_EVENTS

    def wait_for_commit(self) -> None:
        """Wait until no commit is on its way."""
        with self.changed:
            self.changed.wait_for(lambda: not self._is_committing)

    def hand_over(self, jobs: Sequence[Job]) -> None:
        """A group goes to the disk."""
        with self.changed:
            self._is_committing = True
            self._leave(jobs)

    def let_go(self, job: Job) -> None:
        """Whoever waited for this one has gone away."""
        with self.changed:
            self._leave([job])

    def _leave(self, jobs: Sequence[Job]) -> None:
        self.count -= len(jobs)
        self._patient_count -= sum(job.when_room is not None for job in jobs)
        self._tell_of_room()

    def _tell_of_room(self) -> None:
        """Have the patient ones try again: there is room, or nobody who would take them."""
        wanting, self._wanting_room = self._wanting_room, set()
        for tell in wanting:
            tell()

    def calm(self) -> None:
        """What was not as it was meant to be has been put right."""
        with self.changed:
            self._has_trouble = False

    def break_off(self) -> list[Job]:
        """Let nobody in any more, and give up those who wait."""
        with self.changed:
            self._is_broken = True
            jobs = list(self._jobs)
            self._jobs.clear()
            self.count = self._event_count = self._patient_count = 0
            self._tell_of_room()
            return jobs

    # The thread that commits.

    def come_back(self, *, has_trouble: bool) -> None:
        """A group has been to the disk."""
        with self.changed:
            self._is_committing = False
            self._has_trouble = has_trouble
            self.changed.notify_all()
            self._ready.notify()
