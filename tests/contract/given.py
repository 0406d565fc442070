"""What the tests of the stores are given: short games, and appends that must succeed."""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Final

from heptalog.replay.errors import Code, Conflict
from heptalog.replay.evidence.checkpoints import CheckpointBody, format_checkpoint
from heptalog.replay.evidence.notes import Note, Signature, format_note
from heptalog.replay.registry import GAMES
from heptalog.service.store import Batch, Checkpoint, Entry, Head, LogStore, Refusal, Stored
from heptalog.service.store.duck import DuckStore
from heptalog.service.store.duck_writer import DuckWriter
from tests.support.recording import batch_of, batches_of, recorded_game

REFUSED_AT: Final = 1_790_000_000_123_456_789


@cache
def game(number: int, *, length: int = 12) -> tuple[Entry, ...]:
    """The beginning of game `number`, of any ruleset in turn; its id is `game-<number>`."""
    rules = GAMES[number % len(GAMES)]
    return tuple(recorded_game(rules, number, game_id=f"game-{number}", event_count_max=length))


@cache
def whole_games(*, ruling_rate: float = 0.0) -> tuple[tuple[Entry, ...], ...]:
    """Three games of each ruleset, each to its end."""
    return tuple(
        tuple(
            recorded_game(
                rules,
                seed,
                tournament="Seven Days" if seed else "",
                table=f"table {seed}" if seed == 1 else "",
                ruling_rate=ruling_rate,
            )
        )
        for seed in range(3)
        for rules in GAMES
    )


def appended(store: LogStore, *batches: Batch) -> list[Head]:
    """The heads after one commit of all these."""
    heads: list[Head] = []
    for answer in store.append(batches):
        assert isinstance(answer, Head), f"{answer}"
        heads.append(answer)
    return heads


def fill(store: LogStore, games: Sequence[Sequence[Entry]], *, size: int = 5) -> list[Entry]:
    """Append these games side by side, so many events of each a commit; what is in the log, in order."""
    waiting = [batches_of(entries, size) for entries in games]
    written: list[Entry] = []
    while any(waiting):
        commit = [batches.pop(0) for batches in waiting if batches]
        appended(store, *commit)
        written += [entry for batch in commit for entry in batch.entries]
    return written


def refused(answer: Head | Conflict) -> tuple[Code, dict[str, object]]:
    """The code and the facts of a batch that was left out."""
    assert isinstance(answer, Conflict), f"{answer}"
    return answer.code, answer.facts


def as_stored(entries: Sequence[Entry], *, first: int = 1) -> list[Stored]:
    """How these are read back when they are in the log one after the other."""
    return [
        Stored(position, entry.event.game_id, entry.event.sequence, entry.record)
        for position, entry in enumerate(entries, start=first)
    ]


def refusals(count: int, game_id: str = "game-1") -> list[Refusal]:
    """Refused moves of a game, one a nanosecond."""
    return [
        Refusal(
            game_id, 5, 1_790_000_000_123_456_789 + number, "table-1", "cardPlayed", "NOT_HELD", "SB-R8", b"\x00\xff"
        )
        for number in range(count)
    ]


def checkpoint_of(size: int, root: bytes, *, name: str = "seven.example/log") -> Checkpoint:
    """A checkpoint with a signature that nobody checks."""
    text = format_checkpoint(CheckpointBody("seven.example/log", size, root))
    return Checkpoint(size, format_note(Note(text, (Signature(name, b"\1\2\3\4", bytes(64)),))))


def random_commit(store: LogStore, random: Random, games: Sequence[Sequence[Entry]]) -> Iterator[Batch]:
    """A few batches, most of them right, some of them at a wrong head, now and then of one game twice."""
    for entries in random.choices(games, k=random.randrange(1, 6)):
        head = store.head(entries[0].event.game_id)
        next_sequence = 0 if head is None else head.sequence + 1
        if random.random() < 0.2:
            next_sequence = random.randrange(len(entries))
        piece = entries[next_sequence : next_sequence + random.randrange(1, 8)]
        if piece:
            yield batch_of(piece)


def writer_of(store: DuckStore) -> DuckWriter:
    """What writes it."""
    assert store._writer is not None, "it is written"
    return store._writer


def begin(number: int) -> Batch:
    """The first event of game `number`."""
    return batch_of(game(number)[:1])
