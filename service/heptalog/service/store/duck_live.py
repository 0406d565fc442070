"""The heads of live games, and what a commit makes of them."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from heptalog.replay.errors import Conflict
from heptalog.service.store import Batch, Head
from heptalog.service.store.batches import conflict
from heptalog.service.store.duck_counters import Counters
from heptalog.service.store.duck_write import Accepted


class Live(Struct, frozen=True, gc=False):
    """A game's number and its head."""

    number: int
    head: Head


def decided(
    batches: Sequence[Batch], live: dict[str, Live], counters: Counters
) -> tuple[list[Head | Conflict], list[Accepted]]:
    """The answer to each batch, and those that go in; `live`, the games that there are, goes on with them."""
    position, game_number = counters.position, counters.game_number
    answers: list[Head | Conflict] = []
    accepted: list[Accepted] = []
    for batch in batches:
        game = live.get(batch.game_id)
        refusal = conflict(batch, game.head if game else None)
        if refusal is not None:
            answers.append(refusal)
            continue
        if game is None:
            game_number += 1
        number = game.number if game else game_number
        accepted.append(Accepted(batch, number, position + 1))
        position += len(batch.entries)
        last = batch.entries[-1].event
        head = Head(last.sequence, last.hash, position)
        live[batch.game_id] = Live(number, head)
        answers.append(head)
    return answers, accepted


def grow(live: dict[str, Live], grown: Mapping[str, Live], limit: int) -> None:
    """Take over these games as they are now; beyond so many the one longest untouched is forgotten."""
    for game_id, game in grown.items():
        # Put last, so that the first is the one longest untouched.
        live.pop(game_id, None)
        live[game_id] = game
    while len(live) > limit:
        del live[next(iter(live))]
