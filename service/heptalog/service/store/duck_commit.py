"""What one commit brings, and what is true after it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from heptalog.service.store import Head, Refusal
from heptalog.service.store.duck_counters import Counters
from heptalog.service.store.duck_incoming import Rows
from heptalog.service.store.duck_live import Live
from heptalog.service.store.duck_whole import hashes_of
from heptalog.service.store.duck_write import Accepted, rows_of_batches, rows_of_games
from heptalog.service.store.whole import WholeGame


class Commit(Struct, frozen=True):
    """What one transaction inserts; `counters` and `live` are true once it is durable."""

    rows: Sequence[Rows]
    counters: Counters
    live: Mapping[str, Live]  # the games that have grown, the one touched last at the end
    hashes: Sequence[bytes]  # of its events
    size: int  # bytes of its records


def of_batches(
    accepted: Sequence[Accepted], refusals: Sequence[Refusal], live: Mapping[str, Live], counters: Counters
) -> Commit:
    """A commit of batches that are accepted, and of refusals; `live` are the games as they are then."""
    grown: dict[str, Live] = {}
    for item in accepted:
        grown.pop(item.batch.game_id, None)
        grown[item.batch.game_id] = live[item.batch.game_id]
    entries = [entry for item in accepted for entry in item.batch.entries]
    return Commit(
        tuple(rows_of_batches(accepted, refusals, counters.refusal_number + 1)),
        replace(
            counters,
            position=counters.position + len(entries),
            game_number=max([counters.game_number, *(item.game_number for item in accepted)]),
            refusal_number=counters.refusal_number + len(refusals),
        ),
        grown,
        [entry.event.hash for entry in entries],
        sum(len(entry.record) for entry in entries),
    )


def of_games(games: Sequence[WholeGame], refusals: Sequence[Refusal], counters: Counters) -> Commit:
    """A commit of whole games, none of which is there yet, and of refusals."""
    hashes = hashes_of(games)
    live: dict[str, Live] = {}
    position = counters.position
    for number, game in enumerate(games, counters.game_number + 1):
        position += game.count
        head = hashes[position - counters.position - 1]
        live[game.game_id] = Live(number, Head(game.count - 1, head, position))
    return Commit(
        tuple(
            rows_of_games(
                games,
                refusals,
                number=counters.game_number + 1,
                position=counters.position + 1,
                refusal_number=counters.refusal_number + 1,
            )
        ),
        replace(
            counters,
            position=position,
            game_number=counters.game_number + len(games),
            refusal_number=counters.refusal_number + len(refusals),
        ),
        live,
        hashes,
        sum(game.size for game in games),
    )
