"""The one writer: a thread that takes what has queued up, commits it together, and only then answers.

While a commit is on its way to the disk the next appends queue up behind it, so that groups grow with the load by
themselves and a lone append waits for nobody.
"""

import logging
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from copy import copy
from threading import Lock, Thread
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
        self.outcome: Prepared | Receipt | Exception | None = None


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
        self._rest_seconds = settings.rest_seconds
        self._jobs: queue.Queue[Job | None] = queue.Queue(settings.queue_max)
        self._is_draining = False
        self._is_broken = False
        self._is_full = False
        # Whoever is let in before the end is also queued before it.
        self._gate = Lock()
        self._commits = 0
        self._thread = Thread(target=self._run, name="heptalog-writer", daemon=True)

    @property
    def is_broken(self) -> bool:
        """Whether a bug of ours has stopped it: it takes no appends any more."""
        return self._is_broken

    def start(self) -> None:
        """Begin to take appends."""
        self._thread.start()

    def submit(self, append: Append) -> Future[Receipt]:
        """Queue an append; the future holds its receipt or its error once either is final.

        Raises Unavailable at once where the queue is full, or the writer is shutting down or broken.
        """
        job = Job(append)
        with self._gate:
            if self._is_draining:
                raise Unavailable(Code.DRAINING, rule="api")
            if self._is_broken:
                raise Unavailable(Code.WRITE_FAILED, rule="api")
            try:
                self._jobs.put_nowait(job)
            except queue.Full:
                raise Unavailable(Code.OVERLOADED, rule="api") from None
        return job.future

    def drain(self) -> None:
        """Take no more, finish what is queued, and stop."""
        with self._gate:
            was_draining, self._is_draining = self._is_draining, True
        # Nobody would take it from a full queue once the writer is broken, and then there is nothing to finish.
        if not was_draining and not self._is_broken:
            self._jobs.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        group: list[Job] = []
        is_last = False
        try:
            while not is_last:
                group, is_last = self._next_group()
                if group:
                    self._commit(group)
        except BaseException as error:  # noqa: BLE001  # whatever it was, nobody may wait for ever
            self._break(group, error)

    def _break(self, group: list[Job], error: BaseException) -> None:
        """A bug of ours met the writer itself: fail all who wait, and take no more."""
        _log.critical("the writer has stopped", exc_info=error)
        with self._gate:
            self._is_broken = True
        waiting = list(group)
        with suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                if job is not None:
                    waiting.append(job)
        self._handler.forget({job.append.game_id for job in waiting})
        for job in waiting:
            # Those of the group may have their answers, and who waits may go away at any time.
            with suppress(InvalidStateError):
                job.future.set_exception(Unavailable(Code.WRITE_FAILED, rule="api"))

    def _next_job(self) -> Job | None:
        """What has been queued first; while there is nothing the store may put itself in order."""
        while True:
            try:
                return self._jobs.get(timeout=self._rest_seconds)
            except queue.Empty:
                pass
            try:
                self._store.rest()
            except HeptalogError as error:
                _log.error("the store could not be put in order: %s", error)

    def _next_group(self) -> tuple[list[Job], bool]:
        """What waits now, at least one job, as many events as one commit takes; and whether that is the end."""
        job = self._next_job()
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
                self._fail(group, {batch.game_id for batch in batches}, error)
                return
            self._is_full = False
        self._settle(group, results)
        if self._committed is not None and (batches or refusals):
            self._committed(batches, results)
        self._commits += 1
        if self._commits % _SHRINK_EVERY == 0:
            self._live.shrink()

    def _prepare(self, job: Job, batches: list[Batch], refusals: list[Refusal]) -> None:
        try:
            job.outcome = prepared = self._handler.prepare(job.append)
            if prepared.batch is not None:
                batches.append(prepared.batch)
        except HeptalogError as error:
            job.outcome = error
        except Exception as error:  # noqa: BLE001  # our own bug must not stop the writer
            self._lose(job, error)
        # Without a place it is no event of theirs that is refused: their game is one that cannot be read here.
        if isinstance(job.outcome, Refused) and "index" in job.outcome.facts:
            try:
                refusals.append(self._handler.refusal(job.append, job.outcome))
            except Exception as error:  # noqa: BLE001
                self._lose(job, error)

    def _settle(self, group: list[Job], results: list[Head | Conflict]) -> None:
        remaining = iter(results)
        conflicts: dict[str, Conflict] = {}
        for job in group:
            if isinstance(job.outcome, Prepared):
                result = next(remaining) if job.outcome.batch is not None else None
                job.outcome = self._settled(job.outcome, result, conflicts)
        # Before anybody is answered: what in memory is not what is in the log must not be met again.
        lost = {job.append.game_id for job in group if not isinstance(job.outcome, Receipt | HeptalogError)}
        self._handler.forget(lost | conflicts.keys())
        for job in group:
            if isinstance(job.outcome, Conflict) and job.append.game_id in conflicts:
                job.outcome = self._looked_at_again(job.append, job.outcome)
        for job in group:
            if isinstance(job.outcome, Receipt):
                job.future.set_result(job.outcome)
            else:
                assert isinstance(job.outcome, BaseException), "every job of a group has its outcome"
                job.future.set_exception(job.outcome)

    def _settled(
        self, prepared: Prepared, result: Head | Conflict | None, conflicts: dict[str, Conflict]
    ) -> Receipt | Exception:
        """The answer to what was prepared; `conflicts` has the games in which another writer was faster."""
        game = prepared.game
        if isinstance(result, Conflict):
            conflicts[game.game_id] = result
            return result
        if isinstance(result, Head):
            return self._handler.settle(prepared, result)
        if max(prepared.sequences) > game.durable:
            # What it repeats was asked for in this very commit, and has not come in.
            return copy(conflicts[game.game_id])
        try:
            return self._handler.receipt_again(prepared)
        except Exception as error:  # noqa: BLE001  # the others of this commit have their answers all the same
            return error

    def _looked_at_again(self, append: Append, conflict: Conflict) -> Receipt | Exception:
        """The answer to an append whose game another writer has changed: a retry of what that one recorded is known."""
        try:
            prepared = self._handler.recognise(append)
            return conflict if prepared is None else self._handler.receipt_again(prepared)
        except Exception as error:  # noqa: BLE001  # here too the others have their answers
            return error

    def _lose(self, job: Job, error: Exception) -> None:
        """A bug of ours met this append: the game it happened in may be half changed."""
        _log.error("an append failed", exc_info=error)
        self._handler.forget([job.append.game_id])
        job.outcome = error

    def _fail(self, group: list[Job], touched: set[str], error: Exception) -> None:
        """Nothing of this commit is durable, which had events of the games `touched`."""
        is_full = isinstance(error, HeptalogError) and error.code is Code.DISK_RESERVE
        # A full disk meets every append, and is told of once.
        if not (is_full and self._is_full):
            _log.error("a commit failed: %s", error)
        self._is_full = is_full
        self._handler.forget({job.append.game_id for job in group})
        failure = error if isinstance(error, HeptalogError) else Unavailable(Code.WRITE_FAILED, rule="api")
        for job in group:
            receipt = self._receipt_without(job.outcome)
            if receipt is not None:
                job.future.set_result(receipt)
            elif is_full and isinstance(job.outcome, Refused) and job.append.game_id not in touched:
                # The rules say no whether or not there is room to keep that they did.
                job.future.set_exception(job.outcome)
            else:
                # One each: who is given it may write into it.
                job.future.set_exception(copy(failure))

    def _receipt_without(self, outcome: Prepared | Receipt | Exception | None) -> Receipt | None:
        """The receipt of a retry, which asked nothing of the commit that failed: all of it was durable before."""
        if not isinstance(outcome, Prepared) or outcome.batch is not None:
            return None
        if max(outcome.sequences) > outcome.game.durable:
            return None
        with suppress(HeptalogError):  # a store that cannot even be read says no more than that the commit failed
            return self._handler.receipt_again(outcome)
        return None
