"""A store that forgets: all promises but the one about the disk, in the plainest words; the model of the others."""

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import TypeVar

from msgspec import Struct, field

from heptalog.replay.errors import Code, Conflict, Unavailable
from heptalog.replay.events import GameStarted
from heptalog.replay.evidence.merkle import TILE_WIDTH, Frontier, leaf_hash, nodes_from_tiles
from heptalog.service.store import (
    Batch,
    Checkpoint,
    Ending,
    Entry,
    GameFilter,
    Head,
    NumberedGame,
    Reading,
    Records,
    Refusal,
    Status,
    Stored,
    TreeHead,
)
from heptalog.service.store.batches import (
    assert_shape,
    check_checkpoint,
    check_tile,
    conflict,
    rules_version_of,
    ruleset_of,
)

T = TypeVar("T")


class _Game(Struct):
    number: int
    first: Entry
    head: Head
    records: list[Stored] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)


class MemoryStore:
    """A LogStore in the memory of this process."""

    def __init__(self) -> None:
        # Whoever holds it is done at once: readers copy what they asked for and iterate without it.
        self._lock = Lock()
        self._log: list[Stored] = []
        self._games: dict[str, _Game] = {}
        self._refusals: list[Refusal] = []
        self._leaves: list[bytes] = []
        self._tree = Frontier()
        self._checkpoints: dict[int, Checkpoint] = {}
        self._is_closed = False

    @property
    def is_broken(self) -> bool:
        return False

    def append(self, batches: Sequence[Batch], refusals: Sequence[Refusal] = ()) -> list[Head | Conflict]:
        assert_shape(batches)
        with self._lock:
            self._check_open()
            self._refusals.extend(refusals)
            return [self._append(batch) for batch in batches]

    def _append(self, batch: Batch) -> Head | Conflict:
        game = self._games.get(batch.game_id)
        refusal = conflict(batch, game.head if game else None)
        if refusal is not None:
            return refusal
        last = batch.entries[-1].event
        head = Head(last.sequence, last.hash, len(self._log) + len(batch.entries))
        if game is None:
            game = self._games[batch.game_id] = _Game(len(self._games) + 1, batch.entries[0], head)
        for entry in batch.entries:
            stored = Stored(len(self._log) + 1, batch.game_id, entry.event.sequence, entry.record)
            self._log.append(stored)
            game.records.append(stored)
            self._leaves.append(leaf_hash(entry.event.hash))
            self._tree.append(self._leaves[-1])
        game.endings.extend(batch.endings)
        game.head = head
        return head

    def head(self, game_id: str) -> Head | None:
        with self._lock:
            self._check_open()
            game = self._games.get(game_id)
            return game.head if game else None

    def heads(self) -> Reading[tuple[str, Head]]:
        with self._lock:
            self._check_open()
            return _each([(game_id, game.head) for game_id, game in self._games.items()])

    def position(self) -> int:
        with self._lock:
            self._check_open()
            return len(self._log)

    def read_game(
        self, game_id: str, *, start: int | None = None, limit: int = 0, is_backwards: bool = False
    ) -> Records:
        with self._lock:
            self._check_open()
            game = self._games.get(game_id)
            records = list(game.records) if game else []
        return _span(records, None if start is None else start, limit=limit, is_backwards=is_backwards)

    def read_games(self, game_ids: Sequence[str]) -> Records:
        with self._lock:
            self._check_open()
            games = [self._games[game_id] for game_id in game_ids if game_id in self._games]
            records = [stored for game in games for stored in game.records]
        return _each(records)

    def read_all(self, *, start: int | None = None, limit: int = 0, is_backwards: bool = False) -> Records:
        with self._lock:
            self._check_open()
            records = list(self._log)
        return _span(records, None if start is None else start - 1, limit=limit, is_backwards=is_backwards)

    def game(self, game_id: str) -> NumberedGame | None:
        with self._lock:
            self._check_open()
            game = self._games.get(game_id)
            return _entry(game) if game else None

    def games(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[NumberedGame]:
        with self._lock:
            self._check_open()
            entries = [_entry(game) for game in self._games.values() if game.number > after]
        fitting = [entry for entry in entries if wanted.fits(entry)]
        return fitting[:limit] if limit else fitting

    def game_names(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[tuple[int, str]]:
        return [(entry.number, entry.game_id) for entry in self.games(wanted, after=after, limit=limit)]

    def endings(self, game_id: str) -> Reading[Ending]:
        with self._lock:
            self._check_open()
            game = self._games.get(game_id)
            return _each(list(game.endings) if game else [])

    def endings_of(self, game_ids: Sequence[str]) -> dict[str, tuple[Ending, ...]]:
        with self._lock:
            self._check_open()
            games = {game_id: self._games.get(game_id) for game_id in game_ids}
            return {game_id: tuple(game.endings) if game else () for game_id, game in games.items()}

    def refusals(self, game_id: str = "", *, after: int = 0) -> Reading[Refusal]:
        with self._lock:
            self._check_open()
            return _each([refusal for refusal in self._refusals if game_id in ("", refusal.game_id)][after:])

    def refusal_count(self) -> int:
        with self._lock:
            self._check_open()
            return len(self._refusals)

    def tree_head(self) -> TreeHead:
        with self._lock:
            self._check_open()
            return TreeHead(self._tree.size, self._tree.root())

    def tile(self, level: int, index: int, width: int) -> list[bytes]:
        span = TILE_WIDTH**level
        first = TILE_WIDTH * index * span
        with self._lock:
            self._check_open()
            check_tile(level, index, width, size=len(self._leaves))
            leaves = self._leaves[first : first + width * span]
        return [_root(leaves[start : start + span]) for start in range(0, len(leaves), span)]

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        head = self.tree_head()
        check_checkpoint(checkpoint, head, nodes_from_tiles(self.tile, size=head.size))
        with self._lock:
            self._check_open()
            self._checkpoints[checkpoint.size] = checkpoint

    def checkpoints(self, *, after: int = 0) -> Reading[Checkpoint]:
        with self._lock:
            self._check_open()
            return _each([self._checkpoints[size] for size in sorted(self._checkpoints) if size > after])

    def void_names(self) -> frozenset[str]:
        with self._lock:
            self._check_open()
            return frozenset()

    def rest(self) -> None:
        pass

    def close(self) -> None:
        with self._lock:
            self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise Unavailable(Code.DRAINING)


def _root(leaves: list[bytes]) -> bytes:
    tree = Frontier()
    for leaf in leaves:
        tree.append(leaf)
    return tree.root()


def _span(records: list[Stored], start: int | None, *, limit: int, is_backwards: bool) -> Records:
    """The records from the index `start` on, which may lie outside."""
    if is_backwards:
        span = records[::-1] if start is None else records[: max(start + 1, 0)][::-1]
    else:
        span = records[max(start or 0, 0) :]
    return _each(span[:limit] if limit else span)


def _each(items: Iterable[T]) -> Reading[T]:
    yield from items


def _entry(game: _Game) -> NumberedGame:
    started = game.first.event.body
    assert isinstance(started, GameStarted), "a game starts once, and first"
    return NumberedGame(
        game.first.event.game_id,
        ruleset_of(started),
        rules_version_of(started),
        started,
        game.first.event.recorded_at,
        game.endings[-1].status if game.endings else Status.RUNNING,
        game.head,
        game.number,
    )
