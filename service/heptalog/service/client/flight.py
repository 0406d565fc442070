"""What a stream of appends has taken on and has no answer to yet: in order, so that it can be sent again in order."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from heptalog.internal.v1 import bytes_pb2
from heptalog.replay.errors import Code, HeptalogError, Malformed
from heptalog.service import wire
from heptalog.service.appends import Append, Receipt
from heptalog.service.config import MESSAGE_SIZE_MAX
from heptalog.service.status import unpacked
from heptalog.v1 import log_pb2

F = TypeVar("F")

# Taken on at once: more than a few commits take, and little enough to be sent again.
EVENTS_MAX: Final = 4096
BYTES_MAX: Final = MESSAGE_SIZE_MAX
# One message; what is larger goes by itself.
MESSAGE_BYTES: Final = 1 << 19
MESSAGE_APPENDS: Final = 512


class _Taken(Struct, Generic[F]):
    append: Append
    message: bytes_pb2.StreamedAppend
    size: int
    future: F


class Flight(Generic[F]):
    """Appends on their way, each with the future of whoever waits for it. Knows neither threads nor loops."""

    def __init__(self, clock: Callable[[], float], timeout: float) -> None:
        """`timeout` is how many seconds may pass without any answer, by this clock."""
        self._clock = clock
        self.timeout = timeout
        self._taken: dict[int, _Taken[F]] = {}
        self._unsent: deque[_Taken[F]] = deque()
        self._number = 0
        self._event_count = 0
        self._size = 0
        self._since = clock()

    def __len__(self) -> int:
        return len(self._taken)

    @property
    def is_full(self) -> bool:
        """Whether whoever has more must wait."""
        return self._event_count >= EVENTS_MAX or self._size >= BYTES_MAX or len(self._taken) >= EVENTS_MAX

    @property
    def has_unsent(self) -> bool:
        """Whether there is something to send on this connection."""
        return bool(self._unsent)

    @property
    def seconds_left(self) -> float | None:
        """How long to wait for an answer; None where there is none to come."""
        return max(0.0, self._since + self.timeout - self._clock()) if self._taken else None

    def take(self, append: Append, future: F) -> None:
        """Take on an append. Raises Malformed where no message has room for it, and what cannot be written."""
        number = self._number + 1
        message = bytes_pb2.StreamedAppend(correlation_id=number, append=wire.append_request(append))
        size = message.ByteSize()
        if size > MESSAGE_SIZE_MAX - 16:
            raise Malformed(Code.EVENT_TOO_LARGE, rule="api", size=size, limit=MESSAGE_SIZE_MAX - 16)
        if not self._taken:
            self._since = self._clock()
        self._number = number
        taken = self._taken[number] = _Taken(append, message, size, future)
        self._unsent.append(taken)
        self._event_count += len(append.events)
        self._size += size

    def next_message(self) -> bytes:
        """The next message to send: all that there is, as far as one message takes it. Empty where there is nothing."""
        message = bytes_pb2.AppendStreamRequest()
        size = 0
        while self._unsent and len(message.appends) < MESSAGE_APPENDS:
            size += self._unsent[0].size
            if size > MESSAGE_BYTES and message.appends:
                break
            message.appends.append(self._unsent.popleft().message)
        return message.SerializeToString()

    def answered(self, response: log_pb2.AppendStreamResponse) -> Iterator[tuple[F, Receipt | HeptalogError]]:
        """Who is to be told what."""
        self._since = self._clock()
        for answer in response.answers:
            taken = self._taken.pop(answer.correlation_id, None)
            if taken is None:
                # Nobody here has asked for it; where that means anything, those who have will miss theirs.
                continue
            self._event_count -= len(taken.append.events)
            self._size -= taken.size
            yield taken.future, outcome_of(taken.append.game_id, answer)

    def begin_again(self) -> None:
        """The connection is another: all that has no answer is to be sent again."""
        self._unsent = deque(self._taken.values())
        self._since = self._clock()

    def give_up(self) -> list[F]:
        """Let go of all of it: the futures of those who still wait."""
        futures = [taken.future for taken in self._taken.values()]
        self._taken.clear()
        self._unsent.clear()
        self._event_count = self._size = 0
        return futures


def outcome_of(game_id: str, answer: log_pb2.StreamedAnswer) -> Receipt | HeptalogError:
    """What came of an append to this game."""
    if answer.WhichOneof("outcome") == "appended":
        return wire.appended_of(game_id, answer.appended)
    return unpacked(answer.failure)


def settle(future: Any, outcome: Receipt | HeptalogError) -> None:
    """Tell a future of either kind."""
    if future.done():
        return
    if isinstance(outcome, Receipt):
        future.set_result(outcome)
    else:
        future.set_exception(outcome)
