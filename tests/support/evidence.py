"""Games as they are recorded: in envelopes, sealed with salts that anybody can count up, and chained."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from heptalog.replay.codec import chained
from heptalog.replay.events import Body, Event
from heptalog.replay.evidence.chain import GENESIS
from heptalog.replay.evidence.seals import map_parts, redact_part, sealed
from heptalog.replay.fold import Closed
from heptalog.replay.gamefile import encode_line
from heptalog.replay.registry import GAMES
from tests.support.play import play

# 2026-01-31 12:00:00 UTC, and what passes between two events: not a whole number of anything.
BEGIN = 1_769_860_800_000_000_000
STEP = 7_300_001_000


class Recorded(NamedTuple):
    """A recorded event and its record."""

    event: Event
    record: bytes


def counted_salts(label: str) -> Callable[[], bytes]:
    """Salts that are the same in every run and different in every call."""
    count = 0

    def salt() -> bytes:
        nonlocal count
        count += 1
        return sha256(f"salt {label} {count}".encode()).digest()[:16]

    return salt


def recorded(
    bodies: Iterable[Body], *, game_id: str = "game", is_sealed: bool = True, with_times: bool = True
) -> list[Recorded]:
    """The whole record of a game."""
    salts = counted_salts(game_id)
    previous = GENESIS
    records = []
    for sequence, body in enumerate(bodies):
        event = Event(
            sequence,
            sealed(body, salts) if is_sealed else body,
            game_id=game_id,
            event_id=f"{game_id}-{sequence}",
            occurred_at=BEGIN + sequence * STEP if with_times else 0,
            recorded_at=BEGIN + sequence * STEP + 40_000_000 if with_times else 0,
            recorded_by="scorer" if with_times else "",
        )
        event, record = chained(event, previous)
        previous = event.hash
        records.append(Recorded(event, record))
    return records


def redact(body: Body) -> Body:
    """The body as the public form has it: every sealed part without value and salt; what has no seal stays."""
    return map_parts(body, redact_part) if body.sealed else body


def redacted(events: Iterable[Event]) -> list[Event]:
    """The copy that anybody may have: as recorded, without sealed values and salts."""
    return [replace(event, body=redact(event.body)) for event in events]


def lines_of(events: Iterable[Event]) -> list[bytes]:
    """The game file of these events."""
    return [encode_line(event) for event in events]


def digest_of_games(seeds: Sequence[int]) -> str:
    """One number for all that is derived from some games: states, outcomes, lines, records and hashes."""
    total = sha256()
    for rules in GAMES:
        for seed in seeds:
            game = play(rules, seed, events_max=150)
            for event, record in recorded(game.bodies, game_id=f"{rules.key}-{seed}"):
                total.update(encode_line(event) + record + event.hash)
            for state, outcomes in zip(game.fold.states, game.outcomes, strict=True):
                inner: Any = state.state if isinstance(state, Closed) else state
                total.update(msgspec.msgpack.encode(inner) + repr((state.winners, outcomes)).encode())
    return total.hexdigest()


def main() -> None:
    """Print the digest, for another process to compare."""
    print(digest_of_games(seeds=range(8)))
