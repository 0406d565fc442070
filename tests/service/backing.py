"""Logs for the tests of backups: games of all kinds with rulings, refusals, signed checkpoints; and what to compare."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest

from heptalog.replay.errors import HeptalogError
from heptalog.replay.evidence.checkpoints import CheckpointBody, format_checkpoint
from heptalog.replay.evidence.merkle import nodes_from_tiles, root_at
from heptalog.replay.evidence.notes import Note, VerifierKey, format_note
from heptalog.replay.registry import GAMES
from heptalog.service.backup.parts import Have, Part, parts_of
from heptalog.service.backup.taking import Source, Taken, take
from heptalog.service.evidence.keys import SigningKey
from heptalog.service.store import Checkpoint, Entry, GameFilter, LogStore
from tests.contract.given import fill, refusals
from tests.support.recording import recorded_game

KEY: Final = SigningKey("seven.example/log", bytes(range(32)))
OTHER_KEY: Final = SigningKey("seven.example/log", bytes(range(1, 33)))
WITNESS: Final = SigningKey("witness.example", bytes(range(2, 34)), is_witness=True)
MADE_AT: Final = 1_790_000_000_000_000_000


def games(seed: int, *, length: int = 40) -> list[list[Entry]]:
    """A game of each kind, rulings included."""
    return [
        recorded_game(rules, seed, tournament="Seven Days", event_count_max=length, ruling_rate=0.05) for rules in GAMES
    ]


def grow(store: LogStore, seed: int = 0, *, length: int = 40) -> None:
    """Games, refusals and a checkpoint more."""
    fill(store, games(seed, length=length), size=7)
    store.append((), refusals(3, f"seven_up-{seed}"))
    store.keep_checkpoint(checkpoint(store))


def checkpoint(store: LogStore, *keys: SigningKey, size: int | None = None, root: bytes = b"") -> Checkpoint:
    """A checkpoint over all, signed by these keys or by the log's own."""
    head = store.tree_head()
    size = head.size if size is None else size
    root = root or root_at(size, nodes_from_tiles(store.tile))
    text = format_checkpoint(CheckpointBody(KEY.name, size, root))
    signatures = tuple(one for key in keys or (KEY,) for one in key.sign(text, 1_790_000_000))
    return Checkpoint(size, format_note(Note(text, signatures)))


def source(store: LogStore) -> Source:
    """The log in a store."""

    def parts(have: Have) -> Iterator[Part]:
        return parts_of(store, have)

    return parts


def back_up(store: LogStore, folder: Path, *, keys: Sequence[VerifierKey] = KEY.verifiers) -> Taken:
    """Take a backup."""
    return take(folder, source(store), keys=keys, clock=lambda: MADE_AT)


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def all_of(store: LogStore) -> dict[str, Any]:
    """Everything that a store gives to who reads it."""
    listed = store.games(GameFilter(), limit=1_000)
    return {
        "records": list(store.read_all()),
        "games": listed,
        "endings": store.endings_of([entry.game_id for entry in listed]),
        "refusals": list(store.refusals()),
        "checkpoints": list(store.checkpoints()),
        "tree": store.tree_head(),
    }


# Every column but those that say when something was kept here, and the tree, which may be stored later.
_TABLES: Final = {
    "events": "SELECT * FROM log.events ORDER BY position",
    "games": "SELECT * FROM log.games ORDER BY game_number",
    "endings": "SELECT * FROM log.endings ORDER BY game_number, sequence",
    "refusals": "SELECT * FROM log.refusals ORDER BY refusal_number",
    "checkpoints": "SELECT size, note FROM log.checkpoints ORDER BY checkpoint_number",
}


def rows_of(database: Path) -> dict[str, list[Any]]:
    """Every row of a database that nobody has open, as it lies there."""
    with closing(duckdb.connect()) as connection:
        connection.execute(f"ATTACH '{database}' AS heptalog (READ_ONLY)")
        connection.execute("USE heptalog")
        return {name: connection.execute(statement).fetchall() for name, statement in _TABLES.items()}


def failure(work: Callable[[], Any]) -> HeptalogError:
    """How this fails."""
    with pytest.raises(HeptalogError) as caught:
        work()
    return caught.value
