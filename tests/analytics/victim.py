"""A follower that is killed: `python -m tests.analytics.victim DATABASE FOLDER` says when each of its steps is done."""

import sys
from itertools import count
from pathlib import Path

from heptalog.analytics.keeping import Follower
from heptalog.service.store.duck import DuckStore


def main() -> None:
    """Follow in small steps, with moments and merges in between, and begin anew at the end."""
    database, folder = map(Path, sys.argv[1:])
    store = DuckStore(database, is_read_only=True)
    follower = Follower(folder, store, events_held_max=500)
    for step in count():
        has_more = follower.follow(20)
        if step % 3 == 0:
            follower.release(follower.snapshot())
        if step % 5 == 0:
            follower.rest()
        if not has_more and step % 7 == 0:
            follower.close()
            follower = Follower(folder, store, events_held_max=500)
        print(step, flush=True)


if __name__ == "__main__":
    main()
