"""The one writer: a thread that takes what has queued up, commits it together, and only then answers.

While a commit is on its way to the disk the next appends queue up behind it, so that groups grow with the load by
themselves and a lone append waits for nobody.
"""

import logging
import queue
from concurrent.futures import Future
from threading import Thread
from typing import Final

from heptalog.replay.errors import Code, Conflict, HeptalogError, Refused, Unavailable
from heptalog.service.appends import Append, Receipt
from heptalog.service.config import Settings
from heptalog.service.handler import Handler, Prepared
from heptalog.service.live import LiveGames
from heptalog.service.store import Batch, Head, LogStore, Refusal

_SHRINK_EVERY: Final = 64  # commits
_log = logging.getLogger(__name__)


class Job:
    """One append on its way, and who waits for it."""

    __slots__ = ("append", "future", "outcome")

    def __init__(self, append: Append) -> None:
        self.append = append
        self.future: Future[Receipt] = Future()
        self.outcome: Prepared | BaseException | None = None


class Writer:
    """Orders all appends, commits them in groups, and answers each once it is durable."""

    def __init__(self, store: LogStore, live: LiveGames, handler: Handler, settings: Settings) -> None:
        self._store = store
        self._live = live
        self._handler = handler
        self._group_events_max = settings.group_events_max
        self._jobs: queue.Queue[Job | None] = queue.Queue(settings.queue_max)
        self._is_draining = False
        self._commits = 0
        self._thread = Thread(target=self._run, name="heptalog-writer", daemon=True)

    def start(self) -> None:
        """Begin to take appends."""
        self._thread.start()

    def submit(self, append: Append) -> Future[Receipt]:
        """Queue an append; the future holds its receipt or its error once either is final.

        Raises Unavailable at once where the queue is full or the writer is shutting down.
        """
        if self._is_draining:
            raise Unavailable(Code.DRAINING, rule="api")
        job = Job(append)
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            raise Unavailable(Code.OVERLOADED, rule="api") from None
        return job.future

    def drain(self) -> None:
        """Take no more, finish what is queued, and stop."""
        if not self._is_draining:
            self._is_draining = True
            self._jobs.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        is_last = False
        while not is_last:
            group, is_last = self._next_group()
            if group:
                self._commit(group)

    def _next_group(self) -> tuple[list[Job], bool]:
        """What waits now, at least one job, as many events as one commit takes; and whether that is the end."""
        job = self._jobs.get()
        group: list[Job] = []
        events = 0
        while job is not None:
            group.append(job)
            events += len(job.append.events)
            if events >= self._group_events_max:
                return group, False
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return group, False
        return group, True

    def _commit(self, group: list[Job]) -> None:
        """Commit what a group of jobs asks for, then answer every one of them."""
        batches: list[Batch] = []
        refusals: list[Refusal] = []
        # Who has gone away before the work began is passed over; from here on nobody can.
        group = [job for job in group if job.future.set_running_or_notify_cancel()]
        for job in group:
            self._prepare(job, batches, refusals)
        results: list[Head | Conflict] = []
        if batches or refusals:
            try:
                results = self._store.append(batches, refusals)
            except Exception as error:  # noqa: BLE001  # whatever it was, nothing of this commit is durable
                self._fail(group, error)
                return
        self._settle(group, results)
        self._commits += 1
        if self._commits % _SHRINK_EVERY == 0:
            self._live.shrink()

    def _prepare(self, job: Job, batches: list[Batch], refusals: list[Refusal]) -> None:
        try:
            prepared = self._handler.prepare(job.append)
        except Refused as error:
            job.outcome = error
            refusals.append(self._handler.refusal(job.append, error))
        except HeptalogError as error:
            job.outcome = error
        except Exception as error:  # noqa: BLE001
            # Our own bug. It must not stop the writer, and the game it happened in may be half changed.
            _log.exception("an append failed")
            self._handler.forget([job.append.game_id])
            job.outcome = error
        else:
            job.outcome = prepared
            if prepared.batch is not None:
                batches.append(prepared.batch)

    def _settle(self, group: list[Job], results: list[Head | Conflict]) -> None:
        remaining = iter(results)
        for job in group:
            outcome = job.outcome
            if isinstance(outcome, Prepared) and outcome.batch is not None:
                result = next(remaining)
                if isinstance(result, Conflict):
                    # Another writer was faster: what is in memory is not what is in the log.
                    self._handler.forget([job.append.game_id])
                    outcome = result
            if isinstance(outcome, Prepared):
                job.future.set_result(self._handler.settle(outcome))
            else:
                assert outcome is not None, "every job of a group is prepared"
                job.future.set_exception(outcome)

    def _fail(self, group: list[Job], error: Exception) -> None:
        _log.error("a commit failed: %s", error)
        self._handler.forget({job.append.game_id for job in group})
        failure = error if isinstance(error, HeptalogError) else Unavailable(Code.WRITE_FAILED, rule="api")
        for job in group:
            job.future.set_exception(failure)
