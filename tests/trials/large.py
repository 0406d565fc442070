"""A large log with many changes in it at once: an audit has to tell of each of them, and of nothing else."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import duckdb

from heptalog.replay.errors import Code
from heptalog.replay.events import Body
from heptalog.replay.registry import GAMES
from heptalog.service.auditing.findings import Finding
from heptalog.service.store import NO_GAME, Batch, Ending
from heptalog.service.store.duck import DuckStore
from tests.support.play import play
from tests.support.recording import endings_of, entries_of

# So many different games are played; each is then recorded again and again, by other names and with other seals.
_PLAYED: Final = 24
_GAMES_AT_ONCE: Final = 40


class Change(NamedTuple):
    """One change: what was done to the event at a position, and what may be said of the one that follows it."""

    kind: str
    position: int
    after: int | None


def filled(path: Path, events: int, seed: int) -> int:
    """Make a log of at least so many events; how many it has."""
    random = Random(seed)
    played: list[tuple[list[Body], list[Ending]]] = []
    for number in range(_PLAYED):
        game = play(GAMES[number % len(GAMES)], seed + number)
        played.append((game.bodies, endings_of(entries_of(game.bodies, "game", random))))
    written = number = 0
    with closing(DuckStore(path)) as store:
        while written < events:
            batches = []
            for _ in range(_GAMES_AT_ONCE):
                bodies, endings = played[number % _PLAYED]
                entries = entries_of(bodies, f"game-{number}", random)
                batches.append(Batch(f"game-{number}", NO_GAME, tuple(entries), tuple(endings)))
                number += 1
                written += len(entries)
            store.append(batches)
    return written


def changed(path: Path, count: int, seed: int) -> list[Change]:
    """Change so many events behind the back of the store, each otherwise, and far enough from each other."""
    random = Random(seed)
    with duckdb.connect(path) as connection:
        ((last,),) = connection.execute("SELECT max(position) FROM log.events").fetchall()
        connection.execute("BEGIN")
        positions = sorted(random.sample(range(2, last, 3), count))
        changes = [_change(connection, position, random) for position in positions]
        connection.execute("COMMIT")
    return changes


def strange(changes: Sequence[Change], findings: Sequence[Finding]) -> Iterator[str]:
    """What is wrong with what was found of these changes."""
    places = {change.position: change for change in changes}
    followers = {change.after for change in changes if change.kind == "deleted"}
    told = {finding.position for finding in findings}
    for change in changes:
        if change.position not in told:
            yield f"missed: {change}"
    for finding in findings:
        is_whole = finding.code in (Code.HEAD_DIFFERS, Code.TREE_DIFFERS)
        is_follower = finding.code is Code.SEQUENCE_GAP and finding.position in followers
        is_first = finding.table == "games" and finding.sequence == 0
        # Neighbours that are both gone are told of as one range.
        is_range = finding.code is Code.POSITION_DAMAGED and finding.position in places
        if not (finding.position in places or is_whole or is_follower or is_first or is_range):
            yield f"nothing was done here: {finding}"


def _change(connection: duckdb.DuckDBPyConnection, position: int, random: Random) -> Change:
    where = "WHERE position = ?"
    ((game, sequence, record),) = connection.execute(
        f"SELECT game_number, sequence, event FROM log.events {where}",
        [position],
    ).fetchall()
    after = connection.execute(
        "SELECT position FROM log.events WHERE position > ? AND game_number = ? AND sequence = ?",
        [position, game, sequence + 1],
    ).fetchall()
    kind, statement, values = random.choice(
        (
            ("byte", "UPDATE log.events SET event = ?", [_flipped(record, random)]),
            ("byte", "UPDATE log.events SET event = ?", [_flipped(record, random)]),
            ("kind", "UPDATE log.events SET kind = kind || ?", ["x"]),
            ("seat", "UPDATE log.events SET seat = coalesce(seat, 0) + ?", [7]),
            ("event_id", "UPDATE log.events SET event_id = ?", ["another"]),
            ("occurred_at", "UPDATE log.events SET occurred_at = make_timestamptz(?)", [7]),
            ("recorded_by", "UPDATE log.events SET recorded_by = ?", ["another"]),
            ("sequence", "UPDATE log.events SET sequence = sequence + ?", [1000]),
            ("game_number", "UPDATE log.events SET game_number = game_number + ?", [1]),
            ("deleted", "DELETE FROM log.events", []),
        )
    )
    connection.execute(f"{statement} {where}", [*values, position])
    is_missed = kind in ("deleted", "game_number")
    return Change("deleted" if is_missed else kind, position, after[0][0] if after else None)


def _flipped(record: bytes, random: Random) -> bytes:
    place = random.randrange(len(record))
    return record[:place] + bytes([record[place] ^ 1 << random.randrange(8)]) + record[place + 1 :]
