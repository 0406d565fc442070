"""Games in a list, around those that cannot be read: each of these is told in its place, and hides no other."""

from typing import TypeAlias

from msgspec import Struct

from heptalog.replay.errors import Corrupt
from heptalog.service.store import GameFilter, LogStore, NumberedGame


class UnreadGame(Struct, frozen=True):
    """A game that fits, and why no more can be told of it."""

    game_id: str
    number: int
    error: Corrupt


Listed: TypeAlias = NumberedGame | UnreadGame


def listed(store: LogStore, wanted: GameFilter, *, after: int, limit: int) -> list[Listed]:
    """What the store lists, at most `limit`. Raises Corrupt where the list of games itself cannot be read."""
    found: list[Listed] = []
    size = limit
    while len(found) < limit:
        size = min(size, limit - len(found))
        page: list[Listed]
        try:
            page = [*store.games(wanted, after=after, limit=size)]
        except Corrupt:
            # One game of a page hides the others of it, so it is looked for by halves.
            if size > 1:
                size //= 2
                continue
            page = _next(store, wanted, after)
        found += page
        if len(page) < size:
            break
        after = page[-1].number
        size *= 2
    return found


def _next(store: LogStore, wanted: GameFilter, after: int) -> list[Listed]:
    """The next game, whatever is known of it; nothing where there is none."""
    for number, game_id in store.game_names(wanted, after=after, limit=1):
        try:
            entry = store.game(game_id)
        except Corrupt as error:
            return [UnreadGame(game_id, number, error)]
        return [] if entry is None else [entry]
    return []
