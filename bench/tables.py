"""Measure the tables: what it takes to fold recorded games, to make their rows, and to put them into Arrow.

Each work does all that the one before it does. The last is what runs behind a writer, a batch of games at a time.
"""

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from msgspec.structs import replace

from bench.games import TABLES, recorded_games
from heptalog.analytics.projecting.arrow import arrow_tables
from heptalog.analytics.projecting.game import GameProjection, project
from heptalog.analytics.rating import Ratings, result_of
from heptalog.replay import codec
from heptalog.replay.fold import Fold

# As many events as a batch has at least; whole games, as they are projected where all is made anew.
_BATCH_SIZE: Final = 5_000
_DELAY: Final = 123_456_789  # nanoseconds from the table to the record

Games: TypeAlias = Sequence[Sequence[bytes]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.tables", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured, in turn")
    parser.add_argument("--games", type=int, default=48, help="games of each kind")
    arguments = parser.parse_args()
    print(
        f"{arguments.games} games a kind, {arguments.rounds} rounds in turn; µs an event: median (fastest to slowest)\n"
    )
    print(f"{'game':<13} {'events':>7}  {'work':<22} {'µs':>6} {'':<16} {'events/s':>10}")
    for name in TABLES:
        games = [with_clock(records) for records in recorded_games(name, count=arguments.games).records]
        events = sum(map(len, games))
        figures: dict[str, list[float]] = {work: [] for work in WORKS}
        for round_number in range(arguments.rounds + 1):
            for work, run in WORKS.items():
                gc.collect()
                begin = time.perf_counter()
                run(games)
                if round_number:
                    figures[work].append((time.perf_counter() - begin) / events * 1e6)
        for work, values in figures.items():
            first = f"{name:<13} {events:>7}" if work == "decode and fold" else " " * 21
            spread = f"({min(values):.2f} to {max(values):.2f})"
            median = statistics.median(values)
            print(f"{first}  {work:<22} {median:>6.2f} {spread:<16} {1e6 / median:>10,.0f}")
        print()


def with_clock(records: Sequence[bytes]) -> list[bytes]:
    """The records of a game as a table with a clock has them, for think times; their hashes are not looked at here."""
    events = [codec.decode(record)[0] for record in records]
    return [codec.encode(replace(event, occurred_at=event.recorded_at - _DELAY)) for event in events]


def decode_and_fold(games: Games) -> None:
    """What any reading of the record by the rules takes."""
    for records in games:
        first, *others = [codec.decode(record)[0].body for record in records]
        fold = Fold(first)
        for body in others:
            fold.advance(body)


def make_rows(games: Games) -> None:
    """Decode, fold, and the rows of every table."""
    for game in projected(games):
        game.rows()


def make_tables(games: Games) -> None:
    """Decode, fold, rows, and Arrow, in batches."""
    for batch in batches(games):
        arrow_tables(batch)


def rate_players(games: Games) -> None:
    """All that, and the ratings of who played."""
    ratings = Ratings()
    for batch in batches(games):
        arrow_tables(batch)
        for game in batch:
            result = result_of(game)
            if result is not None:
                ratings.rate(result)


def projected(games: Games) -> Iterator[GameProjection]:
    """Every game, one after the other in one log."""
    position = 0
    for records in games:
        yield project((position + place, codec.decode(record)[0]) for place, record in enumerate(records, 1))
        position += len(records)


def batches(games: Games) -> Iterator[list[GameProjection]]:
    """Every game, in batches of about so many events."""
    batch: list[GameProjection] = []
    for game in projected(games):
        batch.append(game)
        if sum(one.event_count for one in batch) >= _BATCH_SIZE:
            yield batch
            batch = []
    if batch:
        yield batch


WORKS: Final[Mapping[str, Callable[[Games], None]]] = MappingProxyType(
    {
        "decode and fold": decode_and_fold,
        "and rows": make_rows,
        "and Arrow": make_tables,
        "and ratings": rate_players,
    }
)


if __name__ == "__main__":
    main()
