"""The process that keeps the tables: it does what it is told, a step at a time."""

from pathlib import Path
from typing import Final

from heptalog.analytics.keeping import Follower, behind
from heptalog.analytics.snapshots import Snapshot
from heptalog.service.tables.building import make
from heptalog.service.tables.messages import (
    Command,
    Done,
    Follow,
    Followed,
    Release,
    Reply,
    Rest,
    Rested,
    Stop,
    Take,
    Taken,
    Verified,
    Verify,
)
from heptalog.service.tables.serving import Place, Server, serve
from heptalog.service.tables.source import RemoteSource

# So many events are taken by one process in a few seconds; of more than these all processes make the tables faster.
_FAR_BEHIND: Final = 200_000


def follow(server: Server, place: Place) -> None:
    """Follow until told to stop."""
    folder, source = Path(place.folder), RemoteSource(place.feed)
    count = behind(folder, source)
    if count > max(_FAR_BEHIND, source.position() // 2):
        make(place)
    follower = Follower(folder, source)
    kept = _Kept(follower)
    while not isinstance(command := server.receive(), Stop):
        server.send(kept.answer(command))
    # Only in order: after a failure, or without a server, what was not written down is followed again.
    follower.close()
    server.send(Done())


class _Kept:
    """The follower, and the moments of it that are read."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._snapshots: dict[int, Snapshot] = {}
        self._count = 0

    def answer(self, command: Command) -> Reply:
        """Do what is told."""
        match command:
            case Follow(events_max=events_max):
                has_more = self._follower.follow(events_max)
                return Followed(self._follower.position, self._follower.refusals, has_more)
            case Take():
                self._count += 1
                snapshot = self._snapshots[self._count] = self._follower.snapshot()
                return Taken(self._count, snapshot)
            case Rest():
                return Rested(self._follower.rest())
            case Release(number=number):
                self._follower.release(self._snapshots.pop(number))
                return Done()
            case Verify():
                return Verified(self._follower.verify())
            case Stop():
                raise AssertionError("the loop has ended")


if __name__ == "__main__":
    serve(follow)
