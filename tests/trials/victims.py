"""A log to tamper with: games of every kind with rulings and endings side by side, refusals, signed checkpoints."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

from heptalog.replay.codec import content_of
from heptalog.replay.errors import Code
from heptalog.replay.events import Event, NoteAdded, camel_name
from heptalog.replay.evidence.notes import VerifierKey
from heptalog.replay.registry import GAMES
from heptalog.service.evidence.checkpoints import Checkpoints
from heptalog.service.evidence.keys import Keyring, SigningKey
from heptalog.service.evidence.signing import Signer
from heptalog.service.store import Batch, Entry, Refusal
from heptalog.service.store.duck import DuckStore
from tests.support.recording import STARTED_AT, batches_of, recorded_game
from tests.trials.tampered import Log, read

KEY: Final = SigningKey("example.org/tampered", sha256(b"never one to trust").digest())
KEYS: Final[tuple[VerifierKey, ...]] = KEY.verifiers


class Victim(NamedTuple):
    """A log as it was written, in a file and in memory, and a checkpoint that somebody else has kept."""

    path: Path
    log: Log
    outside: str


def made(path: Path, *, length: int, games_each: int) -> Victim:
    """A log of so many games of each kind, each of at most so many events; the same every time."""
    store = DuckStore(path, clock=lambda: STARTED_AT)
    signer = Signer(store, Checkpoints(store), Keyring((KEY,)), counted_clock())
    games = [
        recorded_game(rules, seed, event_count_max=length, ruling_rate=0.08, tournament="Seven Days")
        for seed in range(games_each)
        for rules in GAMES
    ]
    waiting = [batches_of(entries, 7) for entries in games]
    notes: list[str] = []
    while any(waiting):
        commit: list[Batch] = [batches.pop(0) for batches in waiting if batches]
        store.append(commit, [refused(batch.entries[0]) for batch in commit[:1]])
        if len(notes) < 3:
            notes.append(signer.checkpoint().note)
    last = signer.checkpoint().note
    store.close()
    return Victim(path, read(path), last)


def refused(entry: Entry) -> Refusal:
    """An event that the rules did not allow, asked for where another one came to stand."""
    event = Event(
        entry.event.sequence,
        NoteAdded("as if it had not been allowed"),
        game_id=entry.event.game_id,
        event_id=f"refused {entry.event.sequence}",
        recorded_at=entry.event.recorded_at,
        recorded_by="table-1",
    )
    return Refusal(
        event.game_id,
        event.sequence,
        event.recorded_at + 1,
        event.recorded_by,
        camel_name(type(event.body)),
        Code.NOT_YOUR_TURN,
        "SU-R12",
        content_of(event),
    )


def counted_clock() -> Callable[[], int]:
    """A clock that moves a second with every look."""
    seconds = count(STARTED_AT, 1_000_000_000)
    return lambda: next(seconds)


def notes_of(log: Log) -> Sequence[str]:
    """The checkpoints that are kept in a log."""
    return [row[2] for row in log.rows("checkpoints")]
