"""What is committed together: preparing it, and what each append is told once the store has answered."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from heptalog.replay.errors import Code, Conflict, HeptalogError, Refused, Unavailable
from heptalog.service.appending.jobs import Job, Outcome, tell_all
from heptalog.service.appending.prepared import Prepared
from heptalog.service.appends import Append, Receipt
from heptalog.service.handler import Handler
from heptalog.service.store import Batch, Head, Refusal

_log = logging.getLogger(__name__)


class Group:
    """Appends that share one commit, in the order in which they came."""

    __slots__ = ("batches", "event_count", "is_shaken", "jobs", "refusals")

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.batches: list[Batch] = []
        self.refusals: list[Refusal] = []
        self.event_count = 0
        self.is_shaken = False  # a bug of ours met one of them: its game may be half changed

    @property
    def games(self) -> set[str]:
        """The ids of all games that are appended to."""
        return {job.append.game_id for job in self.jobs}


class Groups:
    """Prepares groups and settles them. `calm` waits until no commit is on its way."""

    def __init__(self, handler: Handler, calm: Callable[[], None]) -> None:
        self._handler = handler
        self._calm = calm
        self._is_full = False

    # Before the commit, in the writer's thread.

    def prepare(self, group: Group, job: Job) -> None:
        """Add a job to a group: what it asks for, or that it is refused."""
        group.jobs.append(job)
        group.event_count += len(job.append.events)
        try:
            job.outcome = prepared = self._prepared(job.append)
            if prepared.batch is not None:
                group.batches.append(prepared.batch)
        except HeptalogError as error:
            job.outcome = error
        except Exception as error:  # noqa: BLE001  # our own bug must not stop the writer
            self._lose(group, job, error)
        # Without a place it is no event of theirs that is refused: their game is one that cannot be read here.
        if isinstance(job.outcome, Refused) and "index" in job.outcome.facts:
            try:
                group.refusals.append(self._handler.refusal(job.append, job.outcome))
            except Exception as error:  # noqa: BLE001
                self._lose(group, job, error)

    def prepared_again(self, jobs: Sequence[Job]) -> Group:
        """The group of these jobs, prepared anew: what they were prepared on has not come about."""
        self._handler.forget({job.append.game_id for job in jobs})
        group = Group()
        for job in jobs:
            self.prepare(group, job)
        return group

    def _prepared(self, append: Append) -> Prepared:
        try:
            return self._handler.prepare(append)
        except Conflict:
            # Whether another writer was faster can be told once it is known what of ours is durable.
            self._calm()
            if not self._handler.is_behind(append.game_id):
                raise
        # What that one has recorded is what to compare with.
        self._handler.forget([append.game_id])
        return self._handler.prepare(append)

    def _lose(self, group: Group, job: Job, error: Exception) -> None:
        """A bug of ours met this append: the game it happened in may be half changed."""
        _log.error("an append failed", exc_info=error)
        # Read from the log again it has all that is on its way now.
        self._calm()
        self._handler.forget([job.append.game_id])
        group.is_shaken = True
        job.outcome = error

    # After the commit. What is calm may be settled while the next group is prepared; all else only in its turn.

    def settle_calm(self, group: Group, heads: Sequence[Head | Conflict]) -> None:
        """Tell everybody of a group without conflicts that met no bug of ours."""
        self._take(group, heads)
        tell_all(group.jobs)

    def settle(self, group: Group, results: Sequence[Head | Conflict]) -> None:
        """Tell everybody what came of it, and forget the games that are not what they are in the log."""
        conflicts = self._take(group, results)
        # Before anybody is answered: what in memory is not what is in the log must not be met again.
        lost = {job.append.game_id for job in group.jobs if not isinstance(job.outcome, Receipt | HeptalogError)}
        self._handler.forget(lost | conflicts.keys())
        for job in group.jobs:
            if isinstance(job.outcome, Conflict) and job.append.game_id in conflicts:
                job.outcome = self._looked_at_again(job.append, job.outcome)
        tell_all(group.jobs)

    def fail(self, group: Group, error: Exception) -> None:
        """Tell everybody that nothing of this commit is durable."""
        is_full = isinstance(error, HeptalogError) and error.code is Code.DISK_RESERVE
        # A full disk meets every append, and is told of once.
        if isinstance(error, HeptalogError):
            if not (is_full and self._is_full):
                _log.error("a commit failed: %s", error)
        else:
            _log.error("a commit failed", exc_info=error)
        self._is_full = is_full
        self._handler.forget(group.games)
        failure = error if isinstance(error, HeptalogError) else Unavailable(Code.WRITE_FAILED, rule="api")
        touched = {batch.game_id for batch in group.batches}
        for job in group.jobs:
            receipt = self._receipt_without(job.outcome)
            if receipt is not None:
                job.outcome = receipt
            elif is_full and isinstance(job.outcome, Refused) and job.append.game_id not in touched:
                # The rules say no whether or not there is room to keep that they did.
                pass
            else:
                job.outcome = failure.again()
        tell_all(group.jobs)

    def give_up(self, jobs: Sequence[Job]) -> None:
        """Tell everybody who has not been told that the writer has stopped."""
        self._handler.forget({job.append.game_id for job in jobs})
        for job in jobs:
            if not job.is_told:
                job.outcome = Unavailable(Code.WRITE_FAILED, rule="api")
        tell_all(jobs)

    def _take(self, group: Group, results: Sequence[Head | Conflict]) -> dict[str, Conflict]:
        """Give every job that was prepared its answer; the games in which another writer was faster."""
        self._is_full = False
        remaining = iter(results)
        conflicts: dict[str, Conflict] = {}
        for job in group.jobs:
            if isinstance(job.outcome, Prepared):
                result = next(remaining) if job.outcome.batch is not None else None
                job.outcome = self._settled(job.outcome, result, conflicts)
        return conflicts

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
            return conflicts[game.game_id].again()
        try:
            return self._handler.receipt_again(prepared)
        except Exception as error:  # noqa: BLE001  # the others of this commit have their answers all the same
            return _told(error)

    def _looked_at_again(self, append: Append, conflict: Conflict) -> Receipt | Exception:
        """The answer to an append whose game another writer has changed: a retry of what that one recorded is known."""
        try:
            prepared = self._handler.recognise(append)
            return conflict if prepared is None else self._handler.receipt_again(prepared)
        except Exception as error:  # noqa: BLE001  # here too the others have their answers
            return _told(error)

    def _receipt_without(self, outcome: Outcome | None) -> Receipt | None:
        """The receipt of a retry, which asked nothing of the commit that failed: all of it was durable before."""
        if not isinstance(outcome, Prepared) or outcome.batch is not None:
            return None
        if max(outcome.sequences) > outcome.game.durable:
            return None
        with suppress(HeptalogError):  # a store that cannot even be read says no more than that the commit failed
            return self._handler.receipt_again(outcome)
        return None


def _told(error: Exception) -> Exception:
    """What an append is answered with; a bug of ours is an answer that says nothing, so the log says it."""
    if not isinstance(error, HeptalogError):
        _log.error("an append was not answered", exc_info=error)
    return error
