"""What appends of many callers share that go over one call: who waits, what is sent, who is told what.

Each is independent of the others, as if it were a call of its own, and is carried at most once: what the shared call
has not answered in the end is for its caller to send again, on its own. Knows neither threads nor loops.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

import grpc
from msgspec import Struct

from heptalog.internal.v1 import bytes_pb2
from heptalog.replay.errors import HeptalogError
from heptalog.service.appends import Append, Receipt
from heptalog.service.client import flight
from heptalog.service.client.flight import outcome_of
from heptalog.service.client.line import closed
from heptalog.v1 import log_pb2

# So long after two were under way together others are expected: all whom one message answers are done for a moment.
COMPANY_SECONDS: Final = 1.0
# A call that nobody has used for so long is let go of: a server has only so many.
IDLE_SECONDS: Final = 1.0
# And so is one that is as old as this, so that none is without a deadline.
LIFE_SECONDS: Final = 300.0
# How long no other call is tried after one that never gave an answer: doubling, up to the longest.
_FIRST_SECONDS: Final = 1.0
_LONGEST_SECONDS: Final = 64.0

_event_id: Final = attrgetter("event_id")


class Waiter(Protocol):
    """Whoever waits for an answer."""

    def done(self) -> bool:
        """Whether nobody waits any more."""
        ...


W = TypeVar("W", bound=Waiter)
AppendRequest: TypeAlias = bytes_pb2.AppendEventsRequest


def can_join(append: Append, request: AppendRequest) -> bool:
    """Whether an append may go together with others: it can be sent again, and holds nobody up by its size."""
    return request.ByteSize() <= flight.MESSAGE_BYTES and all(map(_event_id, append.events))


class _Taken(Struct, Generic[W]):
    waiter: W
    game_id: str
    data: bytes
    event_count: int
    until: float
    heard_before: int  # messages, when it was taken


class Joint(Generic[W]):
    """Appends that go over one call, each with whoever waits for it, in the order taken."""

    def __init__(self) -> None:
        self.heard_count = 0  # messages with answers
        self._taken: dict[int, _Taken[W]] = {}
        self._unsent: deque[int] = deque()
        self._number = 0
        # What is sent and has no answer.
        self._event_count = 0
        self._size = 0

    def __len__(self) -> int:
        return len(self._taken)

    @property
    def has_unsent(self) -> bool:
        """Whether there is something to send, now or later."""
        return bool(self._unsent)

    @property
    def can_send(self) -> bool:
        """Whether there is something to send now: what is on its way already is not too much."""
        return bool(self._unsent) and self._event_count < flight.EVENTS_MAX and self._size < flight.BYTES_MAX

    def take(self, append: Append, request: AppendRequest, waiter: W, *, now: float, timeout: float) -> float:
        """Take on an append, which waits here until there is room; give until when its answer is worth waiting for.

        That is half of its time while there has been no answer at all, so that its caller has the other half to ask in
        another way, should it be that only streams come to nothing.
        """
        number = self._number = self._number + 1
        until = now + (timeout if self.heard_count else timeout / 2)
        message = bytes_pb2.AppendStreamRequest()
        message.appends.add(correlation_id=number).append.CopyFrom(request)
        data = message.SerializeToString()
        self._taken[number] = _Taken(waiter, append.game_id, data, len(append.events), until, self.heard_count)
        self._unsent.append(number)
        return until

    def next_message(self) -> bytes:
        """The next message to send, with all that there is, as far as it takes it; empty where nobody waits for any."""
        parts: list[bytes] = []
        size = 0
        # Messages that have nothing but a list are one message when they are joined.
        while self._unsent and len(parts) < flight.MESSAGE_APPENDS:
            number = self._unsent[0]
            taken = self._taken[number]
            if taken.waiter.done():
                self._unsent.popleft()
                del self._taken[number]
                continue
            size += len(taken.data)
            if size > flight.MESSAGE_BYTES and parts:
                break
            self._unsent.popleft()
            self._event_count += taken.event_count
            self._size += len(taken.data)
            parts.append(taken.data)
        return b"".join(parts)

    def answered(self, response: log_pb2.AppendStreamResponse) -> Iterator[tuple[W, Receipt | HeptalogError]]:
        """Who is to be told what."""
        self.heard_count += 1
        for answer in response.answers:
            number = answer.correlation_id
            if number not in self._taken or (self._unsent and number >= self._unsent[0]):
                # Nobody has asked for it, or not yet; where that means anything, those who have will miss theirs.
                continue
            taken = self._taken.pop(number)
            self._event_count -= taken.event_count
            self._size -= len(taken.data)
            yield taken.waiter, outcome_of(taken.game_id, answer)

    def overdue(self, now: float) -> Iterator[W]:
        """Those for whom an answer is not worth waiting any longer."""
        for taken in self._taken.values():
            if taken.until > now:
                break
            if not taken.waiter.done():
                yield taken.waiter

    @property
    def overdue_at(self) -> float | None:
        """When somebody will be; None where nobody waits any more."""
        return next((taken.until for taken in self._taken.values() if not taken.waiter.done()), None)

    def is_silent(self, now: float) -> bool:
        """Whether no answer at all has come for as long as somebody's whole patience.

        Whoever was taken on before the last answer says nothing about that: its own may be lost by itself.
        """
        since = (taken.until for taken in self._taken.values() if taken.heard_before == self.heard_count)
        return next(since, now + 1.0) <= now

    def give_up(self) -> list[W]:
        """Let go of all of it: those who still wait."""
        waiting = [taken.waiter for taken in self._taken.values() if not taken.waiter.done()]
        self._taken.clear()
        self._unsent.clear()
        return waiting


class Company:
    """Whether appends of one client are under way together: those that are, alone or shared, and for a moment after.

    A lone caller gains nothing from a shared call. Asks for no lock, as a signal handler may append too: to add to a
    set and to take out of it are one step each.
    """

    def __init__(self) -> None:
        self._under_way: set[object] = set()
        self._until: float | None = None

    def come(self, who: object, now: float) -> bool:
        """Begin an append; whether it is in company."""
        self._under_way.add(who)
        if len(self._under_way) > 1:
            self._until = now + COMPANY_SECONDS
        return self._until is not None and now < self._until

    def leave(self, who: object) -> None:
        """End it."""
        self._under_way.discard(who)


class Prospect:
    """Whether to share a call is worth a try, after what came of the last one."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._is_refused = False
        self._not_before = 0.0
        self._seconds = _FIRST_SECONDS

    @property
    def is_good(self) -> bool:
        """Whether the next one may be opened now."""
        return not self._is_refused and self._clock() >= self._not_before

    def learn(self, code: grpc.StatusCode, *, was_of_use: bool) -> None:
        """A shared call has ended so; it was of use if it has given any answer, or was not needed."""
        if was_of_use or code is grpc.StatusCode.OK:
            self._seconds = _FIRST_SECONDS
        elif code is grpc.StatusCode.UNIMPLEMENTED:
            # An older server, or a proxy that passes no streams on: neither will learn it while it runs.
            self._is_refused = True
        else:
            self._not_before = self._clock() + self._seconds
            self._seconds = min(2 * self._seconds, _LONGEST_SECONDS)


class SharedCall(Protocol):
    """One call that many share."""

    is_open: bool  # takes more
    renewed_at: float  # when another takes over

    @property
    def joint(self) -> Joint[Any]:
        """What goes over it."""
        ...

    def retire(self) -> None:
        """Take no more, and end once all is answered."""
        ...


S = TypeVar("S", bound=SharedCall)


class Sharing(Generic[S]):
    """The calls that the appends of one client share, one after the other; what is the same for threads and tasks."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._prospect = Prospect(clock)
        self._company = Company()
        self._stream: S | None = None
        self._streams: set[S] = set()
        self._is_closed = False
        self._process = os.getpid()

    @property
    def _is_elsewhere(self) -> bool:
        """Whether this is another process, after a fork: what is shared belongs to the first, and does nothing here."""
        return os.getpid() != self._process

    def _begun(self) -> S | None:
        """A new call to share; None where there can be none now."""
        raise NotImplementedError

    def _shared(self, now: float) -> S | None:
        """The call to share now, if there is any."""
        stream = self._stream
        if stream is not None and stream.is_open and now < stream.renewed_at:
            return stream
        if stream is not None:
            stream.retire()
            self._stream = None
        if self._is_closed or not self._prospect.is_good:
            return None
        stream = self._stream = self._begun()
        if stream is not None:
            self._streams.add(stream)
        return stream

    def _ended(self, stream: S, code: grpc.StatusCode) -> HeptalogError | None:
        """Hear that a shared call has ended, and say what to tell those whom it has not answered."""
        self._streams.discard(stream)
        if self._stream is stream:
            self._stream = None
        self._prospect.learn(code, was_of_use=stream.joint.heard_count > 0)
        return closed() if self._is_closed else None
