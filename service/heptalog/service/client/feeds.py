"""Where a client is in a feed: what it asks for, and goes on with after a cut connection."""

from typing import TypeGuard

from heptalog.replay.errors import Code, Unavailable
from heptalog.service.subscribing.messages import subscribe_request
from heptalog.service.subscribing.told import FeedBatch, FeedFilter, FeedMessage
from heptalog.v1 import log_pb2


class FeedPlace:
    """One feed as its client has it. `after` is a position; None is wherever the log ends when it is first asked."""

    def __init__(self, asked: FeedFilter, after: int | None) -> None:
        self._asked = asked
        self._after = after

    def request(self) -> log_pb2.SubscribeRequest:
        """What asks for all that was not told yet. Raises Malformed for a value that there is not."""
        return subscribe_request(self._asked, self._after)

    def takes(self, message: FeedMessage | None) -> TypeGuard[FeedMessage]:
        """Be where this message ends; False for one of a kind that is not known here.

        Raises Unavailable where something is missing before it.
        """
        if message is None:
            return False
        if isinstance(message, FeedBatch) and self._after is not None and message.previous_position != self._after:
            problem = f"the feed goes on after {message.previous_position}, not after {self._after}"
            raise Unavailable(Code.SERVER_UNREACHABLE, rule="api", problem=problem)
        self._after = message.position
        return True
