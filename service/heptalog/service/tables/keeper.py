"""How far the tables are, and moments of them: a thread that has the following process do what is needed.

It follows behind the writer all the time, a little later so that many commits are one step, and at once where
a question waits. Where the process fails or is killed another takes its place, and who waits goes on waiting; where it
fails again and again each is told why, and it is tried again at intervals.
"""

import logging
import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Condition, Thread
from typing import Final
from weakref import WeakSet

from msgspec import Struct

from heptalog.analytics.snapshots import Snapshot
from heptalog.replay.errors import Code, Corrupt, HeptalogError, Unavailable
from heptalog.service.tables.messages import (
    Follow,
    Followed,
    Release,
    Rest,
    Rested,
    Scrub,
    Scrubbed,
    Take,
    Taken,
    Verified,
    Verify,
)
from heptalog.service.tables.process import Follower, meaning_of
from heptalog.service.tables.rounds import STEP_SIZE, Rounds

# One step: short enough that a question that comes in the middle of it waits for little.
EVENTS_AT_ONCE: Final = 5000
# Between a step and the next, while nobody waits.
PACE_SECONDS: Final = 0.25
# A process that failed is started again after so long; twice as long each time.
_PAUSE_FIRST: Final = 0.05
_PAUSE_MAX: Final = 10.0
# While somebody waits, at least so often.
_PAUSE_ASKED: Final = 0.5
# Damage of the log does not go away by itself, and to find it again takes all processors for as long as all tables do.
_PAUSE_DAMAGED: Final = 3600.0
# After so many failures without a step in between, who waits is told.
FAILURES_MAX: Final = 3
# A question that fails may be one that always does: after a look at every file they are trusted for so long.
_TRUST_SECONDS: Final = 60.0
# At the end a step that takes longer is not waited for: all tables may be made anew in it.
_CLOSING_SECONDS: Final = 10.0
_log = logging.getLogger(__name__)


class End(Struct, frozen=True):
    """How much of the log something has."""

    position: int
    refusals: int

    def reaches(self, other: "End") -> bool:
        """Whether it has all that another has."""
        return self.position >= other.position and self.refusals >= other.refusals


class Lease:
    """A moment in somebody's hands: its files stay until it is released. Shared by all who asked for no newer one."""

    def __init__(self, number: int, snapshot: Snapshot, follower: Follower) -> None:
        self.number = number
        self.snapshot = snapshot
        self.follower = follower
        self.end = End(snapshot.position, snapshot.refusals)
        self.users = 0


class _Waiting(Struct, frozen=True):
    wanted: End
    future: "Future[Lease]"


class Keeper:
    """Keeps one process following, and gives out moments of its tables."""

    def __init__(
        self,
        start: Callable[[], Follower],
        check: Callable[[], None] = lambda: None,
        *,
        pace_seconds: float = PACE_SECONDS,
        rounds: Rounds | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`start` starts a process, whenever there is none; `check` raises where none may work now.

        `rounds` says when files are read again, where they are.
        """
        self._start = start
        self._check = check
        self._pace_seconds = pace_seconds
        self._rounds = Rounds(0.0) if rounds is None else rounds
        self._clock = clock
        self._changed = Condition()
        self._waiting: list[_Waiting] = []
        self._unread: list[Lease] = []
        self._has_news = True
        self._is_asked = False  # since the last step began
        self._may_rest = False
        self._doubt: Future[bool] | None = None
        self._trusted_until = 0.0
        self._damaged: WeakSet[Follower] = WeakSet()
        self._damage: HeptalogError | None = None  # of the log
        self._is_closing = False
        self._current: Lease | None = None
        # Only in the hands of the thread.
        self._follower: Follower | None = None
        self._is_to_scrub = False
        self._tried_for: list[_Waiting] = []
        self._failures = 0
        self._next_at = 0.0  # while nobody waits
        self._asked_at = 0.0  # where somebody does
        self._thread = Thread(target=self._run, name="heptalog-tables", daemon=True)

    @property
    def is_failing(self) -> bool:
        """Whether the process fails again and again, whatever is tried."""
        return self._failures >= FAILURES_MAX

    def begin(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def tell(self) -> None:
        """There is something new in the log."""
        if not self._has_news:
            with self._changed:
                self._has_news = True
                self._changed.notify_all()

    def lease(self, wanted: End) -> "Future[Lease]":
        """A moment that has at least so much. Its future fails with Unavailable where the tables cannot be kept."""
        future: Future[Lease] = Future()
        with self._changed:
            if self._is_closing:
                future.set_exception(Unavailable(Code.DRAINING, rule="api"))
            elif self._current is not None and self._current.end.reaches(wanted):
                self._current.users += 1
                future.set_result(self._current)
            elif self._damage is not None and self._clock() < self._next_at:
                future.set_exception(self._damage.again())
            else:
                self._waiting.append(_Waiting(wanted, future))
                self._is_asked = True
                self._changed.notify_all()
        return future

    def release(self, lease: Lease) -> None:
        """Give a moment back."""
        with self._changed:
            lease.users -= 1
            self._let_go(lease)

    def doubt(self, lease: Lease) -> "Future[bool]":
        """Somebody could not read a moment: is there a better one to be had?

        There is where the process that kept its files has ended, or where one of them is not as it was written: then
        everything is made anew by another process. Files are not looked at all the time, whoever cannot read them.
        """
        with self._changed:
            if self._is_closing:
                return _known(is_better=False)
            if lease.follower is not self._follower:
                return _known(is_better=True)
            if self._clock() < self._trusted_until:
                return _known(is_better=False)
            if self._doubt is None:
                self._doubt = Future()
                self._changed.notify_all()
            return self._doubt

    def is_damaged(self, lease: Lease) -> bool:
        """Whether a file has been found damaged since a moment was given out, which may be one that it reads."""
        return lease.follower in self._damaged

    def forget(self) -> None:
        """There is something better than the moment that was last given out, whatever is in it."""
        with self._changed:
            before, self._current = self._current, None
            if before is not None:
                self._let_go(before)
            if self._damage is not None:
                self._damage = None
                self._next_at = self._asked_at = 0.0

    def close(self) -> None:
        """Tell all who wait that it ends, and end the process: in order, or in the middle of what takes too long."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        while self._thread.is_alive():
            self._thread.join(_CLOSING_SECONDS)
            if self._thread.is_alive() and (follower := self._follower) is not None:
                follower.end()
        self._fail(self._waiting, Unavailable(Code.DRAINING, rule="api"))
        self._settle_doubt(is_better=False)

    def _run(self) -> None:
        while self._wait():
            try:
                self._step()
            except Exception as error:  # noqa: BLE001  # whatever it was, recording goes on and so do we
                self._stumble(error)
        if self._follower is not None:
            self._follower.stop()

    def _wait(self) -> bool:
        """Wait until there is something to do and it is time for it; False at the end."""
        with self._changed:
            while not self._is_closing:
                pause = self._pause() if self._has_work() else math.inf
                idle = self._rounds.left(self._clock()) if self._is_idle() else math.inf
                self._is_to_scrub = idle <= 0 < pause
                if min(pause, idle) <= 0:
                    return True
                self._changed.wait(None if min(pause, idle) == math.inf else min(pause, idle))
            return False

    def _has_work(self) -> bool:
        return bool(self._waiting or self._has_news or self._unread or self._may_rest or self._doubt)

    def _is_idle(self) -> bool:
        """Whether nobody waits for anything; what is new need not be followed at once."""
        return not (self._waiting or self._doubt or self._failures) and self._follower is not None

    def _pause(self) -> float:
        """Seconds until the next step."""
        if self._is_asked and not self._failures:
            return 0.0
        return (self._asked_at if self._waiting else self._next_at) - self._clock()

    def _step(self) -> None:
        """Follow for a while, and give out a moment to those who wait for one that is reached."""
        self._tried_for = list(self._waiting)
        if self._is_to_scrub and self._follower is not None:
            self._scrub(self._follower)
            return
        self._check()
        if self._follower is None:
            self._follower = self._start()
            self._rounds.begin(self._clock())
        self._give_back(self._follower)
        if self._doubt is not None:
            self._verify(self._follower)
            return
        if not (self._waiting or self._has_news):
            rested = self._follower.tell(Rest())
            assert isinstance(rested, Rested), rested
            self._may_rest = rested.has_more
            return
        self._has_news = self._is_asked = False
        followed = self._follower.tell(Follow(EVENTS_AT_ONCE))
        assert isinstance(followed, Followed), followed
        self._may_rest = True
        if followed.has_more:
            # Only ever set: what comes at this moment must not be overlooked.
            self._has_news = True
        end = End(followed.position, followed.refusals)
        lease = self._taken(self._follower) if any(end.reaches(one.wanted) for one in self._waiting) else None
        if self._failures:
            _log.warning("the tables are kept again, by process %s", self._follower.number)
        self._failures = 0
        self._damage = None
        self._next_at = self._asked_at = self._clock() + (0.0 if followed.has_more else self._pace_seconds)
        if lease is not None:
            # Last: whoever has an answer has heard, and finds, that the tables are kept.
            self._give_out(lease)

    def _verify(self, follower: Follower) -> None:
        verified = follower.tell(Verify())
        assert isinstance(verified, Verified), verified
        self._trusted_until = self._clock() + _TRUST_SECONDS
        if not verified.is_whole:
            self._make_anew(follower, "a file")
        self._settle_doubt(is_better=not verified.is_whole)

    def _scrub(self, follower: Follower) -> None:
        """Read some of the files again."""
        scrubbed = follower.tell(Scrub(STEP_SIZE))
        assert isinstance(scrubbed, Scrubbed), scrubbed
        self._rounds.took(scrubbed.read, scrubbed.total, self._clock(), is_over=scrubbed.is_over)
        if scrubbed.damaged:
            self._make_anew(follower, scrubbed.damaged)
        elif scrubbed.is_over:
            _log.info("all tables were read again, %d bytes, and are as they were written", scrubbed.total)

    def _make_anew(self, follower: Follower, damaged: str) -> None:
        """Have the next process begin anew; what this one gave out is given out no more."""
        _log.error("the tables are damaged, and are made anew: %s is not what was written", damaged)
        self._damaged.add(follower)
        # Nobody is given it while the process ends.
        self.forget()
        follower.stop()
        self._leave()

    def _settle_doubt(self, *, is_better: bool) -> None:
        with self._changed:
            doubt, self._doubt = self._doubt, None
        if doubt is not None and doubt.set_running_or_notify_cancel():
            doubt.set_result(is_better)

    def _taken(self, follower: Follower) -> Lease:
        taken = follower.tell(Take())
        assert isinstance(taken, Taken), taken
        return Lease(taken.number, taken.snapshot, follower)

    def _give_out(self, lease: Lease) -> None:
        with self._changed:
            before, self._current = self._current, lease
            if before is not None:
                self._let_go(before)
            ready = [waiting for waiting in self._waiting if lease.end.reaches(waiting.wanted)]
            self._waiting = [waiting for waiting in self._waiting if waiting not in ready]
            for waiting in ready:
                # Who has gone away in the meantime needs none.
                if waiting.future.set_running_or_notify_cancel():
                    lease.users += 1
                    waiting.future.set_result(lease)

    def _let_go(self, lease: Lease) -> None:
        """Have the process give up a moment that nobody reads and nobody will. Under the lock."""
        if not lease.users and lease is not self._current:
            self._unread.append(lease)
            self._changed.notify_all()

    def _give_back(self, follower: Follower) -> None:
        with self._changed:
            unread, self._unread = self._unread, []
        for lease in unread:
            # What another process had it has taken with it.
            if lease.follower is follower:
                follower.tell(Release(lease.number))

    def _stumble(self, error: Exception) -> None:
        """The process is no more, or could not be started: the next one begins where it was."""
        is_told = self._damage is not None
        if self._follower is not None:
            self._follower.kill()
        self._leave()
        self._settle_doubt(is_better=True)
        self._failures += 1
        meaning = meaning_of(error)
        if isinstance(error, Corrupt):
            self._give_up(meaning, is_told=is_told)
            return
        pause = min(_PAUSE_FIRST * 2.0 ** min(self._failures, 20), _PAUSE_MAX)
        self._next_at = self._clock() + pause
        self._asked_at = self._clock() + min(pause, _PAUSE_ASKED)
        # A full disk stays full for long, and is told of once.
        if self._failures in (1, FAILURES_MAX) and not self._is_closing:
            _log.error("the tables are not kept: %s", meaning)
        if self._failures >= FAILURES_MAX:
            # Not who came while it failed.
            self._fail(self._tried_for, meaning)

    def _give_up(self, damage: HeptalogError, *, is_told: bool) -> None:
        """The log itself is damaged: it is told once, and to all who ask, and tried again after a long time."""
        if not (is_told or self._is_closing):
            _log.error("the tables are not kept, and tried again in an hour: %s", damage)
        self._failures = max(self._failures, FAILURES_MAX)
        with self._changed:
            self._next_at = self._asked_at = self._clock() + _PAUSE_DAMAGED
            self._damage = damage
            self._fail(self._waiting, damage)

    def _leave(self) -> None:
        """The process has ended, and what it gave out is no longer kept."""
        with self._changed:
            # At one moment: who is told that there is a better lease must not be given the same again.
            self._follower = None
            self.forget()
            self._has_news = True

    def _fail(self, some: list[_Waiting], error: HeptalogError) -> None:
        with self._changed:
            self._waiting = [waiting for waiting in self._waiting if waiting not in some]
        for one in some:
            if one.future.set_running_or_notify_cancel():
                one.future.set_exception(error.again())


def _known(*, is_better: bool) -> "Future[bool]":
    future: Future[bool] = Future()
    future.set_result(is_better)
    return future
