"""The store of one machine: all of the log in one DuckDB file.

One writer, one commit at a time; readers have connections of their own and wait for nobody. A store that is only read
has no writer.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Final

import duckdb

from heptalog.replay.errors import Code, Conflict, HeptalogError, Unavailable
from heptalog.replay.evidence.merkle import nodes_from_tiles
from heptalog.service.store import (
    Batch,
    Checkpoint,
    Ending,
    GameFilter,
    Head,
    NumberedGame,
    Reading,
    Records,
    Refusal,
    TreeHead,
)
from heptalog.service.store.batches import assert_shape, check_checkpoint, check_tile
from heptalog.service.store.duck_counters import Counters, count
from heptalog.service.store.duck_database import Database
from heptalog.service.store.duck_evidence import Evidence
from heptalog.service.store.duck_finder import Finder
from heptalog.service.store.duck_kept import Kept
from heptalog.service.store.duck_live import Live
from heptalog.service.store.duck_names import Names
from heptalog.service.store.duck_read import Snapshot, nothing
from heptalog.service.store.duck_tree import load, tile
from heptalog.service.store.duck_whole import assert_whole
from heptalog.service.store.duck_writer import DuckWriter
from heptalog.service.store.migrate import MEMORY_BYTES, open_database
from heptalog.service.store.opening import Guard, in_doubt
from heptalog.service.store.space import Reserve, Space, space_at
from heptalog.service.store.tree import Tree
from heptalog.service.store.whole import WholeGame

# A question has the thread of who asks it, in a database that is written. To wake another for the few rows of a commit
# takes longer than to insert them, a checkpoint is no faster with two, and who reads much leaves the other cores alone.
_ONE_THREAD: Final = "SET threads = 1"


class DuckStore:
    """A LogStore in one file. Any number of processes may read it, or one writes and reads it."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        is_read_only: bool = False,
        is_checked: bool = True,
        reserve_bytes: int | None = None,
        memory_bytes: int = MEMORY_BYTES,
        clock: Callable[[], int] = time.time_ns,
        space: Callable[[Path], Space] = space_at,
    ) -> None:
        """Open it; a missing file is made, unless it is only to be read.

        Raises Corrupt where it is shorter than its head record, or another log. For reading it can be opened all the
        same: not `is_checked`. `reserve_bytes` is what appends leave free on its disk; absent, as `space` says. The
        engine keeps at most `memory_bytes` of the database in memory.
        """
        assert is_checked or is_read_only, "who writes has looked first"
        self.path: Final = Path(path).resolve()
        self._gate = Lock()
        self._loading = Lock()
        self._clock = clock
        guard = Guard(self.path, clock, is_checked=is_checked)
        root = open_database(self.path, is_read_only=is_read_only, guard=guard)
        self._database = Database(self.path, root)
        self._tree = guard.tree
        self._writer: DuckWriter | None = None
        self._finder = Finder(root.cursor(), self._database.check_open, self._database.meaning)
        try:
            self._finder.begin()
            root.execute(f"SET memory_limit = '{memory_bytes:d}B'")
            self._counted = count(root)
            if not is_read_only:
                root.execute(_ONE_THREAD)
                self._finder.remember(Names(self._counted.game_number))
                evidence = Evidence(self.path, *guard.found, clock)
                self._writer = DuckWriter(
                    self._database,
                    root.cursor(),
                    counters=self._counted,
                    evidence=evidence,
                    finder=self._finder,
                    reserve=Reserve(self.path, reserve_bytes, space=space),
                )
                self._writer.begin()
                with suppress(HeptalogError):  # what is wrong with what is kept is for an audit
                    nodes = nodes_from_tiles(self.tile, size=evidence.tree.head.size)
                    evidence.publish_latest(self.checkpoints(after=evidence.published), nodes)
        except duckdb.Error as error:
            fault = in_doubt(self.path, self._database.meaning(error))
            self.close()
            raise fault from error
        except BaseException:
            self.close()
            raise

    @property
    def is_broken(self) -> bool:
        return self._database.is_broken

    def append(self, batches: Sequence[Batch], refusals: Sequence[Refusal] = ()) -> list[Head | Conflict]:
        assert_shape(batches)
        with self._writing() as writer:
            return writer.append(batches, refusals)

    def append_games(self, games: Sequence[WholeGame], refusals: Sequence[Refusal] = ()) -> list[Head | None]:
        """Commit whole games durably; for each its head, or None where it was there already and is left out."""
        assert_whole(games)
        with self._writing() as writer:
            return writer.append_games(games, refusals)

    def head(self, game_id: str) -> Head | None:
        self._database.check_open()
        live = self._live(game_id)
        if live is not None:
            return live.head
        number = self._number(game_id)
        if number is None:
            return None
        with closing(self._snapshot()) as snapshot:
            return snapshot.heads_of([number])[number]

    def heads(self) -> Reading[tuple[str, Head]]:
        return self._snapshot().heads()

    def position(self) -> int:
        self._database.check_open()
        return self._counters.position

    def read_game(
        self, game_id: str, *, start: int | None = None, limit: int = 0, is_backwards: bool = False
    ) -> Records:
        number = self._number(game_id)
        if number is None:
            return nothing()
        return self._snapshot().read_game(game_id, number, start=start, limit=limit, is_backwards=is_backwards)

    def read_games(self, game_ids: Sequence[str]) -> Records:
        return self._snapshot().read_games(game_ids)

    def read_all(self, *, start: int | None = None, limit: int = 0, is_backwards: bool = False) -> Records:
        return self._snapshot().read_all(start=start, limit=limit, is_backwards=is_backwards)

    def game(self, game_id: str) -> NumberedGame | None:
        with closing(self._snapshot()) as snapshot:
            return snapshot.game(game_id)

    def games(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[NumberedGame]:
        with closing(self._snapshot()) as snapshot:
            return snapshot.games(wanted, after=after, limit=limit)

    def game_names(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[tuple[int, str]]:
        with closing(self._snapshot()) as snapshot:
            return snapshot.game_names(wanted, after=after, limit=limit)

    def endings(self, game_id: str) -> Reading[Ending]:
        return self._snapshot().endings(game_id)

    def endings_of(self, game_ids: Sequence[str]) -> dict[str, tuple[Ending, ...]]:
        with closing(self._snapshot()) as snapshot:
            return snapshot.endings_of(game_ids)

    def refusals(self, game_id: str = "", *, after: int = 0) -> Reading[Refusal]:
        return self._snapshot().refusals(game_id, after)

    def refusal_count(self) -> int:
        self._database.check_open()
        return self._counters.refusal_number

    def tree_head(self) -> TreeHead:
        return self._loaded().head

    def tile(self, level: int, index: int, width: int) -> list[bytes]:
        tree = self._loaded()
        # Before the moment is taken: it has at least as much.
        check_tile(level, index, width, size=tree.head.size)
        with closing(self._snapshot()) as snapshot:
            return tile(snapshot.rows, tree, level, index, width)

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        head = self.tree_head()
        check_checkpoint(checkpoint, head, nodes_from_tiles(self.tile, size=head.size))
        with self._writing() as writer:
            writer.keep_checkpoint(checkpoint, self._clock())

    def checkpoints(self, *, after: int = 0) -> Reading[Checkpoint]:
        return self._snapshot().checkpoints(after)

    def void_names(self) -> frozenset[str]:
        with closing(self._snapshot()) as snapshot:
            return snapshot.void_names()

    def kept(self) -> Kept:
        """All that is kept as it lies there, unchecked, at one moment; whoever asks for it closes it."""
        return Kept(self._database.connected(), self._database.meaning)

    def rest(self) -> None:
        with self._gate:
            if self._writer is not None and self._database.is_usable:
                self._writer.rest()

    def close(self) -> None:
        with self._gate:
            if self._writer is not None and self._database.is_usable:
                self._writer.store_nodes()
            self._database.end()
            self._finder.close()
            if self._writer is not None:
                self._writer.close()
            self._database.close()

    # The readers' side, any thread.

    def _loaded(self) -> Tree:
        """The tree, which a store that is only read may load when it is asked for."""
        self._database.check_open()
        if self._writer is not None:
            return self._writer.evidence.tree
        with self._loading:
            if self._tree is None:
                with closing(self._snapshot()) as snapshot:
                    self._tree = load(snapshot.rows, snapshot.position)
            return self._tree

    def _number(self, game_id: str) -> int | None:
        """A game's number."""
        live = self._live(game_id)
        return self._finder.numbers([game_id]).get(game_id) if live is None else live.number

    def _snapshot(self) -> Snapshot:
        return self._database.snapshot(known=self._counters.position)

    @property
    def _counters(self) -> Counters:
        return self._counted if self._writer is None else self._writer.counters

    def _live(self, game_id: str) -> Live | None:
        """A game whose head is in memory."""
        return None if self._writer is None else self._writer.live.get(game_id)

    @contextmanager
    def _writing(self) -> Iterator[DuckWriter]:
        """The writer, for one thread at a time. Raises Unavailable where there is none."""
        with self._gate:
            self._database.check_open()
            if self._writer is None:
                raise Unavailable(Code.WRITE_FAILED, path=str(self.path), problem="opened for reading only")
            yield self._writer
