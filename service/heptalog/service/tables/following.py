"""The process that keeps the tables: it does what it is told, a step at a time."""

import logging
from pathlib import Path

from heptalog.analytics.keeping import Follower, due, folder_of, is_far, opened
from heptalog.analytics.keeping.manifest import boot_id
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
    Scrub,
    Scrubbed,
    Stop,
    Take,
    Taken,
    Verified,
    Verify,
)
from heptalog.service.tables.serving import Place, Server, serve
from heptalog.service.tables.source import RemoteSource

_log = logging.getLogger(__name__)


def follow(server: Server, place: Place) -> None:
    """Follow until told to stop."""
    folder, source = folder_of(Path(place.database)), RemoteSource(place.feed)
    found = opened(folder, source, boot=boot_id())
    # Of tables of no event there is nothing to make anew.
    if found.why_anew and (found.manifest is None or found.manifest.position):
        _log.warning("the tables are made anew: %s", found.why_anew)
    count, head = due(found, source), source.position()
    if is_far(count, head):
        _log.warning("the tables are behind by %d of %d events, and are made by all processors", count, head)
        make(place)
        _log.warning("the tables are made, up to position %d at least", head)
    follower = Follower(folder, source, found=found, check_room=place.check_room)
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
            case Scrub(size=size):
                progress = self._follower.scrub(size)
                return Scrubbed(progress.read, progress.total, progress.is_over, progress.damaged)
            case Stop():
                raise AssertionError("the loop has ended")


if __name__ == "__main__":
    serve(follow)
