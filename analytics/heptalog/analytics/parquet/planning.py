"""What is to be done for an export: which steps, which games, and whether it is the same log at all."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from heptalog.analytics.keeping.opening import hash_at
from heptalog.analytics.parquet.manifest import Manifest, foreign
from heptalog.analytics.parquet.pieces import Opener, Work
from heptalog.analytics.sources import Source


def steps(after: int, position: int, count: int) -> Iterator[int]:
    """The positions at which a step ends; there is at least one, for games that could not be read before."""
    while position - after > count:
        after += count
        yield after
    yield position


def touched(source: Source, after: int, position: int) -> dict[str, int]:
    """The games that the events between two positions belong to, in order, and how many each has of them."""
    games: dict[str, int] = {}
    if after < position:
        for recorded in source.read_all(start=after + 1, limit=position - after):
            games[recorded.game_id] = games.get(recorded.game_id, 0) + 1
    return games


def works(
    opener: Opener, games: Mapping[str, int], folder: Path, *, position: int, count: int, is_unfinished: bool = False
) -> Iterator[Work]:
    """These games in pieces of work of about so many events each."""
    waiting: list[str] = []
    events = number = 0

    def work() -> Work:
        return Work(opener, position, tuple(waiting), events, str(folder / str(number)), is_unfinished)

    for game_id, some in games.items():
        waiting.append(game_id)
        events += some
        # A game that was touched once may be long.
        if events >= count or len(waiting) * 50 >= count:
            yield work()
            waiting, events, number = [], 0, number + 1
    if waiting:
        yield work()


def check_log(folder: Path, manifest: Manifest, source: Source, *, position: int, refusals: int) -> None:
    """Raise Unavailable (EXPORT_FOREIGN) where an export was made of another log than this."""
    if manifest.position and position and hash_at(source, 1) != manifest.log:
        raise foreign(folder, "it is an export of another log")
    if manifest.position > position:
        raise foreign(folder, f"it is of a longer log: it has {manifest.position:,} events, and this one {position:,}")
    if manifest.refusals > refusals:
        raise foreign(
            folder, f"it is of a longer log: of refusals it has {manifest.refusals:,}, and this one {refusals:,}"
        )
    if not manifest.position:
        return
    if hash_at(source, manifest.position) != manifest.hash:
        raise foreign(folder, f"it is of a log with another event at position {manifest.position:,}")
