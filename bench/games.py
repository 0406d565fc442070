"""Games to measure on: played by seeded chance, recorded with seals and a chain, as a service would hold them."""

import random
import uuid
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from heptalog.replay import codec
from heptalog.replay.events import Body, Event, GameStarted, Options, Player
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.evidence.seals import sealed
from heptalog.replay.playout import play
from heptalog.replay.seven_bridge.events import SevenBridge
from heptalog.replay.seven_rocks.events import SevenRocks
from heptalog.replay.seven_up.events import SevenUp

GAMES_EACH: Final = 24
_START: Final = 1_767_225_600_000_000_000  # nanoseconds: 2026-01-01
_NAMES: Final = ("Ana", "Bo", "Chie", "Dag", "Eun", "Fay", "Gus")

# Every table size and option that changes what is folded, in turn.
TABLES: Final[dict[str, tuple[tuple[Options, int], ...]]] = {
    "seven_rocks": ((SevenRocks(), 4), (SevenRocks(target=100), 4)),
    "seven_up": ((SevenUp(), 2), (SevenUp(), 3), (SevenUp(), 4)),
    "seven_bridge": (
        (SevenBridge(), 4),
        (SevenBridge(jokers=2, kings_race=5), 5),
        (SevenBridge(limit=100), 3),
        (SevenBridge(ghosts=False, pass_tokens=5), 7),
    ),
}


class Recorded(Struct, frozen=True):
    """The games of one kind, as bodies and as records."""

    name: str
    bodies: tuple[tuple[Body, ...], ...]
    records: tuple[tuple[bytes, ...], ...]

    @property
    def events(self) -> int:
        """How many events all games have."""
        return sum(map(len, self.records))


def recorded_games(name: str, *, count: int = GAMES_EACH, seed: int = 7) -> Recorded:
    """Games of one kind, the same on every machine."""
    return recorded_at(TABLES[name], name=name, count=count, seed=seed)


def recorded_at(tables: Sequence[tuple[Options, int]], *, name: str, count: int, seed: int = 7) -> Recorded:
    """Games at these tables in turn, the same on every machine."""
    chance = random.Random(seed)
    bodies = []
    for index in range(count):
        options, seats = tables[index % len(tables)]
        players = tuple(Player(player.lower(), player) for player in _NAMES[:seats])
        bodies.append(tuple(play(GameStarted(players=players, rules=options), chance.randrange)))
    return Recorded(name, tuple(bodies), tuple(_records(game, chance) for game in bodies))


def _records(bodies: Sequence[Body], chance: random.Random) -> tuple[bytes, ...]:
    game_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
    previous = GENESIS
    records = []
    for sequence, body in enumerate(bodies):
        event = Event(
            sequence=sequence,
            body=sealed(body, lambda: chance.randbytes(16)),
            game_id=game_id,
            event_id=str(uuid.UUID(int=chance.getrandbits(128), version=4)),
            recorded_at=_START + sequence * 1_500_000_000,
            recorded_by="table-1",
        )
        event, record = codec.chained(event, previous)
        previous = event.hash
        records.append(record)
    return tuple(records)
