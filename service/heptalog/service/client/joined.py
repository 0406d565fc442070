"""Appends of many threads at the same time, on one call: each has its own answer, its own deadline, its own errors."""

import time
from collections.abc import Callable, Iterator
from threading import Condition, Lock, RLock, Thread
from typing import Any, Final

import grpc

from heptalog.replay.errors import HeptalogError
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import joint
from heptalog.service.client.joint import AppendRequest, Joint, Sharing, can_join
from heptalog.service.client.line import seconds_left

# An interrupt that comes just before a thread begins to wait is noticed when it wakes: so soon at the latest.
_LOOK_SECONDS: Final = 0.2


class _Ticket:
    """A thread that waits for its answer: a lock that is let go of once it is there."""

    __slots__ = ("has_left", "outcome", "told")

    def __init__(self) -> None:
        self.told = Lock()
        self.told.acquire()
        self.has_left = False
        # None where the shared call has not told.
        self.outcome: Receipt | HeptalogError | None = None

    def done(self) -> bool:
        return self.has_left

    def tell(self, outcome: Receipt | HeptalogError | None) -> None:
        self.outcome = outcome
        self.told.release()


class _Turn:
    """The lock, and whether its own thread is at work under it: a signal handler must not wait for that to end.

    Whoever asks for it again in between the two finds all as it was, or as it is going to be.
    """

    __slots__ = ("is_taken", "lock")

    def __init__(self) -> None:
        self.lock = RLock()
        self.is_taken = False


class JoinedAppends(Sharing["_Stream"]):
    """Has appends that are under way at the same time go together.

    Whoever is by itself makes a call of its own, and so does whoever gets no answer from the shared one: what that did
    not tell, a call tells, with the same events, within the same deadline.
    """

    def __init__(
        self,
        open_call: Callable[..., Any],
        alone: Callable[[Append, AppendRequest, float], Receipt],
        timeout: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        self._open = open_call
        self._alone = alone
        self._timeout = timeout
        # Held by whoever asks for a call to share, and by who hears that one has ended.
        self._turn = _Turn()

    def append(self, append: Append, request: AppendRequest) -> Receipt:
        """Record events, with others or alone."""
        if self._is_elsewhere:
            # The threads of what is shared are in the other process, and its lock may be held for ever.
            return self._alone(append, request, self._timeout)
        ticket, now = _Ticket(), self._clock()
        try:
            is_in_company = self._company.come(ticket, now)
            if is_in_company and can_join(append, request):
                return self._together(append, request, ticket, now)
            return self._alone(append, request, self._timeout)
        finally:
            self._company.leave(ticket)

    def _together(self, append: Append, request: AppendRequest, ticket: _Ticket, now: float) -> Receipt:
        with self._turn.lock:
            stream, until = None, now
            if not self._turn.is_taken:
                try:
                    self._turn.is_taken = True
                    stream = self._shared(now)
                    if stream is not None:
                        until = stream.take(append, request, ticket, now)
                finally:
                    self._turn.is_taken = False
        if stream is None:
            return self._alone(append, request, self._timeout)
        outcome = self._awaited(ticket, stream, until)
        if outcome is None:
            return self._alone(append, request, seconds_left(now + self._timeout - self._clock()))
        if isinstance(outcome, HeptalogError):
            raise outcome
        return outcome

    def close(self) -> None:
        """Whoever still waits is told that the client is closed, once its channel is; waits for that."""
        if self._is_elsewhere:
            return
        with self._turn.lock:
            streams = list(self._streams)
        for stream in streams:
            stream.join()

    def closing(self) -> None:
        """Hear that the channel is about to be closed."""
        self._is_closed = True

    def _begun(self) -> "_Stream | None":
        try:
            return _Stream(self._open, self._timeout, self._turn, self._clock, self._ended)
        except RuntimeError:
            # No more threads can be started here, and a call of one's own needs none.
            self._prospect.learn(grpc.StatusCode.RESOURCE_EXHAUSTED, was_of_use=False)
            return None

    def _awaited(self, ticket: _Ticket, stream: "_Stream", until: float) -> Receipt | HeptalogError | None:
        is_told = False
        try:
            while not is_told and (seconds := until - self._clock()) > 0:
                is_told = ticket.told.acquire(timeout=min(seconds, _LOOK_SECONDS))
        finally:
            # Also where the thread is interrupted: what is not sent yet is not sent any more.
            ticket.has_left = not is_told
        if not is_told:
            stream.end_if_silent()
        return ticket.outcome if is_told else None


class _Stream:
    """One call that many share: gRPC's thread sends, and one here hears the answers."""

    def __init__(
        self,
        open_call: Callable[..., Any],
        timeout: float,
        turn: _Turn,
        clock: Callable[[], float],
        ended: "Callable[[_Stream, grpc.StatusCode], HeptalogError | None]",
    ) -> None:
        self.joint: Joint[_Ticket] = Joint()
        self.is_open = True  # takes more
        self.renewed_at = clock() + joint.LIFE_SECONDS
        self._timeout = timeout
        self._clock = clock
        self._turn = turn
        self._changed = Condition(turn.lock)  # for who sends
        self._has_ended = ended
        self._call = open_call(self._requests(), timeout=joint.LIFE_SECONDS + timeout)
        self._thread = Thread(target=self._run, name="heptalog-joined-appends", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self.is_open = False
            self._call.cancel()
            raise

    # With the lock.

    def take(self, append: Append, request: AppendRequest, ticket: _Ticket, now: float) -> float:
        """Take on an append; until when its answer is worth waiting for."""
        until = self.joint.take(append, request, ticket, now=now, timeout=self._timeout)
        self._changed.notify()
        return until

    def retire(self) -> None:
        """Take no more, and end once all is answered."""
        self.is_open = False
        self._changed.notify()

    # Without it.

    def end_if_silent(self) -> None:
        """End a call that answers nobody: it may be that only streams come to nothing."""
        with self._turn.lock:
            if self._turn.is_taken:
                # A signal handler; the next who waits in vain sees to it.
                return
            try:
                self._turn.is_taken = True
                if self.joint.is_silent(self._clock()):
                    self.is_open = False
                    self._call.cancel()
            finally:
                self._turn.is_taken = False

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join()

    def _requests(self) -> Iterator[bytes]:
        """What is sent; in a thread of gRPC's own, which asks for more as the server takes it."""
        while True:
            with self._turn.lock:
                while not self.joint.can_send and (self.is_open or self.joint.has_unsent):
                    if not self._changed.wait(joint.IDLE_SECONDS) and self.joint.overdue_at is None:
                        self.is_open = False
                message = self.joint.next_message()
                if not message and not self.is_open and not self.joint.has_unsent:
                    return
            if message:
                yield message

    def _run(self) -> None:
        code = grpc.StatusCode.UNKNOWN
        try:
            for response in self._call:
                with self._turn.lock:
                    told = list(self.joint.answered(response))
                    if self.joint.has_unsent:
                        self._changed.notify()
                for ticket, outcome in told:
                    ticket.tell(outcome)
            code = grpc.StatusCode.OK
        except grpc.RpcError as error:
            code = error.code()
        finally:
            with self._turn.lock:
                self.is_open = False
                untold = self._has_ended(self, code)
                waiting = self.joint.give_up()
                self._changed.notify()
            self._call.cancel()
            for ticket in waiting:
                ticket.tell(None if untold is None else untold.again())
