"""What a feed tells, and what can be asked of it, as both ends have it."""

from typing import TypeAlias

from msgspec import Struct

from heptalog.replay import codec
from heptalog.replay.events import Event
from heptalog.replay.fold import Standing
from heptalog.replay.rules import ARBITER, Viewer
from heptalog.service.followed import Followed


class FeedFilter(Struct, frozen=True):
    """Which events a feed tells, and as whom; everything that is set must hold.

    `is_withheld` says that the end of a game releases nothing that the rules have not shown.
    """

    game_id: str = ""
    tournament: str = ""
    ruleset: str = ""
    viewer: Viewer = ARBITER
    is_withheld: bool = False


class FeedEvent(Struct, frozen=True):
    """An event as one viewer may have it at this moment, how its game stands after it, and what followed.

    Where the server cannot read it, or what came before it in its game, `unread` is a code of errors, and all that is
    told is its place.
    """

    position: int
    game_id: str
    sequence: int
    record: bytes = b""
    standing: Standing | None = None
    followed: tuple[Followed, ...] = ()
    words: tuple[str, ...] = ()  # in English: what happened, then what followed from it
    unread: str = ""

    @property
    def event(self) -> Event:
        """The event. Raises Unavailable (RECORD_NEWER) where it is of a kind that is not known here."""
        return codec.decode(self.record)[0]


class FeedBatch(Struct, frozen=True):
    """All that was asked for after one position up to another, in their order."""

    previous_position: int
    position: int
    events: tuple[FeedEvent, ...]


class CaughtUp(Struct, frozen=True):
    """All that is durable is told; what comes now is new."""

    position: int


class FellBehind(Struct, frozen=True):
    """What comes now is old, until the next CaughtUp."""

    position: int


class Heartbeat(Struct, frozen=True):
    """Nothing was told for a while. `time` is the server's, in nanoseconds since 1970 UTC."""

    position: int
    time: int


# With each, all that was asked for is told up to its `position`.
FeedMessage: TypeAlias = FeedBatch | CaughtUp | FellBehind | Heartbeat
