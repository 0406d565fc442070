"""The store of one machine: all of the log in one DuckDB file.

One writer, one commit at a time; the head of each live game is in memory, so that an append asks the database nothing.
What is in memory is only ever what is durable: it changes after COMMIT has returned, and a commit that fails makes the
store forget all of it and ask the database again. Then the head record beside the database is written and synced, and
only then is anything acknowledged. Readers have connections of their own and wait for nobody.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Final
from weakref import WeakSet

import duckdb
from msgspec.structs import replace

from heptalog.replay.errors import Code, Conflict, HeptalogError, Unavailable
from heptalog.replay.evidence.merkle import nodes_from_tiles
from heptalog.service.store import (
    Batch,
    Checkpoint,
    Ending,
    GameEntry,
    GameFilter,
    Head,
    Records,
    Refusal,
    TreeHead,
)
from heptalog.service.store.batches import assert_shape, check_checkpoint, check_tile
from heptalog.service.store.duck_commit import Commit, of_batches, of_games
from heptalog.service.store.duck_counters import count
from heptalog.service.store.duck_evidence import Evidence
from heptalog.service.store.duck_faults import is_fatal, meaning, why_unwritten
from heptalog.service.store.duck_finder import Finder
from heptalog.service.store.duck_incoming import Incoming, run_all
from heptalog.service.store.duck_kept import Kept
from heptalog.service.store.duck_live import Live, decided, grow
from heptalog.service.store.duck_names import Names
from heptalog.service.store.duck_read import Snapshot, nothing
from heptalog.service.store.duck_tables import TABLES
from heptalog.service.store.duck_tree import load, tile, write_nodes
from heptalog.service.store.duck_whole import assert_whole
from heptalog.service.store.duck_write import write_checkpoint
from heptalog.service.store.files import sync_folder
from heptalog.service.store.migrate import MEMORY_BYTES, USE, open_database
from heptalog.service.store.opening import Guard, in_doubt
from heptalog.service.store.space import Reserve, Space, space_at, wal_size
from heptalog.service.store.tree import Tree
from heptalog.service.store.whole import WholeGame

# How many games are live at once: beyond that the one longest untouched is forgotten, and looked up when it goes on.
LIVE_MAX: Final = 65_536
# So large a write-ahead log is put in order in an idle moment, so that a busy one need not wait for more.
REST_SIZE: Final = 1024 * 1024  # bytes
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
        self._is_read_only = is_read_only
        self._is_closed = False
        self._is_broken = False
        self._writing = Lock()
        self._opening = Lock()
        self._loading = Lock()
        self._clock = clock
        self._evidence: Evidence | None = None  # in the hands of who writes
        self._snapshots: WeakSet[Snapshot] = WeakSet()
        self._live: dict[str, Live] = {}
        self._reserve = Reserve(self.path, reserve_bytes, space=space)
        guard = Guard(self.path, clock, is_checked=is_checked)
        # Once it is ready only ever asked for further connections, by one thread at a time.
        self._root = open_database(self.path, is_read_only=is_read_only, guard=guard)
        self._tree = guard.tree
        self._writer = self._root.cursor()  # commits, and is asked nothing
        self._finder = Finder(self._root.cursor(), self._check_open, self._meaning)
        try:
            self._finder.begin()
            self._root.execute(f"SET memory_limit = '{memory_bytes:d}B'")
            self._counters = count(self._root)
            if not is_read_only:
                self._root.execute(_ONE_THREAD)
                self._writer.execute(USE)
                self._incoming = Incoming(self._writer, TABLES)
                self._finder.remember(Names(self._counters.game_number))
                self._evidence = Evidence(self.path, *guard.found, clock)
                if self._evidence.tree.is_due:
                    self._store_nodes()
                with suppress(HeptalogError):  # what is wrong with what is kept is for an audit
                    nodes = nodes_from_tiles(self.tile, size=self._evidence.tree.head.size)
                    self._evidence.publish_latest(self.checkpoints(after=self._evidence.published), nodes)
        except duckdb.Error as error:
            fault = in_doubt(self.path, self._meaning(error))
            self.close()
            raise fault from error
        except BaseException:
            self.close()
            raise

    @property
    def is_broken(self) -> bool:
        return self._is_broken

    def append(self, batches: Sequence[Batch], refusals: Sequence[Refusal] = ()) -> list[Head | Conflict]:
        assert_shape(batches)
        with self._writing:
            self._check_writable()
            live = self._look_up(dict.fromkeys(batch.game_id for batch in batches))
            answers, accepted = decided(batches, live, self._counters)
            if accepted or refusals:
                self._commit(of_batches(accepted, refusals, live, self._counters))
            return answers

    def append_games(self, games: Sequence[WholeGame], refusals: Sequence[Refusal] = ()) -> list[Head | None]:
        """Commit whole games durably; for each its head, or None where it was there already and is left out."""
        assert_whole(games)
        with self._writing:
            self._check_writable()
            known = self._look_up(dict.fromkeys(game.game_id for game in games))
            new = [game for game in games if game.game_id not in known]
            commit = of_games(new, refusals, self._counters)
            if new or refusals:
                self._commit(commit)
            return [live.head if (live := commit.live.get(game.game_id)) else None for game in games]

    def head(self, game_id: str) -> Head | None:
        self._check_open()
        live = self._live.get(game_id)
        if live is not None:
            return live.head
        number = self._number(game_id)
        if number is None:
            return None
        with closing(self._snapshot()) as snapshot:
            return snapshot.heads_of([number])[number]

    def heads(self) -> Iterator[tuple[str, Head]]:
        return self._snapshot().heads()

    def position(self) -> int:
        self._check_open()
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

    def game(self, game_id: str) -> GameEntry | None:
        with closing(self._snapshot()) as snapshot:
            return snapshot.game(game_id)

    def games(self, wanted: GameFilter, *, after: int = 0, limit: int = 100) -> list[GameEntry]:
        with closing(self._snapshot()) as snapshot:
            return snapshot.games(wanted, after=after, limit=limit)

    def endings(self, game_id: str) -> Iterator[Ending]:
        return self._snapshot().endings(game_id)

    def endings_of(self, game_ids: Sequence[str]) -> dict[str, tuple[Ending, ...]]:
        with closing(self._snapshot()) as snapshot:
            return snapshot.endings_of(game_ids)

    def refusals(self, game_id: str = "", *, after: int = 0) -> Iterator[Refusal]:
        if game_id:
            return islice(self._snapshot().refusals(game_id, 0), after, None)
        return self._snapshot().refusals(game_id, after)

    def refusal_count(self) -> int:
        self._check_open()
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
        with self._writing:
            self._check_writable()
            number = self._counters.checkpoint_number + 1
            self._transact([lambda: write_checkpoint(self._writer, checkpoint, number, self._clock())])
            self._counters = replace(self._counters, checkpoint_number=number)
            if self._evidence is not None:
                self._evidence.publish(checkpoint)

    def checkpoints(self, *, after: int = 0) -> Iterator[Checkpoint]:
        return self._snapshot().checkpoints(after)

    def void_names(self) -> frozenset[str]:
        with closing(self._snapshot()) as snapshot:
            return snapshot.void_names()

    def kept(self) -> Kept:
        """All that is kept as it lies there, unchecked, at one moment; whoever asks for it closes it."""
        with self._opening:
            self._check_open()
            return Kept(self._root.cursor(), self._meaning)

    def rest(self) -> None:
        with self._writing:
            if self._evidence is None or self._is_closed or self._is_broken:
                return
            self._evidence.publish_waiting()
            try:
                size = wal_size(self.path)
            except OSError as error:
                problem = error.strerror or ""
                raise Unavailable(Code.WRITE_FAILED, path=str(self.path), problem=problem) from error
            # On a disk that fills up in the middle of it the engine is of no further use, so there must be room.
            if size < REST_SIZE or not self._reserve.has_room_twice(size):
                return
            self._store_nodes()
            try:
                self._writer.execute("CHECKPOINT")
            except duckdb.Error as error:
                self._forget(error)
                raise self._meaning(error) from error

    def close(self) -> None:
        with self._writing:
            self._store_nodes()
            with self._opening:
                self._is_closed = True
                snapshots = list(self._snapshots)
            for snapshot in snapshots:
                snapshot.abort()
            with suppress(duckdb.Error):  # a database that is broken cannot be put in order any more
                self._finder.close()
                self._writer.close()
                self._root.close()
            if self._evidence is not None:
                self._evidence.close()

    # The writer's side, one thread at a time.

    def _look_up(self, game_ids: Iterable[str]) -> dict[str, Live]:
        """Those of these games that there are."""
        found = {game_id: self._live.get(game_id) for game_id in game_ids}
        live = {game_id: game for game_id, game in found.items() if game is not None}
        resting = self._finder.numbers([game_id for game_id, game in found.items() if game is None])
        if resting:
            with closing(self._snapshot()) as snapshot:
                heads = snapshot.heads_of(list(resting.values()))
            live |= {game_id: Live(number, heads[number]) for game_id, number in resting.items()}
        return live

    def _commit(self, commit: Commit) -> None:
        self._reserve.check(commit.size)
        tree = self._loaded()
        nodes = tree.waiting if tree.is_due else ()

        first = self._counters.game_number
        self._finder.expect(game_id for game_id, game in commit.live.items() if game.number > first)

        statements = [partial(self._incoming.insert, self._writer, rows) for rows in commit.rows]
        if nodes:
            statements.append(partial(write_nodes, self._writer, nodes))
        self._transact(statements)
        tree.stored(nodes)
        try:
            # It is true now: what follows is what is remembered, and the head record says so.
            self._counters = commit.counters
            grow(self._live, commit.live, LIVE_MAX)
            if commit.hashes and self._evidence is not None:
                self._evidence.extend(commit.hashes)
        except BaseException:
            # It is durable, and nobody was told: opening the store again puts that in order.
            self._is_broken = True
            raise

    def _transact(self, statements: Sequence[Callable[[], object]]) -> None:
        """Run these in one transaction. Raises Unavailable where it is not durable, or nobody knows whether it is."""
        try:
            is_first = not wal_size(self.path)
            run_all(self._writer, statements)
            if is_first:
                # The engine syncs the write-ahead log that it begins here, but not its name.
                sync_folder(self.path.parent)
        except (duckdb.Error, OSError) as error:
            self._forget(error)
            raise Unavailable(Code.WRITE_FAILED, path=str(self.path), problem=why_unwritten(error)) from error
        except BaseException as error:
            self._forget(error)
            raise

    def _store_nodes(self) -> None:
        """Write what waits of the tree by itself; where that fails it is made again at the next opening."""
        evidence = self._evidence
        nodes = () if evidence is None or self._is_closed or self._is_broken else evidence.tree.waiting
        if evidence is not None and nodes:
            with suppress(Unavailable):
                self._transact([lambda: write_nodes(self._writer, nodes)])
                evidence.tree.stored(nodes)

    def _forget(self, error: BaseException) -> None:
        """Roll back, and ask the database what is true: nothing, half a word or all of it may have reached the disk."""
        self._live.clear()
        try:
            with suppress(duckdb.Error):  # the engine has rolled back already
                self._writer.execute("ROLLBACK")
            with self._opening, closing(self._root.cursor()) as asking:
                asking.execute(USE)
                self._counters = count(asking)
                if self._evidence is not None:
                    tree = load(lambda *question: asking.execute(*question).fetchall(), self._counters.position)
                    self._evidence.replace(tree)
        except (duckdb.Error, HeptalogError):
            self._is_broken = True
        if isinstance(error, duckdb.Error) and is_fatal(error):
            self._is_broken = True

    # The readers' side, any thread.

    def _loaded(self) -> Tree:
        """The tree, which a store that is only read may load when it is asked for."""
        self._check_open()
        if self._evidence is not None:
            return self._evidence.tree
        with self._loading:
            if self._tree is None:
                with closing(self._snapshot()) as snapshot:
                    self._tree = load(snapshot.rows, snapshot.position)
            return self._tree

    def _number(self, game_id: str) -> int | None:
        """A game's number."""
        live = self._live.get(game_id)
        return self._finder.numbers([game_id]).get(game_id) if live is None else live.number

    def _snapshot(self) -> Snapshot:
        with self._opening:
            self._check_open()
            known = self._counters.position
            snapshot = Snapshot(self._root.cursor(), known=known, translate=self._meaning)
            self._snapshots.add(snapshot)
        return snapshot

    def _check_writable(self) -> None:
        self._check_open()
        if self._is_read_only:
            raise Unavailable(Code.WRITE_FAILED, path=str(self.path), problem="opened for reading only")

    def _check_open(self) -> None:
        if self._is_closed:
            raise Unavailable(Code.DRAINING)
        if self._is_broken:
            raise Unavailable(Code.SOURCE_UNREADABLE, path=str(self.path), problem="it must be opened anew")

    def _meaning(self, error: duckdb.Error) -> HeptalogError:
        if self._is_closed:
            return Unavailable(Code.DRAINING)
        if is_fatal(error):
            self._is_broken = True
        return meaning(error, self.path, is_open=True)
