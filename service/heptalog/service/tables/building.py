"""The process that makes the tables anew, beside the one that keeps them."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from heptalog.analytics.keeping import build, folder_of
from heptalog.analytics.processes import core_count
from heptalog.service.tables.messages import Built, Done
from heptalog.service.tables.serving import Place, Server, serve
from heptalog.service.tables.source import connected

_TELL_SECONDS: Final = 0.2


def make_anew(server: Server, place: Place) -> None:
    """Make all of it from the log, and tell now and then how far it is."""
    told_at = 0.0

    def tell(position: int, head: int) -> None:
        nonlocal told_at
        now = time.monotonic()
        if now - told_at >= _TELL_SECONDS:
            told_at = now
            server.send(Built(position, head))

    make(place, tell)
    server.send(Done())


def make(place: Place, tell: Callable[[int, int], None] = lambda position, head: None) -> None:
    """Make all tables on all cores. Raises Unavailable where that takes the room that the log needs."""

    def look(position: int, head: int) -> None:
        place.check_room()
        tell(position, head)

    build(folder_of(Path(place.database)), partial(connected, place.feed), processes=core_count(), tell=look)


if __name__ == "__main__":
    serve(make_anew)
