"""The one writer: takes what has queued up, commits it together, and only then answers.

While a commit is on its way to the disk the next appends queue up behind it, so that groups grow with the load by
themselves and a lone append waits for nobody. A large commit is brought to the disk by a thread of its own, and the
next appends are prepared on top of it meanwhile. Nothing that is prepared is seen or answered before its own commit is
durable; and where a commit does not become what it was meant to be, what was prepared on top of it is prepared again,
as if it had waited.
"""

import logging
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import Final

from heptalog.replay.errors import Conflict, HeptalogError
from heptalog.service.appending.groups import Group, Groups
from heptalog.service.appending.jobs import FutureJob, Job
from heptalog.service.appending.waiting import WORTH_EVENTS, Sign, Waiting
from heptalog.service.appends import Append, Receipt
from heptalog.service.config import Settings
from heptalog.service.handler import Handler
from heptalog.service.live import LiveGames
from heptalog.service.store import Batch, Head, LogStore

_SHRINK_EVERY: Final = 64  # commits
_log = logging.getLogger(__name__)


class _Commit:
    """A group on its way to the disk, and what came of it."""

    __slots__ = ("error", "group", "results")

    def __init__(self, group: Group) -> None:
        self.group = group
        self.results: list[Head | Conflict] = []
        self.error: BaseException | None = None

    @property
    def is_calm(self) -> bool:
        """Whether all of it is durable as it was prepared."""
        return self.error is None and not any(isinstance(result, Conflict) for result in self.results)


class Writer:
    """Orders all appends, commits them in groups, and answers each once it is durable."""

    def __init__(
        self,
        store: LogStore,
        live: LiveGames,
        handler: Handler,
        settings: Settings,
        committed: Callable[[Sequence[Batch], Sequence[Head | Conflict]], None] | None = None,
    ) -> None:
        """`committed` hears of each commit once all are answered; it must be done at once and never raise."""
        self._committed = committed
        self._store = store
        self._live = live
        self._handler = handler
        self._group_events_max = settings.group_events_max
        self._waiting = Waiting(settings.queue_max, settings.rest_seconds)
        self._groups = Groups(handler, self._waiting.wait_for_commit)
        self._commits: queue.SimpleQueue[_Commit | None] = queue.SimpleQueue()
        self._last: _Commit | None = None
        self._commit_count = 0
        self._thread = Thread(target=self._run, name="heptalog-writer", daemon=True)
        self._committing = Thread(target=self._run_commits, name="heptalog-committer", daemon=True)

    @property
    def is_broken(self) -> bool:
        """Whether a bug of ours has stopped it: it takes no appends any more."""
        return self._waiting.is_broken

    def start(self) -> None:
        """Begin to take appends."""
        self._thread.start()
        self._committing.start()

    def submit(self, append: Append) -> Future[Receipt]:
        """Queue an append; the future holds its receipt or its error once either is final.

        Raises Unavailable at once where the queue is full, or the writer is shutting down or broken.
        """
        job = FutureJob(append)
        self.enqueue(job)
        return job.future

    def enqueue(self, job: Job) -> None:
        """Queue an append for whoever wants to be told in a way of its own; raises what `submit` raises.

        Where it is patient and there is no room, its `when_room` is called once that is worth another try.
        """
        self._waiting.put(job)

    def drain(self) -> None:
        """Take no more, finish what is queued, and stop."""
        self._waiting.drain()
        if self._thread.is_alive():
            self._thread.join()
        if self._committing.is_alive():
            self._committing.join()

    # The thread that prepares.

    def _run(self) -> None:
        group = Group()
        try:
            while True:
                is_full = group.event_count >= self._group_events_max
                match self._waiting.take(is_empty=not group.jobs, is_full=is_full):
                    case Sign.TROUBLE:
                        group = self._out_of_trouble(group)
                    case Sign.COMMIT:
                        group = self._handed_over(group)
                    case Sign.REST:
                        self._rest()
                    case Sign.END:
                        return
                    case job if job.begins():
                        self._groups.prepare(group, job)
                    case left:
                        # Nobody waits for it any more, and nothing stands on it yet.
                        self._waiting.let_go(left)
        except BaseException as error:  # noqa: BLE001  # whatever it was, nobody may wait for ever
            self._break(group, error)
        finally:
            self._commits.put(None)

    def _rest(self) -> None:
        """While there is nothing to do the store may put itself in order."""
        try:
            self._store.rest()
        except HeptalogError as error:
            _log.error("the store could not be put in order: %s", error)

    def _handed_over(self, group: Group) -> Group:
        """Send a group to the disk, and begin the next one."""
        self._commit_count += 1
        if self._commit_count % _SHRINK_EVERY == 0:
            self._live.shrink()
        commit = self._last = _Commit(group)
        self._waiting.hand_over(group.jobs)
        if group.event_count >= WORTH_EVENTS and not group.is_shaken:
            self._commits.put(commit)
            return Group()
        try:
            self._commit(commit)
            self._settle(commit)
        finally:
            self._waiting.come_back(has_trouble=False)
        return Group()

    def _out_of_trouble(self, group: Group) -> Group:
        """Answer a commit that is not what it was meant to be, and prepare anew what was prepared on top of it."""
        assert self._last is not None, "it was a commit that met trouble"
        self._handler.forget(group.games)
        self._settle(self._last)
        self._waiting.calm()
        return self._groups.prepared_again(group.jobs)

    def _settle(self, commit: _Commit) -> None:
        if isinstance(commit.error, Exception):
            self._groups.fail(commit.group, commit.error)
            return
        if commit.error is not None:
            raise commit.error
        self._groups.settle(commit.group, commit.results)
        self._tell_of(commit)

    def _break(self, group: Group, error: BaseException) -> None:
        """A bug of ours met the writer itself: fail all who wait, and take no more."""
        _log.critical("the writer has stopped", exc_info=error)
        jobs = self._waiting.break_off()
        self._waiting.wait_for_commit()
        on_its_way = [] if self._last is None else self._last.group.jobs
        self._groups.give_up([*on_its_way, *group.jobs, *jobs])

    # The thread that commits.

    def _run_commits(self) -> None:
        while (commit := self._commits.get()) is not None:
            self._commit(commit)
            if commit.is_calm:
                try:
                    self._groups.settle_calm(commit.group, commit.results)
                    self._tell_of(commit)
                except BaseException as error:  # noqa: BLE001  # a bug of ours, which stops the other thread
                    commit.error = _Stopped(error)
            self._waiting.come_back(has_trouble=not commit.is_calm)

    def _commit(self, commit: _Commit) -> None:
        group = commit.group
        if not group.batches and not group.refusals:
            return
        try:
            commit.results = self._store.append(group.batches, group.refusals)
        except BaseException as error:  # noqa: BLE001  # whatever it was, nothing of this commit is durable
            commit.error = error

    def _tell_of(self, commit: _Commit) -> None:
        if self._committed is not None and (commit.group.batches or commit.group.refusals):
            self._committed(commit.group.batches, commit.results)


class _Stopped(BaseException):
    """Wraps what met the thread that commits, so that it is taken for no failure of the store."""
