"""Appends of many threads at the same time, on one call: each has its own answer, its own deadline, its own errors."""

import time
from collections.abc import Callable, Iterator
from copy import copy
from threading import Condition, Lock, Thread
from typing import Any, Final

import grpc

from heptalog.replay.errors import HeptalogError
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import calls, joint
from heptalog.service.client.joint import AppendRequest, Joint, Prospect, can_join

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


class JoinedAppends:
    """Has appends that are under way at the same time go together.

    The first after a while makes a call of its own, and so does whoever gets no answer from the shared one: what that
    did not tell, a call tells, with the same events, within the same deadline.
    """

    def __init__(
        self,
        open_call: Callable[..., Any],
        alone: Callable[[Append, AppendRequest, float], Receipt],
        timeout: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open = open_call
        self._alone = alone
        self._timeout = timeout
        self._clock = clock
        self._lock = Lock()
        self._prospect = Prospect(clock)
        self._stream: _Stream | None = None
        self._streams: set[_Stream] = set()
        self._company_until = clock()
        self._is_closed = False

    def append(self, append: Append, request: AppendRequest) -> Receipt:
        """Record events, with others or alone."""
        if not can_join(append, request):
            return self._alone(append, request, self._timeout)
        ticket = _Ticket()
        now = self._clock()
        with self._lock:
            stream = self._shared(now)
            until = now if stream is None else stream.take(append, request, ticket, now)
        if stream is None:
            return self._alone(append, request, self._timeout)
        outcome = self._awaited(ticket, stream, until)
        if outcome is None:
            return self._alone(append, request, calls.seconds_left(now + self._timeout - self._clock()))
        if isinstance(outcome, HeptalogError):
            raise outcome
        return outcome

    def close(self) -> None:
        """Whoever still waits is told that the client is closed, once its channel is; waits for that."""
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            stream.join()

    def closing(self) -> None:
        """Hear that the channel is about to be closed."""
        with self._lock:
            self._is_closed = True

    def _shared(self, now: float) -> "_Stream | None":
        """The call to share now; None for the first after a while, who may be the only one, or where there is none."""
        stream = self._stream
        if stream is not None and stream.is_open and now < stream.renewed_at:
            return stream
        if stream is not None:
            stream.retire()
            self._stream = None
        is_first, self._company_until = now >= self._company_until, now + joint.IDLE_SECONDS
        if is_first or self._is_closed or not self._prospect.is_good:
            return None
        stream = self._stream = _Stream(self._open, self._timeout, self._lock, self._clock, self._ended)
        self._streams.add(stream)
        return stream

    def _ended(self, stream: "_Stream", code: grpc.StatusCode) -> HeptalogError | None:
        """Hear that a shared call has ended, and say what to tell those whom it has not answered. Holds the lock."""
        self._streams.discard(stream)
        if self._stream is stream:
            self._stream = None
        self._prospect.learn(code, was_of_use=stream.joint.heard_count > 0)
        return calls.closed() if self._is_closed else None

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
        lock: Lock,
        clock: Callable[[], float],
        ended: "Callable[[_Stream, grpc.StatusCode], HeptalogError | None]",
    ) -> None:
        self.joint: Joint[_Ticket] = Joint()
        self.is_open = True  # takes more
        self.renewed_at = clock() + joint.LIFE_SECONDS
        self._timeout = timeout
        self._clock = clock
        self._lock = lock
        self._changed = Condition(lock)  # for who sends
        self._has_ended = ended
        self._call = open_call(self._requests(), timeout=joint.LIFE_SECONDS + timeout)
        self._thread = Thread(target=self._run, name="heptalog-joined-appends", daemon=True)
        self._thread.start()

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
        with self._lock:
            if self.joint.is_silent(self._clock()):
                self.is_open = False
                self._call.cancel()

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join()

    def _requests(self) -> Iterator[bytes]:
        """What is sent; in a thread of gRPC's own, which asks for more as the server takes it."""
        while True:
            with self._lock:
                while not self.joint.can_send and (self.is_open or self.joint.has_unsent):
                    if not self._changed.wait(joint.IDLE_SECONDS) and not self.joint:
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
                with self._lock:
                    told = list(self.joint.answered(response))
                    if self.joint.has_unsent:
                        self._changed.notify()
                for ticket, outcome in told:
                    ticket.tell(outcome)
            code = grpc.StatusCode.OK
        except grpc.RpcError as error:
            code = error.code()
        finally:
            with self._lock:
                self.is_open = False
                untold = self._has_ended(self, code)
                waiting = self.joint.give_up()
                self._changed.notify()
            self._call.cancel()
            for ticket in waiting:
                ticket.tell(copy(untold))
